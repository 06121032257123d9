import assert from "node:assert/strict";
import { test } from "node:test";

import { readPayload } from "../../ui/stage/js/model.js";
import { describeToken } from "../../ui/stage/js/panel.js";
import { payloadBytes } from "./payloads.mjs";

function describe(name, text, step, view = 0) {
  const payload = readPayload(payloadBytes(name));
  const model = payload.views[view];
  const at = model.units.indexOf(model.text.indexOf(text));
  const token = [model.start(at, step), model.end(at, step)];
  return Object.fromEntries(describeToken(payload, model, token, step));
}

test("a base symbol is described by its byte", () => {
  const rows = describe("bytes", "low", 0);
  assert.equal(rows["Token id"], "108");
  assert.equal(rows.Bytes, "6c (1 byte, from byte 0)");
  assert.equal(rows.Characters, "U+006C LATIN SMALL LETTER L");
  assert.equal(rows["Made by"], "base symbol: there before the first merge");
});

test("part of a character names the character", () => {
  const rows = describe("bytes", "字", 0);
  assert.equal(rows.Token, "⟨e5⟩");
  assert.equal(rows.Characters, "part of 字 U+5B57 CJK UNIFIED IDEOGRAPH-5B57");
});

test("a merged token names its parents, its rank and its count", () => {
  const payload = readPayload(payloadBytes("bytes"));
  const rows = describe("bytes", "lower", payload.merges.numMerges);
  assert.match(rows["Made by"], /^merge rank \d+: .+ \+ .+, pair count \d+ in training$/);
  assert.match(rows["In this text"], /^\d+ places? now, made \d+ times? in all$/);
});

test("a real tokenizer has no training counts", () => {
  const rows = describe("gpt2", "lower", 50_000);
  assert.match(rows["Made by"], /^merge rank [\d,]+: .+ \+ .+$/);
  assert.doesNotMatch(rows["Made by"], /count/);
  assert.match(rows["Token id"], /^\d+$/);
});

test("a token that is named otherwise than the text reads shows both", () => {
  const rows = describe("no-merges", "ing", 0);
  assert.equal(rows.Token, "\u2068“ing”\u2069, named \u2068“##ing”\u2069");
  assert.match(rows["Made by"], /no merges/);
});

test("an unknown token says so and nothing that is not known", () => {
  const rows = describe("no-merges", "unseen", 0);
  assert.match(rows["Token id"], /^unknown/);
  assert.ok(!("In this text" in rows));
});
