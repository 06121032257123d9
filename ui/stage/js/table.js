// The merge table: one row a listed merge, of which only those in sight are in the page. It follows the step.

import { NUM_HUES, hueOfId } from "./colour.js";
import { setText } from "./panel.js";
import { formatNumber, visibleName } from "./text.js";

const ROW_HEIGHT = 28;
const HEAD_HEIGHT = 30;
const OVERSCAN_ROWS = 2;
const DIGIT_WIDTH = 7.6;
const CELL_PADDING = 12;
const NARROWEST_MERGE = 170;

/** Columns by what the reader would miss first: when the table is narrow, the last ones give way. */
const BY_IMPORTANCE = ["rank", "merge", "count", "here", "tokens left", "ties", "replaced"];
const IN_ORDER = ["rank", "merge", "count", "ties", "replaced", "here", "tokens left"];

const HEADS = {
  rank: ["rank", "merge rank: the place of the rule in learning order, from 0"],
  merge: ["left + right = token", "the two tokens that are joined, and the token they make"],
  count: ["count", "pair count: how often the pair stood in the training text"],
  ties: ["ties", "how many pairs had this count; more than one means that the tie rule decided"],
  replaced: ["replaced", "how many pairs were joined; fewer than the count where pairs overlap (aaa)"],
  here: ["here", "places in the text shown where this merge joins two tokens"],
  "tokens left": ["tokens left", "tokens after this merge"],
};

let nextId = 0;

export class MergeTable {
  #rows = [];
  #top = 0;
  #height = 0;
  #width = 0;
  #shownTop = -1;
  #followed = -1;
  #columns = [];
  #labels = new Map();
  #prefix = `merge-${nextId++}-`;

  /** @param {HTMLElement} element the scrolling frame */
  constructor(element) {
    this.element = element;
    this.head = element.querySelector(".head");
    this.spacer = element.querySelector(".spacer");
    this.body = element.querySelector(".rows");
  }

  load(payload) {
    this.payload = payload;
    this.merges = payload.merges;
    this.model = payload.views[0];
    this.#rows = [];
    this.#followed = -1;
    this.#columns = [];
    this.#labels.clear();
    this.#shownTop = -1;
    this.body.replaceChildren();
    this.spacer.style.height = `${this.merges.numRows * ROW_HEIGHT}px`;
    this.element.scrollTop = 0;
    this.element.hidden = this.merges.numMerges === 0;
    this.element.setAttribute("aria-rowcount", String(this.merges.numRows + 1));
    this.digits = this.#digitsOfColumns();
  }

