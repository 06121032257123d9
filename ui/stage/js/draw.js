// Paints tokens behind the text: one <svg> a visible block, one <path> a colour. The text nodes never change, so a
// step costs no layout, breaks no joined letters, and moves nothing.

import { NUM_COLOURS } from "./colour.js";
import { marksPath } from "./geometry.js";
import { hex } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";
const TEXT_HEIGHT = 24; // a line of text without rows below it
const HEX_ROW = 12;
const LABEL_ROW = 9;
const LABEL_ROWS = 3; // ids go into the first row where they do not touch the one before
const NARROWEST_BOX = 3;
const CHAR_WIDTH = 5; // of hex and ids

/** Width of one hex digit, for those who make room for it. */
export const HEX_WIDTH = CHAR_WIDTH;

/** Heights of a line, from what is shown below the text. */
export class Metrics {
  constructor({ bytes, ids }) {
    this.textHeight = TEXT_HEIGHT - 2;
    this.boxHeight = this.textHeight + (bytes ? HEX_ROW : 0);
    this.line = TEXT_HEIGHT + (bytes ? HEX_ROW : 0) + (ids ? LABEL_ROWS * LABEL_ROW + 2 : 0);
    // The browser centres text in its line; boxes start at the text, so that the rows fill what is below it.
    this.shift = (this.line - TEXT_HEIGHT) / 2;
  }

  lineTop(line) {
    return line * this.line + this.shift;
  }

  boxTop(line) {
    return this.lineTop(line) + 1;
  }
}

/**
 * The tokens of a chunk as they meet its cells.
 *
 * @param {(from: number, to: number, token: Token) => void} run a token that holds cells [from, to) whole
 * @param {(cell: number, tokens: Token[]) => void} split a cell that several tokens share
 * @typedef {{start: number, end: number, colour: number}} Token
 */
export function walkTokens(model, step, chunk, colourer, run, split) {
  const { at, count } = chunk.cells;
  let cell = 0;
  let start = count ? model.start(chunk.start, step) : chunk.end;
  let shared = null;
  while (cell < count && start < chunk.end) {
    const end = model.end(Math.max(start, chunk.start), step);
    const token = { start, end, colour: colourer.colour(start, end) };
    start = end;
    if (shared) {
      shared.push(token);
      if (end < at[cell + 1]) continue;
      split(cell, shared);
      shared = null;
      cell++;
    }
    const from = cell;
    while (cell < count && at[cell + 1] <= end) cell++;
    if (cell > from) run(from, cell, token);
    if (cell < count && at[cell] < end) shared = [token];
  }
  if (shared && cell < count) split(cell, shared);
}

/**
 * A part of a token on one line, as drawn; what a pointer can meet.
 * @typedef {{block: HTMLElement, x0: number, x1: number, line: number, start: number, end: number}} Box
 */

/** Everything of one block: path data, labels, boxes. */
export class BlockDrawing {
  constructor(block, model, step, settings, metrics) {
    this.block = block;
    this.model = model;
    this.step = step;
    this.settings = settings;
    this.metrics = metrics;
    this.fills = new Array(NUM_COLOURS).fill("");
    this.cuts = "";
    this.walls = "";
    this.ticks = "";
    this.lines = "";
    this.lit = "";
    this.marks = "";
    this.glyphs = { text: "", x: [], y: [] };
    this.labels = [];
    /** @type {Box[]} */
    this.boxes = [];
  }

  addChunk(chunk, colourer) {
    const { cells } = chunk;
    const run = (from, to, token) => this.#addRun(cells, from, to, token);
    const split = (cell, tokens) => this.#addSplit(cells, cell, tokens);
    walkTokens(this.model, this.step, chunk, colourer, run, split);
    this.marks += marksPath(chunk, this.settings.marks, this.metrics);
  }

