import assert from "node:assert/strict";
import { test } from "node:test";

import { TextModel } from "../../ui/stage/js/model.js";
import {
  displayText,
  firstStrongDirection,
  formatNumber,
  graphemeEnds,
  planBlocks,
  plural,
  quotedName,
  spoken,
  visibleName,
  widenedParts,
} from "../../ui/stage/js/text.js";
import { plainModel } from "./payloads.mjs";

const encode = (text) => new TextEncoder().encode(text);
const isSpace = (byte) => byte === 32;

const TEXTS = {
  empty: "",
  short: "one line",
  lines: "a line of text\n".repeat(2000),
  "long line": "many words in one line ".repeat(4000),
  "long lines between short ones": `short\n${"x y ".repeat(5000)}\nשורה\n${"א ב ".repeat(4000)}\nend`,
  unspaced: "人人生而自由".repeat(3000),
  "combining marks": "e\u0301".repeat(6000),
  "emoji families": "👨‍👩‍👧‍👦".repeat(1200),
  "carriage returns": "line\r\n".repeat(3000),
  newlines: "\n".repeat(9000),
};

for (const [name, text] of Object.entries(TEXTS)) {
  test(`blocks and chunks tile the text, and none is large: ${name}`, () => {
    const model = plainModel(TextModel, text, isSpace);
    let at = 0;
    for (const { chunks } of planBlocks(model)) {
      const start = chunks[0].start;
      for (const chunk of chunks) {
        assert.equal(chunk.start, at);
        assert.ok(chunk.end > chunk.start && chunk.end - chunk.start <= 600, `${chunk.start} to ${chunk.end}`);
        at = chunk.end;
      }
      assert.ok(at - start <= 9500, `a block of ${at - start} bytes`);
    }
    assert.equal(at, model.numBytes);
  });

  test(`chunks end with whole characters: ${name}`, () => {
    const model = plainModel(TextModel, text, isSpace);
    const parts = planBlocks(model).flatMap(({ chunks }) =>
      chunks.map(({ start, end }) => new TextDecoder("utf-8", { fatal: true }).decode(model.bytes.slice(start, end))),
    );
    assert.equal(parts.join(""), text);
  });

  test(`blocks end with a line, except inside a long one: ${name}`, () => {
    const model = plainModel(TextModel, text, isSpace);
    const blocks = planBlocks(model);
    for (const { chunks, isCut } of blocks) {
      const end = chunks.at(-1).end;
      assert.equal(isCut, end < model.numBytes && model.bytes[end - 1] !== 10);
    }
  });
}

test("a cut keeps a letter with its accents, a family together, and a line end whole", () => {
  for (const name of ["combining marks", "emoji families", "carriage returns"]) {
    const model = plainModel(TextModel, TEXTS[name]);
    for (const { chunks } of planBlocks(model)) {
      for (const { end } of chunks) {
        if (end === model.numBytes) continue;
        const unit = model.units[end];
        const next = String.fromCodePoint(model.text.codePointAt(unit));
        assert.ok(!/^[\p{M}\u200d\n]/u.test(next) || (next === "\n" && model.text[unit - 1] === "\n"), name);
        assert.notEqual(model.text[unit - 1], "\u200d");
      }
    }
  }
});

test("a line that is cut carries its direction, and has its blocks to itself", () => {
  const model = plainModel(TextModel, TEXTS["long lines between short ones"], isSpace);
  const directions = planBlocks(model).map(({ chunks, direction }) => {
    const [from, to] = [chunks[0].start, chunks.at(-1).end];
    return [direction, model.text.slice(model.units[from], model.units[to]).trim().slice(0, 5)];
  });
  assert.deepEqual(directions[0], ["", "short"]);
  assert.deepEqual(directions.at(-1), ["", "end"]);
  assert.ok(directions.some(([direction, text]) => direction === "ltr" && text.startsWith("x y")));
  assert.ok(directions.some(([direction, text]) => direction === "rtl" && /^[אב]/.test(text)));
  assert.ok(directions.some(([direction, text]) => direction === "" && text === "שורה"));
});

test("what is shown has the length of the source, and no control", () => {
  const source = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join("") + "👩\r\r\n";
  const shown = displayText(source);
  assert.equal(shown.length, source.length);
  assert.ok(!/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/.test(shown));
  assert.equal(displayText("a\tb\nc\r\nd\re"), "a\tb\nc\r\nd␍e");
  assert.equal(displayText("\0\x1b\x7f\x85\u202e"), "␀␛␡▫▫");
});

test("names show what cannot be seen", () => {
  assert.equal(visibleName(encode(" the")), "·the");
  assert.equal(visibleName(encode("\n\t")), "↵→");
  assert.equal(visibleName(encode("\u200d")), "⟨ZWJ⟩");
  assert.equal(visibleName(encode("\u0301")), "◌\u0301");
  assert.equal(visibleName(encode("\ufe0f")), "⟨U+FE0F⟩");
  assert.equal(visibleName(encode("\u202e")), "⟨RLO⟩");
  assert.equal(visibleName(encode("\0")), "␀");
  assert.equal(visibleName(new Uint8Array([0xf0, 0x9f])), "⟨f0 9f⟩");
  assert.equal(visibleName(new Uint8Array([0xf0, 0x9f]), ""), "⟨f09f⟩");
  assert.equal(visibleName(null), "unknown");
});

test("names in a sentence are quoted and isolated, and spoken without", () => {
  assert.equal(quotedName(encode("ab")), "\u2068“ab”\u2069");
  assert.equal(quotedName(new Uint8Array([0x80])), "⟨80⟩");
  assert.equal(spoken(quotedName(encode("ab"))), "“ab”");
});

test("names are cut between characters, however long the token", () => {
  assert.equal(visibleName(encode("ab ".repeat(300_000))), "ab·".repeat(21) + "a…");
  assert.equal(visibleName(encode("👩".repeat(100))), "👩".repeat(64) + "…");
  assert.equal(visibleName(encode("👩".repeat(64))), "👩".repeat(64));
  assert.equal(visibleName(new Uint8Array(1000).fill(0x80)), `⟨${"80 ".repeat(24).trim()}…⟩`);
});

test("graphemes of ASCII are its characters, but a line end is one", () => {
  assert.deepEqual(graphemeEnds("ab\r\n\rc"), [1, 2, 4, 5, 6]);
  assert.deepEqual(graphemeEnds("e\u0301👨‍👩‍👧‍👦x"), [2, 13, 14]);
});

test("room for hex is made for clusters of several bytes, never inside joined letters", () => {
  const parts = widenedParts("aé字 سلام👩", 5);
  assert.equal(parts.map(({ text }) => text).join(""), "aé字 سلام👩");
  let unit = 0;
  for (const part of parts) {
    assert.equal(part.unit, unit);
    unit += part.text.length;
  }
  const widened = parts.filter(({ extra }) => extra > 0).map(({ text }) => text);
  assert.deepEqual(widened, ["é", "字", "👩"]);
});

test("the direction of a line is that of its first letter", () => {
  assert.equal(firstStrongDirection("123 (abc"), "ltr");
  assert.equal(firstStrongDirection("12. שלום abc"), "rtl");
  assert.equal(firstStrongDirection("..."), "ltr");
});

test("numbers have separators, nouns their number", () => {
  assert.equal(formatNumber(1234567), "1,234,567");
  assert.equal(plural(1, "token"), "1 token");
  assert.equal(plural(2000, "token"), "2,000 tokens");
});