  /** Did the reader scroll the table, rather than we? */
  get wasScrolled() {
    return Math.abs(this.element.scrollTop - this.#top) > 1;
  }

  /** First half of a frame: reads the size, and decides where to scroll to keep the current row in sight. */
  read(step) {
    const { element, merges } = this;
    if (element.hidden) return;
    this.#height = element.clientHeight;
    this.#width = element.clientWidth;
    this.#top = element.scrollTop;
    if (this.#followed === step || !this.#height) return;
    this.#followed = step;
    const current = Math.max(0, merges.numRowsDone(step) - 1);
    const y = current * ROW_HEIGHT;
    const room = this.#height - HEAD_HEIGHT;
    const isInSight = y >= this.#top + ROW_HEIGHT && y <= this.#top + room - 2 * ROW_HEIGHT;
    if (isInSight) return;
    const lowest = Math.max(0, merges.numRows * ROW_HEIGHT - room);
    this.#top = Math.round(Math.min(lowest, Math.max(0, y - room / 2 + ROW_HEIGHT / 2)));
  }

  /** Second half: writes the rows in sight. */
  write(step) {
    const { element, merges } = this;
    if (element.hidden || !this.#height) return;
    this.#arrangeColumns();
    const from = Math.max(0, Math.floor(this.#top / ROW_HEIGHT) - OVERSCAN_ROWS);
    const to = Math.min(merges.numRows, Math.ceil((this.#top + this.#height) / ROW_HEIGHT) + OVERSCAN_ROWS);
    this.body.style.transform = `translateY(${from * ROW_HEIGHT}px)`;
    while (this.#rows.length < to - from) this.#rows.push(this.body.appendChild(this.#makeRow()));
    const current = merges.rowOfStep(step);
    this.#rows.forEach((row, i) => {
      const number = from + i;
      row.hidden = number >= to;
      if (row.hidden) return;
      if (row.number !== number) this.#fillRow(row, number);
      row.setAttribute("aria-selected", String(number === current));
      row.classList.toggle("is-done", merges.rank[number] < step);
      row.classList.toggle("is-current", number === current);
    });
    if (this.#shownTop !== this.#top) {
      this.#shownTop = this.#top;
      if (Math.abs(element.scrollTop - this.#top) >= 1) element.scrollTop = this.#top;
    }
    if (current >= from && current < to) element.setAttribute("aria-activedescendant", this.#prefix + current);
    else element.removeAttribute("aria-activedescendant");
  }

  /** @returns {number} the step that a click in the table asks for, or -1 */
  stepOf(target) {
    const row = target.closest(".row");
    return row?.number >= 0 ? this.merges.rank[row.number] + 1 : -1;
  }

  /** The step some rows further on. */
  stepAfterRows(step, numRows) {
    const { merges } = this;
    if (!merges.numRows) return step;
    const done = merges.numRowsDone(step) + numRows;
    if (done <= 0) return 0;
    return merges.rank[Math.min(done, merges.numRows) - 1] + 1;
  }

  // ----------------------------------------------------------------------------------------------------- columns

  #value(column, row) {
    const { merges, model } = this;
    switch (column) {
      case "rank":
        return merges.rank[row];
      case "count":
        return merges.count[row];
      case "ties":
        return merges.numTied[row];
      case "replaced":
        return merges.numReplaced[row];
      case "here":
        return model.numPlaces(merges.rank[row]);
      default:
        return merges.numTokensAfter ? merges.numTokensAfter[row] : model.numTokens(merges.rank[row] + 1);
    }
  }

  #has(column) {
    const { merges } = this;
    if (column === "count") return Boolean(merges.count);
    if (column === "ties") return Boolean(merges.numTied);
    if (column === "replaced") return Boolean(merges.numReplaced);
    return true;
  }

  /** Characters of the longest number in each column. */
  #digitsOfColumns() {
    const digits = {};
    for (const column of IN_ORDER) {
      if (column === "merge" || !this.#has(column)) continue;
      let largest = 0;
      for (let row = 0; row < this.merges.numRows; row++) largest = Math.max(largest, this.#value(column, row));
      digits[column] = formatNumber(largest).length;
    }
    return digits;
  }

  #columnWidth(column) {
    if (column === "merge") return NARROWEST_MERGE;
    const longest = Math.max(this.digits[column], HEADS[column][0].length);
    return Math.ceil(longest * DIGIT_WIDTH + CELL_PADDING);
  }

  /** As many columns as the width has room for. */
  #arrangeColumns() {
    const kept = new Set();
    let used = 0;
    for (const column of BY_IMPORTANCE) {
      if (!this.#has(column)) continue;
      used += this.#columnWidth(column);
      if (used <= this.#width || kept.size < 2) kept.add(column);
    }
    const columns = IN_ORDER.filter((column) => kept.has(column));
    if (columns.join() === this.#columns.join()) return;
    this.#columns = columns;
    const widths = columns.map((column) => (column === "merge" ? "minmax(0, 1fr)" : `${this.#columnWidth(column)}px`));
    this.element.style.setProperty("--columns", widths.join(" "));
    this.element.setAttribute("aria-colcount", String(columns.length));
    this.head.replaceChildren(...columns.map(makeHead));
    this.#rows = [];
    this.body.replaceChildren();
  }

  // -------------------------------------------------------------------------------------------------------- rows

  #makeRow() {
    const row = document.createElement("div");
    row.className = "row";
    row.setAttribute("role", "row");
    for (const column of this.#columns) {
      const cell = document.createElement("span");
      cell.setAttribute("role", "gridcell");
      cell.className = column === "merge" ? "merge" : "number";
      if (column === "merge") cell.append(...makeMergeParts());
      row.append(cell);
    }
    return row;
  }

  #fillRow(row, number) {
    row.number = number;
    row.id = this.#prefix + number;
    row.setAttribute("aria-rowindex", String(number + 2));
    this.#columns.forEach((column, i) => {
      const cell = row.children[i];
      if (column === "merge") this.#fillMerge(cell, number);
      else setText(cell, formatNumber(this.#value(column, number)));
    });
  }

  #fillMerge(cell, number) {
    const { merges } = this;
    const labels = [merges.left, merges.right, merges.token].map((ids) => this.#labelOf(ids[number]));
    labels.forEach(({ name, colour }, i) => {
      const chip = cell.children[2 * i];
      setText(chip, name);
      chip.style.setProperty("--length", String(name.length));
      chip.className = `chip t${colour}`;
    });
    const [left, right, token] = labels;
    cell.title = `${left.name} + ${right.name} = ${token.name}`;
  }

  /** Name and colour of a token; kept, because a long name takes a while to spell out. */
  #labelOf(id) {
    if (!this.#labels.has(id)) {
      const { vocabulary } = this.payload;
      const name = visibleName(vocabulary.nameBytes(id), "");
      this.#labels.set(id, { name, colour: hueOfId(vocabulary, id) * 2 });
    }
    return this.#labels.get(id);
  }
}

function makeHead(column) {
  const head = document.createElement("span");
  head.setAttribute("role", "columnheader");
  head.className = column === "merge" ? "merge" : "number";
  [head.textContent, head.title] = HEADS[column];
  return head;
}

/** left + right = token: each name in the hue it has in the text, isolated from its neighbours' direction. */
function makeMergeParts() {
  return ["chip", "+", "chip", "=", "chip"].map((kind) => {
    const part = document.createElement(kind === "chip" ? "bdi" : "span");
    if (kind === "chip") part.className = `chip t${NUM_HUES}`;
    else part.textContent = kind;
    return part;
  });
}
