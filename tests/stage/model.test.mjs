import assert from "node:assert/strict";
import { test } from "node:test";

import { lowerBound, readHead, readPayload, TextModel, UNKNOWN, unitOffsets } from "../../ui/stage/js/model.js";
import { ALL, expected, hexOf, payloadBytes, plainModel, TRAINED, walkStarts } from "./payloads.mjs";

for (const name of ALL) {
  test(`tokens at every step are those of Python: ${name}`, () => {
    const { views } = readPayload(payloadBytes(name));
    for (const [step, starts] of Object.entries(expected(name).starts)) {
      assert.deepEqual(walkStarts(views[0], Number(step)), starts, `step ${step}`);
    }
  });

  test(`token ids are those of Python, or unknown: ${name}`, () => {
    const { views } = readPayload(payloadBytes(name));
    for (const [step, ids] of Object.entries(expected(name).ids)) {
      const starts = walkStarts(views[0], Number(step));
      const got = starts.slice(0, -1).map((start, i) => views[0].idOf(start, starts[i + 1], Number(step)));
      assert.deepEqual(got, ids, `step ${step}`);
    }
  });

  test(`names of tokens are those of Python: ${name}`, () => {
    const { vocabulary } = readPayload(payloadBytes(name));
    for (const [id, hex] of Object.entries(expected(name).names)) {
      assert.equal(hexOf(vocabulary.nameBytes(Number(id))), hex, `id ${id}`);
      assert.equal(vocabulary.nameLength(Number(id)), hex.length / 2);
    }
  });
}

for (const name of [...TRAINED, "empty"]) {
  test(`token counts are those of Python: ${name}`, () => {
    const { views } = readPayload(payloadBytes(name));
    const counts = expected(name).num_tokens;
    assert.deepEqual(
      counts.map((_, step) => views[0].numTokens(step)),
      counts,
    );
  });
}

for (const name of TRAINED) {
  test(`start and end agree with a plain search for cuts: ${name}`, () => {
    const model = readPayload(payloadBytes(name)).views[0];
    for (const step of [0, 1, 7, model.numMerges]) {
      for (let at = 0; at < model.numBytes; at++) {
        let start = at;
        let end = at + 1;
        while (start > 0 && model.lifetimes[start - 1] < step) start--;
        while (end < model.numBytes && model.lifetimes[end - 1] < step) end++;
        assert.equal(model.start(at, step), start);
        assert.equal(model.end(at, step), end);
      }
    }
  });

  test(`places of a merge are the boundaries with its rank, in text order: ${name}`, () => {
    const model = readPayload(payloadBytes(name)).views[0];
    for (let rank = 0; rank < model.numMerges; rank++) {
      const wanted = [];
      model.lifetimes.forEach((life, i) => life === rank && wanted.push(i));
      assert.deepEqual([...model.places(rank)], wanted);
      assert.equal(model.numPlaces(rank), wanted.length);
    }
  });

  test(`equal tokens are counted as Python's ids count them: ${name}`, () => {
    const model = readPayload(payloadBytes(name)).views[0];
    for (const step of [0, 3, model.numMerges - 1, model.numMerges]) {
      const ids = expected(name).ids[step];
      const starts = walkStarts(model, step);
      ids.forEach((id, i) => {
        const count = ids.filter((other) => other === id).length;
        assert.equal(model.numAlike(starts[i], starts[i + 1], step), count, `step ${step}, id ${id}`);
      });
    }
  });
}

test("a character that training never saw has no id, at any step", () => {
  for (const name of ["chars", "separate", "attached"]) {
    const { views } = readPayload(payloadBytes(name));
    const own = views[1];
    const at = own.text.indexOf("q");
    for (let step = 0; step <= own.numMerges; step++) {
      const start = own.start(at, step);
      assert.equal(own.idOf(start, own.end(at, step), step), UNKNOWN, `${name}, step ${step}`);
    }
  }
});

test("the name of a token ends before the white space after an end mark", () => {
  const model = readPayload(payloadBytes("attached")).views[0];
  const at = model.text.indexOf("</w> ");
  const end = at + "</w> ".length;
  assert.equal(model.end(at, 0), end);
  assert.equal(model.nameEnd(model.start(at, 0), end), end - 1);
});