  /** A token over whole cells: one rectangle a line, several where the direction turns. */
  #addRun(cells, from, to, token) {
    const { x0, x1, line, at } = cells;
    for (let i = from; i < to;) {
      let left = x0[i];
      let right = x1[i];
      let next = i + 1;
      const touches = (j) => Math.abs(x0[j] - right) < 0.6 || Math.abs(x1[j] - left) < 0.6;
      while (next < to && line[next] === line[i] && touches(next)) {
        left = Math.min(left, x0[next]);
        right = Math.max(right, x1[next]);
        next++;
      }
      const rtl = next - i > 1 ? x0[next - 1] < x0[i] : cells.rtl[i];
      right = Math.max(right, left + NARROWEST_BOX);
      this.#addBox(token, left, right, line[i], rtl);
      const isEdge = rtl ? at[next] === token.end : at[i] === token.start;
      if (isEdge) this.#addCut(left, line[i], rtl ? token.end : token.start);
      i = next;
    }
  }

  /** One cell, drawn once, with a stripe a token: as wide as its share, of the bytes if they are written below. */
  #addSplit(cells, cell, tokens) {
    const cellStart = cells.at[cell];
    const cellEnd = cells.at[cell + 1];
    const left = cells.x0[cell];
    const width = Math.max(cells.x1[cell] - left, NARROWEST_BOX);
    const line = cells.line[cell];
    const rtl = cells.rtl[cell];
    const bytesOf = (token) => Math.min(token.end, cellEnd) - Math.max(token.start, cellStart);
    const share = (token) => (this.settings.bytes ? bytesOf(token) : 1);
    const total = tokens.reduce((sum, token) => sum + share(token), 0);
    let done = 0;
    for (const token of tokens) {
      const stripe = (width * share(token)) / total;
      const x0 = round(left + (rtl ? width - done - stripe : done));
      const x1 = round(x0 + stripe);
      done += stripe;
      this.#addBox(token, x0, x1, line, rtl);
      const isEdge = rtl ? token.end <= cellEnd : token.start >= cellStart;
      if (isEdge && x0 - left < 0.01) this.#addCut(x0, line, rtl ? token.end : token.start);
      else if (isEdge && stripe >= 2)
        this.ticks += `M${x0} ${this.metrics.boxTop(line) + this.metrics.boxHeight - 5}v5`;
      if (this.settings.bytes) this.#addHex(token, cellStart, cellEnd, x0, x1, line);
    }
  }

  #addBox(token, x0, x1, line, rtl) {
    const { boxHeight } = this.metrics;
    const top = this.metrics.boxTop(line);
    this.fills[token.colour] += `M${x0} ${top}H${x1}V${top + boxHeight}H${x0}Z`;
    this.lines += `M${x0 + 1.5} ${top + boxHeight - 0.5}H${x1 - 1}`;
    if (this.#isLit(token)) this.lit += `M${x0} ${top + 1}H${x1}M${x0} ${top + boxHeight - 1}H${x1}`;
    const isFirstBox = this.boxes[this.boxes.length - 1]?.start !== token.start;
    if (this.settings.ids && isFirstBox) this.#addLabel(token, rtl ? x1 : x0, line, rtl);
    this.boxes.push({ block: this.block, x0, x1, line, start: token.start, end: token.end });
  }

  /** Was this token made by the merge of this very step? */
  #isLit({ start, end }) {
    return this.step > 0 && end - start > 1 && this.model.rank(start, end) === this.step - 1;
  }

  #addCut(x, line, offset) {
    const top = this.metrics.boxTop(line);
    const height = this.metrics.boxHeight;
    if (this.settings.walls && this.model.isWall(offset)) {
      this.walls += `M${x + 0.5} ${top}v${height}M${x - 1.5} ${top}v${height}`;
    } else {
      this.cuts += `M${x + 0.5} ${top}v${height}`;
    }
  }

  #addHex(token, cellStart, cellEnd, x0, x1, line) {
    const bytes = this.model.bytes.subarray(Math.max(token.start, cellStart), Math.min(token.end, cellEnd));
    const text = hex(bytes, "");
    const width = text.length * CHAR_WIDTH;
    if (x1 - x0 < width) return; // no room: the panel has the bytes
    this.#addGlyphs(text, (x0 + x1 - width) / 2, this.metrics.boxTop(line) + this.metrics.boxHeight - 3);
  }

  #addLabel(token, edge, line, rtl) {
    const id = this.model.idOf(token.start, token.end, this.step);
    const text = id < 0 ? "?" : String(id);
    const width = text.length * CHAR_WIDTH;
    this.labels.push({ text, x: rtl ? edge - width : edge + 1, width, line });
  }

  /** Ids of one line go into rows, left to right; one for which no row is free is left to the panel. Call it once. */
  placeLabels() {
    this.labels.sort((a, b) => a.line - b.line || a.x - b.x);
    let line = -1;
    let ends = [];
    for (const label of this.labels) {
      if (label.line !== line) ends = new Array(LABEL_ROWS).fill(-Infinity);
      line = label.line;
      const row = ends.findIndex((end) => end + 2 <= label.x);
      if (row < 0) continue;
      ends[row] = label.x + label.width;
      const y = this.metrics.boxTop(line) + this.metrics.boxHeight + (row + 1) * LABEL_ROW - 1;
      this.#addGlyphs(label.text, label.x, y);
    }
  }

  #addGlyphs(text, x, y) {
    for (let i = 0; i < text.length; i++) {
      this.glyphs.x.push(round(x + i * CHAR_WIDTH));
      this.glyphs.y.push(y);
    }
    this.glyphs.text += text;
  }

  /** Writes to the page; called when everything has been read. */
  commit() {
    this.placeLabels();
    const drawing = (this.block.drawing ??= new BlockSvg(this.block));
    drawing.fills.forEach((path, colour) => setPath(path, this.fills[colour]));
    for (const name of ["lines", "cuts", "walls", "ticks", "lit", "marks"]) setPath(drawing[name], this[name]);
    const { glyphs } = drawing;
    if (this.glyphs.text || glyphs.textContent) {
      glyphs.textContent = this.glyphs.text;
      glyphs.setAttribute("x", this.glyphs.x.join(" "));
      glyphs.setAttribute("y", this.glyphs.y.join(" "));
    }
  }
}

/** The elements of one block's drawing. Classes carry the colours: themes, print and forced colours are CSS. */
class BlockSvg {
  constructor(block) {
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("class", "drawing");
    this.svg.setAttribute("aria-hidden", "true");
    this.fills = Array.from({ length: NUM_COLOURS }, (_, colour) => this.#add("path", `fill t${colour}`));
    for (const name of ["lines", "cuts", "walls", "ticks", "lit", "marks"]) this[name] = this.#add("path", name);
    this.glyphs = this.#add("text", "glyphs");
    block.prepend(this.svg);
  }

  #add(tag, className) {
    const element = document.createElementNS(SVG, tag);
    element.setAttribute("class", className);
    this.svg.append(element);
    return element;
  }
}

/** Takes a block's drawing off the page. */
export function eraseBlock(block) {
  block.drawing?.svg.remove();
  block.drawing = null;
}

function setPath(path, data) {
  if (path.data === data) return;
  path.data = data;
  path.setAttribute("d", data);
}

function round(x) {
  return Math.round(x * 100) / 100;
}
