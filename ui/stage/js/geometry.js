// Where the browser has put the text: which chunks are in sight, and the cells of a chunk.
// A cell is the shortest run that has a rectangle of its own: a grapheme, or several that share one (conjuncts,
// ligatures). Positions are kept until the width, the fonts or the line height change. Everything here only reads.

import { graphemeEnds, isBidiControl, MARKS, startsRtl, startsStrong } from "./text.js";

const OVERSCAN = 160; // pixels above and below the view that are drawn too, so that scrolling meets no gap
const LINE_BREAK_WIDTH = 7; // a line break has no width of its own: it gets a small chip where the line ends

/**
 * @typedef {object} Chunk
 * @property {number} start first byte
 * @property {number} end byte after the last
 * @property {HTMLElement} block
 * @property {string} source the text
 * @property {string} shown the text as shown, of the same length
 * @property {{unit: number, node: Text, extra: number}[]} parts its text nodes: UTF-16 offset, and the pixels
 *   after each letter
 * @property {Cells | null} cells
 *
 * @typedef {object} Cells cell i holds bytes at[i] to at[i + 1], UTF-16 units unit[i] to unit[i + 1]
 * @property {number[]} at
 * @property {number[]} unit
 * @property {number[]} x0 left edge, from the block's left
 * @property {number[]} x1 right edge
 * @property {number[]} line line of the block
 * @property {boolean[]} rtl does the text run to the left here
 * @property {number} count
 * @property {Map<boolean, string>} marks paths of the marks, by whether all marks are on
 */

const range = document.createRange();

/** Puts the shared range on UTF-16 units [from, to) of a chunk; both lie in one text node. */
function placeRange(chunk, from, to) {
  const { parts } = chunk;
  let low = 0;
  let high = parts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (parts[middle].unit <= from) low = middle;
    else high = middle - 1;
  }
  const { node, unit } = parts[low];
  range.setStart(node, from - unit);
  range.setEnd(node, Math.min(to - unit, node.length));
  return range;
}

function chunkRect(chunk) {
  const last = chunk.parts[chunk.parts.length - 1].node;
  range.setStart(chunk.parts[0].node, 0);
  range.setEnd(last, last.length);
  return range.getBoundingClientRect();
}

/** Rectangle of the character at a byte offset of a chunk. */
export function characterRect(chunk, model, byte) {
  const unit = model.units[byte] - model.units[chunk.start];
  return placeRange(chunk, unit, unit + 1).getBoundingClientRect();
}

/** @returns {number} index of the chunk that holds a byte */
export function chunkIndex(chunks, byte) {
  let low = 0;
  let high = chunks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (chunks[middle].start <= byte) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The chunks in sight, in text order: a binary search, so that the length of the text does not matter. */
export function visibleChunks(chunks, view) {
  const top = view.top - OVERSCAN;
  const bottom = view.bottom + OVERSCAN;
  const isAbove = (chunk) => {
    const block = chunk.block.getBoundingClientRect();
    if (block.bottom < top) return true;
    if (block.top > bottom) return false; // do not make the browser lay out what is far away
    return chunkRect(chunk).bottom < top;
  };
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAbove(chunks[middle])) low = middle + 1;
    else high = middle;
  }
  const visible = [];
  for (const chunk of chunks.slice(low)) {
    if (chunk.block.getBoundingClientRect().top > bottom || chunkRect(chunk).top > bottom) break;
    visible.push(chunk);
  }
  return visible;
}

/**
 * Measures a chunk once.
 * @returns {Cells}
 */
