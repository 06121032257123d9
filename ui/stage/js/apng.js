// An animated PNG from frames of pixels. After the first, a frame holds the smallest rectangle with all differences, and
// in it what has not changed is transparent: zeros, which pack well (112 frames of a paragraph: 1.7 MB, without 9.1).
// The browser brings the compression (`deflate` is zlib's format, as PNG wants it). No DOM here.
// Source: Portable Network Graphics (PNG) Specification (Third Edition), W3C.

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const RGBA = 6;
const KEEP = 0; // what is there stays when the next frame comes
const REPLACE = 0; // blend: the frame as it is
const OVER = 1; // blend: transparent pixels leave what is there
const NO_FILTER = 0;
const FILTER_UP = 2; // rows as differences from the row above: most pixels of a box are those above them

/**
 * @param {number} width
 * @param {number} height
 * @param {{pixels: Uint8ClampedArray, milliseconds: number}[]} frames RGBA, opaque, all of the same size
 * @returns {Promise<Uint8Array>} the file; it repeats for ever
 */
export async function encodeApng(width, height, frames) {
  const writer = new ApngWriter(width, height);
  for (const { pixels, milliseconds } of frames) await writer.add(pixels, milliseconds);
  return writer.finish();
}

/** Takes frames one by one, so that their pixels need not be there together. */
export class ApngWriter {
  #parts = [];
  #numFrames = 0;
  #numChunks = 0; // of those that carry a sequence number
  #last = null;

  constructor(width, height) {
    this.width = width;
    this.height = height;
  }

  async add(pixels, milliseconds) {
    const area = changedArea(this.#last, pixels, this.width, this.height);
    const rows = this.#last ? changedRows(this.#last, pixels, this.width, area) : wholeRows(pixels, this.width);
    const data = await deflate(rows);
    const control = bytesOf([4, this.#numChunks++], [4, area.width], [4, area.height], [4, area.x], [4, area.y]);
    const blend = this.#last ? OVER : REPLACE;
    const manner = bytesOf([2, Math.round(milliseconds)], [2, 1000], [1, KEEP], [1, blend]);
    this.#parts.push(chunk("fcTL", control, manner));
    if (this.#last) this.#parts.push(chunk("fdAT", bytesOf([4, this.#numChunks++]), data));
    else this.#parts.push(chunk("IDAT", data));
    this.#last = pixels;
    this.#numFrames++;
  }

  finish() {
    const header = bytesOf([4, this.width], [4, this.height], [1, 8], [1, RGBA], [1, 0], [1, 0], [1, 0]);
    const animation = bytesOf([4, this.#numFrames], [4, 0]); // 0: for ever
    const first = [Uint8Array.from(SIGNATURE), chunk("IHDR", header), chunk("acTL", animation)];
    return joined(...first, ...this.#parts, chunk("IEND"));
  }
}

/** The smallest rectangle that holds every difference; one pixel where there is none, for a frame must have an area. */
function changedArea(before, after, width, height) {
  if (!before) return { x: 0, y: 0, width, height };
  const old = new Uint32Array(before.buffer, before.byteOffset, width * height);
  const now = new Uint32Array(after.buffer, after.byteOffset, width * height);
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let y = 0; y < height; y++) {
    const row = y * width;
    let x = 0;
    while (x < width && old[row + x] === now[row + x]) x++;
    if (x === width) continue;
    let end = width - 1;
    while (old[row + end] === now[row + end]) end--;
    left = Math.min(left, x);
    right = Math.max(right, end);
    top = Math.min(top, y);
    bottom = y;
  }
  if (bottom < 0) return { x: 0, y: 0, width: 1, height: 1 };
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

function wholeRows(pixels, width) {
  const stride = 4 * width;
  const height = pixels.length / stride;
  const rows = new Uint8Array((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    const to = y * (stride + 1);
    rows[to] = FILTER_UP;
    for (let i = 0; i < stride; i++) {
      const at = y * stride + i;
      rows[to + 1 + i] = pixels[at] - (y ? pixels[at - stride] : 0);
    }
  }
  return rows;
}

function changedRows(before, after, width, area) {
  const old = new Uint32Array(before.buffer, before.byteOffset, before.length / 4);
  const now = new Uint32Array(after.buffer, after.byteOffset, after.length / 4);
  const stride = 4 * area.width;
  const rows = new Uint8Array((stride + 1) * area.height);
  for (let y = 0; y < area.height; y++) {
    const to = y * (stride + 1);
    rows[to] = NO_FILTER;
    for (let x = 0; x < area.width; x++) {
      const at = (area.y + y) * width + area.x + x;
      if (old[at] !== now[at]) rows.set(after.subarray(4 * at, 4 * at + 4), to + 1 + 4 * x);
    }
  }
  return rows;
}

async function deflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers as big-endian bytes: `[size, value]` each. */
function bytesOf(...fields) {
  const bytes = [];
  for (const [size, value] of fields) {
    for (let shift = 8 * (size - 1); shift >= 0; shift -= 8) bytes.push((value >>> shift) & 0xff);
  }
  return Uint8Array.from(bytes);
}

function chunk(name, ...data) {
  const body = joined(new TextEncoder().encode(name), ...data);
  return joined(bytesOf([4, body.length - 4]), body, bytesOf([4, crc32(body)]));
}

function joined(...arrays) {
  const whole = new Uint8Array(arrays.reduce((length, array) => length + array.length, 0));
  let at = 0;
  for (const array of arrays) {
    whole.set(array, at);
    at += array.length;
  }
  return whole;
}

const crcOfByte = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});

function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = crcOfByte[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
