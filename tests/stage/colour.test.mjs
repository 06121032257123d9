import assert from "node:assert/strict";
import { test } from "node:test";

import { Colourer, hueOfBytes, hueOfId, hueOfToken, NUM_COLOURS, NUM_HUES } from "../../ui/stage/js/colour.js";
import { readPayload } from "../../ui/stage/js/model.js";
import { ALL, payloadBytes, walkStarts } from "./payloads.mjs";

function stepsOf(model) {
  if (model.numMerges > 1000) return [0, 300, 5000, model.numMerges];
  return Array.from({ length: model.numMerges + 1 }, (_, step) => step);
}

function colours(model, step) {
  const colourer = new Colourer(model, step);
  const starts = walkStarts(model, step);
  return starts.slice(0, -1).map((start, i) => colourer.colour(start, starts[i + 1]));
}

for (const name of ALL) {
  test(`neighbours never share a colour: ${name}`, () => {
    const model = readPayload(payloadBytes(name)).views[0];
    for (const step of stepsOf(model)) {
      const drawn = colours(model, step);
      drawn.forEach((colour, i) => {
        assert.ok(colour >= 0 && colour < NUM_COLOURS);
        if (i > 0) assert.notEqual(colour, drawn[i - 1], `step ${step}, token ${i}`);
      });
    }
  });

  test(`a token keeps its hue at every step, and it is the hue of its name: ${name}`, () => {
    const { views, vocabulary } = readPayload(payloadBytes(name));
    const model = views[0];
    const hues = new Map();
    for (const step of stepsOf(model)) {
      const starts = walkStarts(model, step);
      colours(model, step).forEach((colour, i) => {
        const id = model.idOf(starts[i], starts[i + 1], step);
        if (id < 0) return;
        const hue = Math.floor(colour / 2);
        assert.equal(hues.get(id) ?? hue, hue, `step ${step}, id ${id}`);
        hues.set(id, hue);
        assert.equal(hueOfId(vocabulary, id), hue, `id ${id}`);
      });
    }
  });
}

test("colours do not depend on where drawing starts", () => {
  const model = readPayload(payloadBytes("no-split")).views[0];
  for (const step of [0, 5, 20]) {
    const starts = walkStarts(model, step);
    const all = colours(model, step);
    for (let first = 0; first < all.length; first += 3) {
      const colourer = new Colourer(model, step);
      for (let i = first; i < all.length; i++) {
        assert.equal(colourer.colour(starts[i], starts[i + 1]), all[i]);
      }
    }
  }
});

test("equal neighbours alternate between the shades of one hue", () => {
  const model = readPayload(payloadBytes("bytes")).views[0];
  const at = model.text.indexOf("aaaaaaa");
  const from = model.units.indexOf(at);
  const colourer = new Colourer(model, 0);
  const drawn = [0, 1, 2, 3].map((i) => colourer.colour(from + i, from + i + 1));
  assert.equal(new Set(drawn.map((colour) => Math.floor(colour / 2))).size, 1);
  assert.equal(new Set(drawn).size, 2);
});

test("asking for the same token twice gives the same colour", () => {
  const model = readPayload(payloadBytes("bytes")).views[0];
  const colourer = new Colourer(model, 0);
  assert.equal(colourer.colour(0, 1), colourer.colour(0, 1));
});

test("without merges the hue is that of the name, not of the text", () => {
  const { views, vocabulary } = readPayload(payloadBytes("no-merges"));
  assert.equal(hueOfToken(views[0], 11, 14), hueOfId(vocabulary, 9));
  assert.equal(hueOfToken(views[0], 7, 11), hueOfBytes(new TextEncoder().encode("play"), 0, 4));
});

test("all hues are used, none much more than the others", () => {
  const counts = new Array(NUM_HUES).fill(0);
  for (let a = 32; a < 127; a++) {
    for (let b = 97; b < 123; b++) counts[hueOfBytes([a, b], 0, 2)]++;
  }
  const mean = (95 * 26) / NUM_HUES;
  for (const count of counts) assert.ok(Math.abs(count - mean) < 0.2 * mean, `${counts}`);
});