export function measureCells(chunk, model, lineHeight) {
  if (chunk.cells) return chunk.cells;
  const { shown } = chunk;
  const { units } = model;
  const block = chunk.block.getBoundingClientRect();
  const cells = { at: [], unit: [], x0: [], x1: [], line: [], rtl: [], count: 0, marks: new Map() };
  let unit = 0;
  let byte = chunk.start;
  for (const end of graphemeEnds(shown)) {
    while (units[byte] < units[chunk.start] + unit) byte++;
    const rect = widestRect(placeRange(chunk, unit, end).getClientRects());
    if (rect) {
      const line = Math.floor(((rect.top + rect.bottom) / 2 - block.top) / lineHeight);
      const last = cells.at.length - 1;
      let x0 = quarterPixel(rect.left - block.left);
      let x1 = quarterPixel(rect.right - block.left);
      if (shown[end - 1] === "\n") {
        const followsText = last >= 0 && cells.line[last] === line;
        const isAtLeft = followsText
          ? Math.abs(x0 - cells.x0[last]) < Math.abs(x0 - cells.x1[last])
          : x0 > block.width / 2;
        if (isAtLeft) x0 -= LINE_BREAK_WIDTH;
        else x1 = x0 + LINE_BREAK_WIDTH;
      }
      const isSamePlace = last >= 0 && cells.line[last] === line && cells.x0[last] === x0 && cells.x1[last] === x1;
      if (!isSamePlace || x1 === x0) {
        cells.at.push(byte);
        cells.unit.push(unit);
        cells.x0.push(x0);
        cells.x1.push(x1);
        cells.line.push(line);
      }
    }
    unit = end;
  }
  cells.count = cells.at.length;
  cells.at.push(chunk.end);
  cells.unit.push(shown.length);
  findDirections(cells, shown);
  chunk.cells = cells;
  return cells;
}

function widestRect(rects) {
  for (const rect of rects) if (rect.width > 0) return rect;
  return rects[0];
}

function quarterPixel(x) {
  return Math.round(x * 4) / 4;
}

/** Letters and digits have a direction; spaces and signs take that of their surroundings, seen from their places. */
function findDirections(cells, shown) {
  const { x0, line, count } = cells;
  const isLeftOf = (i, j) => i >= 0 && j < count && line[i] === line[j] && x0[j] < x0[i];
  for (let i = 0; i < count; i++) {
    const text = shown.slice(cells.unit[i], cells.unit[i] + 2);
    if (startsRtl(text)) cells.rtl.push(true);
    else if (startsStrong(text)) cells.rtl.push(false);
    else cells.rtl.push(isLeftOf(i, i + 1) || (line[i + 1] !== line[i] && isLeftOf(i - 1, i)));
  }
}

/**
 * The marks of a chunk as one path. Bidi controls are always marked: what is shown in their place is a bare square.
 * @param {boolean} all all marks, or only those of bidi controls
 */
export function marksPath(chunk, all, metrics) {
  const { cells, source, shown } = chunk;
  if (!cells.marks.has(all)) {
    let path = "";
    for (let i = 0; i < cells.count; i++) {
      for (let unit = cells.unit[i]; unit < cells.unit[i + 1]; unit++) {
        const code = source.charCodeAt(unit);
        const isMarked = isBidiControl(code) || (all && MARKS.has(code) && shown[unit] === source[unit]);
        if (!isMarked) continue;
        path += markPath(code, cells.x0[i], cells.x1[i], metrics.boxTop(cells.line[i]), cells.rtl[i], metrics);
      }
    }
    cells.marks.set(all, path);
  }
  return cells.marks.get(all);
}

function markPath(code, x0, x1, top, rtl, metrics) {
  const x = (x0 + x1) / 2;
  const y = top + metrics.textHeight / 2;
  switch (code) {
    case 0x20:
    case 0x3000:
      return `M${x - 0.75} ${y}h1.5`;
    case 0x09: // an arrow in the direction of the text
      if (x1 - x0 < 8) return `M${x - 2} ${y}h4`;
      if (rtl) return `M${x1 - 2} ${y}H${x0 + 3}M${x0 + 7} ${y - 3}l-4 3l4 3`;
      return `M${x0 + 2} ${y}H${x1 - 3}M${x1 - 7} ${y - 3}l4 3l-4 3`;
    case 0x0a:
      return `M${x0 + 6} ${y - 4}v4h-5M${x0 + 3} ${y - 2}l-2 2l2 2`;
    case 0x0d: // before a line feed: a line under its arrow
      return `M${x0 + 1} ${y + 4}h5`;
    case 0xa0:
      return `M${x - 3} ${y + 1}v3h6v-3`;
    default: // no width: a flag at the place
      return `M${x - 3} ${top}h6l-3 4ZM${x} ${top + 4}V${top + metrics.textHeight - 1}`;
  }
}
