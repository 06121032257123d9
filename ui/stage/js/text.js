// How a text is shown: stand-ins for characters that would do harm, marks for those without ink, names of tokens,
// and how a text is laid out in blocks and chunks. No DOM here; view.js makes the nodes.

import { codePointLabel } from "./names.js";
import { decodeStrict } from "./model.js";

// A block is laid out by the browser as a whole and skipped as a whole while off screen; a chunk is one text node,
// measured as a whole. A line longer than LONG_LINE is cut into blocks: one block of 1 MB took over 90 s to lay out.
const BLOCK_BYTES = 4096;
const CHUNK_BYTES = 512;
const LONG_LINE_BYTES = 8192;
const MOST_EXTRA_BYTES = 64; // a chunk grows by at most so much, to end with a whole cluster

const RTL_LETTER = /^(?:[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|\ud802|\ud803|\ud83a)/;
const JOINING_LETTER = /[\u0600-\u08ff\u1800-\u18af\ufb50-\ufdff\ufe70-\ufefc]/;
const ONLY_ASCII = /^[\0-\x7f]*$/;
const WIDE_GLYPH = /[\u1100-\u11ff\u2e80-\uffef]|[\ud800-\udfff]/;

/** What a mark is called, for characters that have no ink (UTF-16 unit -> short name). */
export const MARKS = new Map([
  [0x09, "→"],
  [0x0a, "↵"],
  [0x0d, "␍"],
  [0x20, "·"],
  [0xa0, "⍽"],
  [0xad, "SHY"],
  [0x61c, "ALM"],
  [0x200b, "ZWSP"],
  [0x200c, "ZWNJ"],
  [0x200d, "ZWJ"],
  [0x200e, "LRM"],
  [0x200f, "RLM"],
  [0x2028, "LS"],
  [0x2029, "PS"],
  [0x202a, "LRE"],
  [0x202b, "RLE"],
  [0x202c, "PDF"],
  [0x202d, "LRO"],
  [0x202e, "RLO"],
  [0x2060, "WJ"],
  [0x2066, "LRI"],
  [0x2067, "RLI"],
  [0x2068, "FSI"],
  [0x2069, "PDI"],
  [0x3000, "□"],
  [0xfeff, "BOM"],
]);

// Names are cut for tables and sentences: a token can be a megabyte of spaces.
const MOST_NAME_CHARS = 64;
const MOST_NAME_BYTES = 24;

const numberFormat = new Intl.NumberFormat("en"); // kept: toLocaleString builds one a call, 1.6 ms a step

/** @param {number} value @returns {string} such as "12,345" */
export function formatNumber(value) {
  return numberFormat.format(value);
}

/** @param {number} count @param {string} noun @returns {string} such as "1 token", "2 tokens" */
export function plural(count, noun) {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** @param {ArrayLike<number>} bytes @returns {string} such as "6f 72 74" */
export function hex(bytes, separator = " ") {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(separator);
}

/** Is this UTF-16 unit a control that reorders the text around it? */
export function isBidiControl(unit) {
  return (unit >= 0x202a && unit <= 0x202e) || (unit >= 0x2066 && unit <= 0x2069);
}

/**
 * The text as the page shows it: controls become pictures of the same UTF-16 length, so that offsets in the page
 * are offsets in the source, and nothing in the text can reorder or end it.
 */
export function displayText(source) {
  return source
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n)/g, (char) => String.fromCharCode(0x2400 + char.charCodeAt(0)))
    .replace(/\x7f/g, "␡")
    .replace(/[\x80-\x9f\u202a-\u202e\u2066-\u2069]/g, "▫");
}

/** A name with every character visible: for tables and sentences, not for the text itself. */
export function visibleText(text) {
  return text
    .replace(/[\ufe00-\ufe0f\u{e0001}-\u{e007f}]/gu, (char) => `⟨${codePointLabel(char.codePointAt(0))}⟩`)
    .replace(/[\0-\x1f\x20\x7f-\xa0\xad\u061c\u200b-\u200f\u2028-\u202e\u2060\u2066-\u2069\u3000\ufeff]/g, (char) => {
      const mark = MARKS.get(char.charCodeAt(0));
      if (mark) return mark.length > 1 ? `⟨${mark}⟩` : mark;
      return displayText(char);
    })
    .replace(/^\p{M}/u, "◌$&");
}

/** The name of a token from its bytes: its characters, or its bytes in hex if they are not whole characters. */
export function visibleName(bytes, separator = " ") {
  if (!bytes) return "unknown";
  const text = decodeStrict(bytes);
  if (text !== null) return visibleText(clipped(text));
  const more = bytes.length > MOST_NAME_BYTES ? "…" : "";
  return `⟨${hex(bytes.subarray(0, MOST_NAME_BYTES), separator)}${more}⟩`;
}

/** The name as part of a sentence: in quotes, and isolated, so that an Arabic token does not turn the sentence. */
export function quotedName(bytes) {
  const isText = bytes && bytes.length && decodeStrict(bytes) !== null;
  return isText ? `\u2068“${visibleName(bytes)}”\u2069` : visibleName(bytes);
}

function clipped(text) {
  const start = Array.from(text.slice(0, 2 * MOST_NAME_CHARS + 2));
  return start.length > MOST_NAME_CHARS ? start.slice(0, MOST_NAME_CHARS).join("") + "…" : text;
}

