// Lays the text out in bands: a band is one line of the text, drawn once a tokenizer, so a place in the text is the
// same distance from the left in all of its rows. Widths come from measuring each distinct grapheme once.

import { displayText, firstStrongDirection, graphemeEnds } from "./text.js";

const LOOK_BACK = 24; // graphemes; a band rather ends behind a space, if there is one so near

/** The text with a sign for everything that would end or widen a line, of the same UTF-16 length. */
export function shownText(source) {
  return displayText(source).replace(/\n/g, "↵").replace(/\r/g, "␍").replace(/\t/g, "→").replace(/[\u2028\u2029]/g, "⏎");
}

/**
 * @param {{text: string, units: Uint32Array, numBytes: number}} data
 * @param {(grapheme: string) => number} widthOf in pixels
 * @param {number} width of a band
 * @returns {{start: number, end: number, shown: string, direction: string}[]} byte offsets
 */
export function planBands(data, widthOf, width) {
  const shown = shownText(data.text);
  const bands = [];
  let direction = firstStrongDirection(firstLine(data.text, 0));
  let byteEnd = 0;

  const close = (from, to) => {
    const start = byteEnd;
    while (byteEnd < data.numBytes && data.units[byteEnd] < to) byteEnd++;
    bands.push({ start, end: byteEnd, shown: shown.slice(from, to), direction });
    if (shown[to - 1] === "↵") direction = firstStrongDirection(firstLine(data.text, to));
  };

  let from = 0; // UTF-16 offset where the band starts
  let at = 0; // where the grapheme starts
  let used = 0;
  let space = null; // the last space of the band: where a band may end, and the width up to there
  let sinceSpace = 0;
  for (const end of graphemeEnds(shown)) {
    const grapheme = shown.slice(at, end);
    const isLineEnd = grapheme === "↵";
    if (!isLineEnd && at > from && shown[at - 1] === "↵") {
      close(from, at);
      [from, used, space, sinceSpace] = [at, 0, null, 0];
    }
    const size = widthOf(grapheme);
    if (used + size > width && at > from) {
      const isSpaceNear = space !== null && sinceSpace < LOOK_BACK;
      const until = isSpaceNear ? space.at : at;
      close(from, until);
      used -= isSpaceNear ? space.used : used;
      [from, space, sinceSpace] = [until, null, 0];
    }
    used += size;
    sinceSpace++;
    if (grapheme === " ") {
      space = { at: end, used };
      sinceSpace = 0;
    }
    at = end;
  }
  if (at > from) close(from, at);
  return bands;
}

function firstLine(text, from) {
  const end = text.indexOf("\n", from);
  return text.slice(from, Math.min(end < 0 ? text.length : end, from + 2000));
}

/** Index of the band that holds a byte. */
export function bandIndex(bands, byte) {
  let low = 0;
  let high = bands.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (bands[middle].start <= byte) low = middle;
    else high = middle - 1;
  }
  return low;
}
