// Draws a band: token colours and cuts behind each row's text, and above the rows a ruler of what they have in common.
// The text itself stays one text node a row, so no script is torn apart; a character that several tokens share is
// divided by its bytes. Nothing here reads the page: positions come as cells (ui/stage/js/geometry.js).

import { hueOfBytes } from "./colour.js";
import { ALONE, SHARED, SOME } from "./rows_data.js";

export const RULER_HEIGHT = 16;
export const ROW_HEIGHT = 26;
const INSET = 2; // between a row's colour and the next row's
const TICK_HEIGHT = 8; // a cut inside a character is a tick at its foot: full lines would hide the character
const NAME_BYTES = 4096; // a token's hue follows from so much of it

/** The pixel where a byte of a band begins, from the left of the text. */
export function xOfByte(cells, byte) {
  if (cells.count === 0) return 0;
  const i = cellIndex(cells, byte);
  const share = (byte - cells.at[i]) / (cells.at[i + 1] - cells.at[i]);
  const width = cells.x1[i] - cells.x0[i];
  return cells.rtl[i] ? cells.x1[i] - share * width : cells.x0[i] + share * width;
}

/** The byte at a pixel of a band; in a character of several bytes the one whose stripe is there. */
export function byteAtX(cells, x) {
  let best = -1;
  let least = Infinity;
  for (let i = 0; i < cells.count; i++) {
    const distance = Math.max(cells.x0[i] - x, x - cells.x1[i], 0);
    if (distance < least) [least, best] = [distance, i];
  }
  if (best < 0) return -1;
  const width = cells.x1[best] - cells.x0[best];
  let share = width ? (x - cells.x0[best]) / width : 0;
  if (cells.rtl[best]) share = 1 - share;
  const numBytes = cells.at[best + 1] - cells.at[best];
  return cells.at[best] + Math.min(numBytes - 1, Math.max(0, Math.floor(share * numBytes)));
}

/**
 * @returns {{fills: Map<number, string>, cuts: string, alone: string, shared: string, some: string, dots: string}}
 *     SVG paths: colour -> tokens; cuts in the rows; cuts of a row alone; and the marks of the ruler
 */
export function paintBand(band, data) {
  const { cells } = band;
  const paths = { fills: new Map(), cuts: "", alone: "", shared: "", some: "", dots: "" };
  data.rows.forEach((row, number) => {
    if (row.isEmpty) return;
    const top = RULER_HEIGHT + number * ROW_HEIGHT;
    paintTokens(band, data, row, top, paths.fills);
    for (let at = Math.max(band.start, 1); at < band.end; at++) {
      if (!row.isCut(at)) continue;
      const height = isInsideCharacterAt(data.bytes, at) ? TICK_HEIGHT : ROW_HEIGHT - 2;
      const line = `M${xOfByte(cells, at)} ${top + ROW_HEIGHT - 1}v${-height}`;
      if (data.kind(at) === ALONE) paths.alone += line;
      else paths.cuts += line;
    }
  });
  for (let at = Math.max(band.start, 1); at < band.end; at++) {
    const kind = data.kind(at);
    const x = xOfByte(cells, at);
    if (kind === SHARED) paths.shared += `M${x} 3v${RULER_HEIGHT - 4}`;
    else if (kind === SOME) paths.some += `M${x} ${RULER_HEIGHT - 6}v5`;
    else if (kind === ALONE) paths.dots += `M${x - 2.5} ${RULER_HEIGHT - 5}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0`;
  }
  return paths;
}

function isInsideCharacterAt(bytes, at) {
  return (bytes[at] & 0xc0) === 0x80;
}

function paintTokens(band, data, row, top, fills) {
  const { cells } = band;
  let lastHue = -1;
  let shade = 0;
  for (let start = band.start; start < band.end; ) {
    const first = start === band.start ? row.startOf(start) : start;
    const end = row.endOf(start);
    const hue = hueOfBytes(data.bytes, first, Math.min(end, first + NAME_BYTES));
    shade = hue === lastHue ? 1 - shade : 0;
    lastHue = hue;
    const colour = 2 * hue + shade;
    const path = rectsOf(cells, start, Math.min(end, band.end), top + INSET / 2, ROW_HEIGHT - INSET);
    fills.set(colour, (fills.get(colour) ?? "") + path);
    start = end;
  }
}

/** The token as rectangles: one for each run of cells that lie side by side. */
function rectsOf(cells, start, end, top, height) {
  let path = "";
  let left = 0;
  let right = -1;
  const flush = () => {
    if (right > left) path += `M${left} ${top}H${right}v${height}H${left}Z`;
  };
  for (let i = cellIndex(cells, start); i < cells.count && cells.at[i] < end; i++) {
    const [a, b] = partOfCell(cells, i, Math.max(start, cells.at[i]), Math.min(end, cells.at[i + 1]));
    if (right >= left && Math.abs(a - right) < 0.6) right = b;
    else if (right >= left && Math.abs(b - left) < 0.6) left = a;
    else {
      flush();
      [left, right] = [a, b];
    }
  }
  flush();
  return path;
}

function partOfCell(cells, i, from, to) {
  const numBytes = cells.at[i + 1] - cells.at[i];
  const width = cells.x1[i] - cells.x0[i];
  const a = ((from - cells.at[i]) / numBytes) * width;
  const b = ((to - cells.at[i]) / numBytes) * width;
  return cells.rtl[i] ? [cells.x1[i] - b, cells.x1[i] - a] : [cells.x0[i] + a, cells.x0[i] + b];
}

function cellIndex(cells, byte) {
  let low = 0;
  let high = cells.count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (cells.at[middle] <= byte) low = middle;
    else high = middle - 1;
  }
  return low;
}