/** A sentence for a screen reader: without the isolating controls and quotes that are for the eye. */
export function spoken(sentence) {
  return sentence.replace(/[\u2068\u2069]/g, "");
}

export function startsRtl(text) {
  return RTL_LETTER.test(text);
}

export function startsStrong(text) {
  return /^[\p{L}\p{N}]/u.test(text);
}

/** Direction of a paragraph by its first letter. */
export function firstStrongDirection(text) {
  const letter = /\p{L}/u.exec(text);
  return letter && RTL_LETTER.test(letter[0]) ? "rtl" : "ltr";
}

/**
 * A text in blocks of chunks.
 *
 * A chunk ends after a line, else where no merge reaches, else with a whole cluster. A line that is cut into
 * several blocks has them to itself, and they carry its direction, because the browser cannot see it in a part.
 *
 * @returns {{chunks: {start: number, end: number}[], direction: string, isCut: boolean}[]} byte offsets
 */
export function planBlocks(model) {
  const { bytes, numBytes } = model;
  const blocks = [];
  let block = null;
  let size = 0;
  let direction = "";
  let lineEnd = -1;
  const close = (isCut) => {
    if (block) blocks.push({ chunks: block, direction, isCut });
    block = null;
    size = 0;
  };
  for (let start = 0; start < numBytes;) {
    if (start >= lineEnd) {
      if (direction) close(false);
      direction = "";
      lineEnd = endOfLine(bytes, start);
      if (lineEnd - start > LONG_LINE_BYTES) {
        close(false);
        const from = model.units[start];
        direction = firstStrongDirection(model.text.slice(from, from + 2000));
      }
    }
    const end = chunkEnd(model, start, lineEnd, direction !== "");
    block ??= [];
    block.push({ start, end });
    size += end - start;
    const endsLine = bytes[end - 1] === 10;
    if (endsLine) lineEnd = end;
    if (endsLine && size >= BLOCK_BYTES) close(false);
    else if (direction && !endsLine && size >= LONG_LINE_BYTES) close(end < numBytes);
    start = end;
  }
  close(false);
  return blocks;
}

function endOfLine(bytes, start) {
  const newline = bytes.indexOf(10, start);
  return newline < 0 ? bytes.length : newline + 1;
}

/**
 * Where the chunk from `start` ends, given the end of the line that `start` is in, and whether that line is cut.
 */
function chunkEnd(model, start, lineEnd, isCutLine) {
  const { bytes, lifetimes, numBytes, wall } = model;
  const target = start + CHUNK_BYTES;
  if (lineEnd <= target && isCutLine) return lineEnd;
  if (target >= numBytes) return numBytes;
  if (lineEnd <= target) return bytes.lastIndexOf(10, target - 1) + 1; // several short lines make one chunk
  for (let end = target; end > start + CHUNK_BYTES / 2; end--) {
    if (lifetimes[end - 1] >= wall && isClusterEnd(model, end)) return end;
  }
  const most = Math.min(numBytes, target + MOST_EXTRA_BYTES);
  let end = target;
  while (end < most && !isClusterEnd(model, end)) end++;
  while (end < numBytes && isInsideCharacter(bytes, end)) end++;
  return end;
}

function isInsideCharacter(bytes, at) {
  return (bytes[at] & 0xc0) === 0x80;
}

/** Does a cluster end at this byte offset, as far as one can tell without fonts? */
function isClusterEnd({ bytes, units, text, numBytes }, at) {
  if (at >= numBytes) return true;
  if (isInsideCharacter(bytes, at)) return false;
  const unit = units[at];
  const next = String.fromCodePoint(text.codePointAt(unit));
  if (/^[\p{M}\u200d\ufe0f\u{1f3fb}-\u{1f3ff}]/u.test(next)) return false;
  return text[unit - 1] !== "\u200d" && !(text[unit - 1] === "\r" && next === "\n");
}

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

/** @returns {number[]} UTF-16 offsets in `shown` where each grapheme ends */
export function graphemeEnds(shown) {
  const ends = [];
  if (ONLY_ASCII.test(shown)) {
    for (let i = 1; i <= shown.length; i++) if (shown[i - 1] !== "\r" || shown[i] !== "\n") ends.push(i);
  } else {
    for (const { index, segment } of segmenter.segment(shown)) ends.push(index + segment.length);
  }
  return ends;
}

/**
 * With bytes shown, clusters of several bytes get room for their hex (never letters that join their neighbours).
 * @returns {{unit: number, text: string, extra: number}[]} the parts of a chunk, `extra` pixels after the cluster
 */
export function widenedParts(shown, hexWidth) {
  if (ONLY_ASCII.test(shown)) return [{ unit: 0, text: shown, extra: 0 }];
  const parts = [];
  let from = 0;
  const keep = (until) => {
    if (until > from) parts.push({ unit: from, text: shown.slice(from, until), extra: 0 });
  };
  for (const { index, segment } of segmenter.segment(shown)) {
    const numBytes = new TextEncoder().encode(segment).length;
    if (numBytes < 2 || JOINING_LETTER.test(segment)) continue;
    keep(index);
    const glyphWidth = WIDE_GLYPH.test(segment) ? 16 : 9;
    parts.push({ unit: index, text: segment, extra: Math.max(0, numBytes * (2 * hexWidth + 1) - glyphWidth) });
    from = index + segment.length;
  }
  keep(shown.length);
  return parts;
}