test("the sentence has a title and tokens of its own", () => {
  const { head, views } = readPayload(payloadBytes("bytes"));
  assert.equal(head.views[1].title, "own");
  assert.equal(views[1].text, "lowest slow q");
  assert.equal(views[1].numTokens(0), 13);
});

test("steps go from one listed merge to the next", () => {
  const { merges } = readPayload(payloadBytes("gpt2"));
  assert.equal(merges.numMerges, 50_000);
  assert.ok(merges.numRows < 200);
  const visited = [];
  for (let step = 0; step < merges.numMerges;) visited.push((step = merges.neighbourStep(step, 1)));
  const wanted = [...merges.rank].map((rank) => rank + 1);
  if (wanted.at(-1) !== merges.numMerges) wanted.push(merges.numMerges);
  assert.deepEqual(visited, wanted);
  const back = [];
  for (let step = merges.numMerges; step > 0;) back.push((step = merges.neighbourStep(step, -1)));
  assert.deepEqual(
    back,
    [...merges.rank]
      .map((rank) => rank + 1)
      .reverse()
      .concat(0),
  );
});

test("from between two listed merges the steps are the nearest ones", () => {
  const { merges } = readPayload(payloadBytes("gpt2"));
  const gap = merges.rank.findIndex((rank, i) => merges.rank[i + 1] > rank + 3);
  const between = merges.rank[gap] + 3;
  assert.equal(merges.neighbourStep(between, 1), merges.rank[gap + 1] + 1);
  assert.equal(merges.neighbourStep(between, -1), merges.rank[gap] + 1);
  assert.equal(merges.rowOfStep(between), -1);
  assert.equal(merges.numRowsDone(between), gap + 1);
});

test("tokens of a trained tokenizer step by one", () => {
  const { merges } = readPayload(payloadBytes("bytes"));
  assert.equal(merges.neighbourStep(0, 1), 1);
  assert.equal(merges.neighbourStep(1, -1), 0);
  assert.equal(merges.neighbourStep(merges.numMerges, 1), merges.numMerges);
  assert.equal(merges.neighbourStep(0, -1), 0);
});

test("a payload may start anywhere in its buffer", () => {
  const payload = payloadBytes("bytes");
  const shifted = new Uint8Array(payload.length + 3);
  shifted.set(payload, 3);
  const view = readPayload(shifted.subarray(3)).views[0];
  assert.equal(view.text, readPayload(payload).views[0].text);
  assert.deepEqual(readHead(shifted.subarray(3)), readHead(payload));
});

test("names of code points come from the payload or from the number", () => {
  const { codePointName } = readPayload(payloadBytes("bytes"));
  assert.equal(codePointName("é".codePointAt(0)), ""); // written as e and an accent
  assert.equal(codePointName(0x0301), "COMBINING ACUTE ACCENT");
  assert.equal(codePointName(0x5b57), "CJK UNIFIED IDEOGRAPH-5B57");
  assert.equal(codePointName("한".codePointAt(0)), "HANGUL SYLLABLE HAN");
  assert.equal(codePointName("가".codePointAt(0)), "HANGUL SYLLABLE GA");
  assert.equal(codePointName("힣".codePointAt(0)), "HANGUL SYLLABLE HIH");
  assert.equal(codePointName(0x0a), "LINE FEED");
});

test("byte offsets become UTF-16 offsets, surrogate pairs included", () => {
  const text = "aé字👩b";
  const bytes = new TextEncoder().encode(text);
  assert.deepEqual([...unitOffsets(bytes)], [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 5, 6]);
  const model = plainModel(TextModel, text);
  assert.equal(model.text.slice(model.units[3], model.units[6]), "字");
});

test("a byte order mark inside or at the start is kept", () => {
  for (const text of ["\ufeffa", "a\ufeffb"]) assert.equal(plainModel(TextModel, text).text, text);
});

test("lowerBound finds the first value that is not smaller", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 9].map((wanted) => lowerBound([1, 2, 2, 5], wanted)),
    [0, 0, 1, 3, 4],
  );
  assert.equal(lowerBound([], 1), 0);
});
