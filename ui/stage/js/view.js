// One text on the stage: its text nodes, its drawing, and a cursor that stands on a token. The stage has one view
// for the text and, if there is one, another for the reader's own sentence; both follow the same step.

import { Colourer } from "./colour.js";
import { BlockDrawing, eraseBlock, HEX_WIDTH, Metrics } from "./draw.js";
import { characterRect, chunkIndex, measureCells, visibleChunks } from "./geometry.js";
import { lowerBound } from "./model.js";
import { displayText, hex, planBlocks, quotedName, spoken, widenedParts } from "./text.js";

const MOST_RINGS = 12; // a token over more lines than this is outlined in its first ones
const NEAR = 14; // pixels beside a token that still count as on it

export class TokenView {
  #rings = [];
  #drawn = new Set(); // blocks that have a drawing
  #units = new WeakMap(); // text node -> UTF-16 offset in the source
  #visible = [];
  #spokenState = "";

  /**
   * @param {HTMLElement} element the scrolling frame; filled here
   * @param {{ask: () => void, showToken: (view: TokenView, token: [number, number]) => void}} stage
   */
  constructor(element, stage) {
    this.element = element;
    this.stage = stage;
    this.content = element.querySelector(".content");
    this.cursorElement = element.querySelector(".cursor");
    this.chunks = [];
    /** @type {import("./draw.js").Box[]} what is drawn, in text order */
    this.boxes = [];
    this.step = 0;
    this.cursorByte = 0;
    /** @type {[number, number]} the token under the cursor */
    this.cursor = [0, 0];
    this.hovered = null;
    this.applySettings({ marks: false, walls: false, bytes: false, ids: false });
  }

  load(model) {
    this.model = model;
    this.cursorByte = 0;
    this.cursor = [0, 0];
    this.hovered = null;
    this.boxes = [];
    this.#drawn.clear();
    this.#spokenState = "";
    this.#buildText();
    this.element.scrollTop = 0;
    this.element.classList.toggle("is-empty", model.numBytes === 0);
    this.cursorElement.tabIndex = model.numBytes ? 0 : -1;
    this.cursorElement.setAttribute("aria-valuemax", String(Math.max(0, model.numBytes - 1)));
  }

  applySettings(settings) {
    const hadBytes = this.settings?.bytes;
    this.settings = { ...settings };
    this.metrics = new Metrics(settings);
    this.content.style.setProperty("--line-height", `${this.metrics.line}px`);
    this.content.style.setProperty("--shift", `${this.metrics.shift}px`);
    if (hadBytes !== settings.bytes) for (const block of this.content.children) this.#fillBlock(block, false);
    this.remeasure();
  }

  /** Forgets all positions: the width, the fonts or the height of a line have changed. */
  remeasure() {
    for (const chunk of this.chunks) chunk.cells = null;
  }

  // ------------------------------------------------------------------------------------------------ text nodes

