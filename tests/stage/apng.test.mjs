import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, inflateSync } from "node:zlib";

import { durations, turningSteps } from "../../ui/stage/js/animation.js";
import { encodeApng } from "../../ui/stage/js/apng.js";
import { readPayload } from "../../ui/stage/js/model.js";
import { ALL, payloadBytes } from "./payloads.mjs";

const WIDTH = 5;
const HEIGHT = 3;

/** A frame of one colour, but for some pixels. */
function frame(colour, pixels = {}, milliseconds = 100) {
  const data = new Uint8ClampedArray(4 * WIDTH * HEIGHT);
  for (let i = 0; i < WIDTH * HEIGHT; i++) data.set([...(pixels[i] ?? colour), 255], 4 * i);
  return { pixels: data, milliseconds };
}

/** The chunks of a PNG file, each with a sum that is right. */
function chunksOf(file) {
  const view = new DataView(file.buffer);
  const chunks = [];
  for (let at = 8; at < file.length;) {
    const length = view.getUint32(at);
    const body = file.subarray(at + 4, at + 8 + length);
    assert.equal(view.getUint32(at + 8 + length), crc32?.(body) ?? view.getUint32(at + 8 + length));
    chunks.push({ name: String.fromCharCode(...body.subarray(0, 4)), data: body.subarray(4) });
    at += 12 + length;
  }
  return chunks;
}

/** Plays the file as a viewer does: what is seen after each frame, and for how long. */
function played(file) {
  const canvas = new Uint8Array(4 * WIDTH * HEIGHT);
  const shown = [];
  let control = null;
  for (const { name, data } of chunksOf(file)) {
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    if (name === "fcTL") {
      const [width, height, x, y] = [4, 8, 12, 16].map((at) => view.getUint32(at));
      control = { width, height, x, y, ms: (1000 * view.getUint16(20)) / view.getUint16(22), isOver: data[25] === 1 };
    } else if (name === "IDAT" || name === "fdAT") {
      paint(canvas, control, inflateSync(data.subarray(name === "fdAT" ? 4 : 0)));
      shown.push({ pixels: canvas.slice(), ms: control.ms, area: control });
    }
  }
  return shown;
}

function paint(canvas, { width, height, x, y, isOver }, rows) {
  const stride = 4 * width;
  const pixels = new Uint8Array(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = rows[row * (stride + 1)];
    assert.ok(filter === 0 || filter === 2);
    for (let i = 0; i < stride; i++) {
      const above = filter === 2 && row ? pixels[(row - 1) * stride + i] : 0;
      pixels[row * stride + i] = rows[row * (stride + 1) + 1 + i] + above;
    }
  }
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const pixel = pixels.subarray(row * stride + 4 * column, row * stride + 4 * column + 4);
      if (isOver && pixel[3] === 0) continue;
      canvas.set(pixel, 4 * ((y + row) * WIDTH + x + column));
    }
  }
}

const GREY = [200, 200, 200];
const RED = [255, 0, 0];

test("a viewer sees the frames that went in, for as long", async () => {
  const frames = [
    frame(GREY, {}, 1000),
    frame(GREY, { 6: RED, 13: RED }, 120),
    frame(GREY, { 6: RED, 13: RED }, 130), // nothing changes
    frame(RED, { 0: GREY }, 3000),
  ];
  const shown = played(await encodeApng(WIDTH, HEIGHT, frames));
  assert.equal(shown.length, frames.length);
  shown.forEach(({ pixels, ms }, i) => {
    assert.deepEqual(Array.from(pixels), Array.from(frames[i].pixels), `frame ${i}`);
    assert.equal(ms, frames[i].milliseconds);
  });
  const sizes = shown.map(({ area }) => [area.x, area.y, area.width, area.height]);
  assert.deepEqual(sizes[1], [1, 1, 3, 2]);
  assert.deepEqual(sizes[2], [0, 0, 1, 1]);
});

test("chunks come in the order that the specification asks for, numbered without a gap", async () => {
  const chunks = chunksOf(await encodeApng(WIDTH, HEIGHT, [frame(GREY), frame(RED), frame(GREY)]));
  const names = chunks.map(({ name }) => name);
  assert.deepEqual(names, ["IHDR", "acTL", "fcTL", "IDAT", "fcTL", "fdAT", "fcTL", "fdAT", "IEND"]);
  const numbered = chunks.filter(({ name }) => name === "fcTL" || name === "fdAT");
  const numbers = numbered.map(({ data }) => new DataView(data.buffer, data.byteOffset).getUint32(0));
  assert.deepEqual(numbers, [0, 1, 2, 3, 4]);
});

test("frames are read, not flashed: the ends stay, and all together take no minute", () => {
  for (const numFrames of [1, 2, 10, 40, 300]) {
    const times = durations(numFrames);
    assert.equal(times.length, numFrames);
    assert.equal(times.at(-1), 3000);
    if (numFrames > 1) assert.equal(times[0], 1000);
    for (const time of times.slice(1, -1)) assert.ok(time >= 120 && time <= 700);
    assert.ok(times.reduce((sum, time) => sum + time) < 60_000);
  }
});

for (const name of ALL) {
  test(`a frame for every state of the text: ${name}`, () => {
    const model = readPayload(payloadBytes(name)).views[0];
    const steps = turningSteps(model);
    assert.equal(steps[0], 0);
    const counts = steps.map((step) => model.numTokens(step));
    counts.slice(1).forEach((count, i) => assert.ok(count < counts[i], `step ${steps[i + 1]}`));
    steps.slice(1).forEach((step, i) => assert.equal(model.numTokens(step - 1), counts[i], `before step ${step}`));
    assert.equal(counts.at(-1), model.numTokens(model.numMerges));
  });
}
