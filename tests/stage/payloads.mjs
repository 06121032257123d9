// Payloads that tests/test_stage_js.py wrote, with what Python says of them.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env.PAYLOADS;
if (!folder) throw new Error("run these tests through pytest tests/test_stage_js.py: it makes the payloads");

export const TRAINED = ["bytes", "no-split", "chars", "separate", "attached"];
export const ALL = [...TRAINED, "gpt2", "no-merges", "rank-table", "empty"];

export function payloadBytes(name) {
  return new Uint8Array(readFileSync(join(folder, `${name}.bin`)));
}

export function expected(name) {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
}

/** Token starts, and the end, one token after the other as the stage walks them. */
export function walkStarts(model, step) {
  const starts = [0];
  for (let at = 0; at < model.numBytes;) {
    at = model.end(at, step);
    starts.push(at);
  }
  return starts;
}

export function hexOf(bytes) {
  return Buffer.from(bytes).toString("hex");
}

/** A model with nothing but a text: every byte a token, as if nothing had ever been merged. */
export function plainModel(TextModel, text, isWall = () => false) {
  const bytes = new TextEncoder().encode(text);
  const lifetimes = new Int16Array(Math.max(0, bytes.length - 1));
  for (let i = 0; i < lifetimes.length; i++) lifetimes[i] = isWall(bytes[i]) ? 32766 : 32767;
  const merges = { numMerges: 0 };
  const vocabulary = { nameLength: () => 0, nameBytes: () => null, baseIdOf: () => -1 };
  return new TextModel({ title: "", bytes, lifetimes, finalIds: new Int32Array() }, merges, vocabulary);
}