  #buildText() {
    const { model } = this;
    const fragment = document.createDocumentFragment();
    this.chunks = [];
    for (const plan of planBlocks(model)) {
      const block = document.createElement("div");
      block.className = plan.isCut ? "block is-cut" : "block";
      if (plan.direction) block.dir = plan.direction;
      block.chunks = plan.chunks.map(({ start, end }) => {
        const source = model.text.slice(model.units[start], model.units[end]);
        return { start, end, block, source, shown: displayText(source), parts: [], cells: null };
      });
      this.#fillBlock(block, false);
      this.chunks.push(...block.chunks);
      fragment.append(block);
    }
    this.content.replaceChildren(fragment);
  }

  /** One text node a chunk; with `wide`, clusters of several bytes are spaced out for their hex. */
  #fillBlock(block, wide) {
    if (!block.chunks || (block.childNodes.length && Boolean(block.isWide) === wide)) return;
    block.isWide = wide;
    eraseBlock(block);
    this.#drawn.delete(block);
    const nodes = [];
    for (const chunk of block.chunks) {
      chunk.cells = null;
      const whole = [{ unit: 0, text: chunk.shown, extra: 0 }];
      chunk.parts = (wide ? widenedParts(chunk.shown, HEX_WIDTH) : whole).map(({ unit, text, extra }) => {
        const node = document.createTextNode(text);
        this.#units.set(node, this.model.units[chunk.start] + unit);
        nodes.push(extra ? spacedOut(node, extra) : node);
        return { unit, node, extra };
      });
    }
    block.replaceChildren(...nodes);
  }

  /** @returns {number} UTF-16 offset in the source of a text node of this view, -1 for any other node */
  sourceUnit(node) {
    return this.#units.get(node) ?? -1;
  }

  // ---------------------------------------------------------------------------------------------------- drawing

  /** First half of a frame: reads every position that is needed. */
  read() {
    let visible = visibleChunks(this.chunks, this.element.getBoundingClientRect());
    if (this.widen(visible)) visible = visibleChunks(this.chunks, this.element.getBoundingClientRect());
    const { element } = this;
    const origin = element.getBoundingClientRect().top + element.clientTop - element.scrollTop;
    for (const chunk of visible) {
      chunk.block.top = chunk.block.getBoundingClientRect().top - origin;
      measureCells(chunk, this.model, this.metrics.line);
    }
    this.#visible = visible;
  }

  /** Makes room for bytes where they are shown. @returns {boolean} whether anything had to move */
  widen(chunks) {
    if (!this.settings.bytes) return false;
    const narrow = chunks.filter((chunk) => !chunk.block.isWide);
    for (const chunk of narrow) this.#fillBlock(chunk.block, true);
    return narrow.length > 0;
  }

  /**
   * Second half of a frame: writes.
   * @param {boolean} settled the reader waits for words, not only for colours
   */
  write(step, settled) {
    this.step = step;
    const colourer = new Colourer(this.model, step);
    const drawings = new Map();
    for (const chunk of this.#visible) {
      if (!drawings.has(chunk.block)) {
        drawings.set(chunk.block, new BlockDrawing(chunk.block, this.model, step, this.settings, this.metrics));
      }
      drawings.get(chunk.block).addChunk(chunk, colourer);
    }
    for (const block of this.#drawn) if (!drawings.has(block)) eraseBlock(block);
    this.#drawn = new Set(drawings.keys());
    this.boxes = [];
    for (const drawing of drawings.values()) {
      drawing.commit();
      for (const box of drawing.boxes) this.boxes.push(box);
    }
    this.#placeCursor(settled);
  }

  // ----------------------------------------------------------------------------------------- tokens under a point

  /** @returns {[number, number] | null} the token at a point of the window */
  tokenAt(x, y) {
    let best = null;
    let bestDistance = NEAR;
    let block = null;
    let rect = null;
    for (const box of this.boxes) {
      if (box.block !== block) {
        block = box.block;
        rect = block.getBoundingClientRect();
      }
      const top = rect.top + this.metrics.lineTop(box.line);
      if (y < top || y >= top + this.metrics.line) continue;
      const distance = Math.max(rect.left + box.x0 - x, x - rect.left - box.x1, 0);
      if (distance < bestDistance) {
        bestDistance = distance;
        best = [box.start, box.end];
      }
      if (distance === 0) break;
    }
    return best;
  }

  hover(token) {
    const isSame = token?.[0] === this.hovered?.[0] && token?.[1] === this.hovered?.[1];
    this.hovered = token;
    if (isSame) return;
    this.#placeRings();
    const shown = token ?? this.cursor;
    if (this.model.numBytes) this.stage.showToken(this, shown);
  }

  // ----------------------------------------------------------------------------------------------------- cursor

  get cursorIsRtl() {
    const [start] = this.cursor;
    const cells = this.chunks[chunkIndex(this.chunks, start)]?.cells;
    if (!cells) return false;
    const cell = lowerBound(cells.at, start + 1) - 1;
    return Boolean(cells.rtl[cell]);
  }

  moveCursor(byte, { focus = true } = {}) {
    const { model } = this;
    if (!model.numBytes) return;
    this.cursorByte = Math.max(0, Math.min(model.numBytes - 1, byte));
    this.hovered = null;
    const chunk = this.chunks[chunkIndex(this.chunks, this.cursorByte)];
    const rect = characterRect(chunk, model, this.cursorByte);
    const frame = this.element.getBoundingClientRect();
    if (rect.top < frame.top + 4 || rect.bottom > frame.bottom - 4) {
      this.element.scrollTop += rect.top - frame.top - frame.height / 2;
    }
    if (focus) this.cursorElement.focus({ preventScroll: true });
    this.stage.ask();
  }

  nextToken() {
    const [start, end] = this.cursor;
    this.moveCursor(end < this.model.numBytes ? end : start);
  }

  previousToken() {
    const [start] = this.cursor;
    this.moveCursor(start > 0 ? this.model.start(start - 1, this.step) : 0);
  }

  /** To the first or last token of the line, in reading order. */
  moveToLineEdge(direction) {
    const own = this.#cursorBox();
    if (!own) return;
    let best = own.start;
    for (const box of this.boxes) {
      const isOnLine = box.block === own.block && box.line === own.line;
      if (isOnLine && (box.start - best) * direction > 0) best = box.start;
    }
    this.moveCursor(best);
  }

  /** To the token above or below; over empty lines. */
  moveVertically(direction) {
    const own = this.#cursorBox();
    if (!own) return;
    const rect = own.block.getBoundingClientRect();
    const x = rect.left + (own.x0 + own.x1) / 2;
    const y = rect.top + this.metrics.lineTop(own.line) + this.metrics.line / 2;
    for (let lines = 1; lines < 6; lines++) {
      const token = this.tokenAt(x, y + direction * lines * this.metrics.line);
      if (token) return this.moveCursor(token[0]);
      const nearest = this.#nearestOnRow(x, y + direction * lines * this.metrics.line);
      if (nearest) return this.moveCursor(nearest.start);
    }
  }

  movePage(direction) {
    this.element.scrollTop += direction * this.element.clientHeight * 0.9;
    this.stage.paintNow();
    const frame = this.element.getBoundingClientRect();
    const top = (box) => box.block.getBoundingClientRect().top + this.metrics.lineTop(box.line);
    const first = this.boxes.find((box) => top(box) >= frame.top);
    if (first) this.moveCursor(first.start);
  }

  #nearestOnRow(x, y) {
    let best = null;
    let bestDistance = Infinity;
    for (const box of this.boxes) {
      const rect = box.block.getBoundingClientRect();
      const top = rect.top + this.metrics.lineTop(box.line);
      if (y < top || y >= top + this.metrics.line) continue;
      const distance = Math.max(rect.left + box.x0 - x, x - rect.left - box.x1, 0);
      if (distance < bestDistance) [best, bestDistance] = [box, distance];
    }
    return best;
  }

  #cursorBox() {
    return this.boxes.find((box) => box.start === this.cursor[0]);
  }

  /** One focusable element follows the token: no element a token. */
  #placeCursor(settled) {
    const { model, step } = this;
    if (!model.numBytes) {
      this.#placeRings();
      return;
    }
    const start = model.start(this.cursorByte, step);
    this.cursor = [start, model.end(this.cursorByte, step)];
    if (this.hovered) {
      const at = this.hovered[0];
      this.hovered = [model.start(at, step), model.end(at, step)];
    }
    this.#placeRings();
    const state = `${this.cursor}:${step}`;
    if (!settled || state === this.#spokenState) return;
    this.#spokenState = state;
    this.cursorElement.setAttribute("aria-valuenow", String(start));
    this.cursorElement.setAttribute("aria-valuetext", this.describeCursor());
  }

  /** The token under the cursor as a screen reader says it. */
  describeCursor() {
    const { model, step } = this;
    const [start, end] = this.cursor;
    const bytes = model.bytes.subarray(start, end);
    const shown = bytes.length > 8 ? `${hex(bytes.subarray(0, 8))} and ${bytes.length - 8} more` : hex(bytes);
    const rank = model.rank(start, end);
    const origin = rank < 0 ? (model.numMerges ? "base symbol" : "token") : `merge ${rank}`;
    const id = model.idOf(start, end, step);
    const name = spoken(quotedName(bytes)).replace(/[“”]/g, "");
    return `${name}, bytes ${shown}, ${origin}, ${id < 0 ? "unknown" : `id ${id}`}`;
  }

  #placeRings() {
    let used = this.#outline(this.cursor, "ring", 0);
    const { hovered } = this;
    if (hovered && hovered[0] !== this.cursor[0]) used = this.#outline(hovered, "ring is-hovered", used);
    for (const ring of this.#rings.slice(used)) ring.hidden = true;
  }

  #outline([start], className, used) {
    let count = 0;
    for (const box of this.boxes) {
      if (box.start !== start) continue;
      if (count++ === MOST_RINGS) break;
      const ring = (this.#rings[used] ??= this.cursorElement.appendChild(document.createElement("i")));
      used++;
      ring.hidden = false;
      ring.className = className;
      ring.style.left = `${box.x0}px`;
      ring.style.top = `${box.block.top + this.metrics.boxTop(box.line)}px`;
      ring.style.width = `${box.x1 - box.x0}px`;
      ring.style.height = `${this.metrics.boxHeight}px`;
    }
    return used;
  }
}

/** Letter spacing, not padding: it moves nothing inside a cluster and adds no box. */
function spacedOut(node, pixels) {
  const span = document.createElement("span");
  span.className = "wide";
  span.style.letterSpacing = `${pixels}px`;
  span.append(node);
  return span;
}
