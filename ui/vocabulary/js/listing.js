// The list of tokens: a scrolling grid of which only the rows in sight are in the page.
//
// Streamlit calls the default export when the payload or the theme changes, on the same element. A payload whose `id`
// is known holds the same rows. ui/vocabulary/listing.py is the other end.

import { readListingHead, readRows } from "./rows.js";
import { formatNumber, hex, plural, quotedName, visibleName } from "./text.js";

const LISTING_PICK_AFTER = 250; // ms: keys may run through many rows, the server hears of the last one
const LISTED_HEX_BYTES = 40;
const LISTING_SPARE_ROWS = 4;
const LISTING_PIXELS = 15_000_000; // browsers end an element at 17 to 33 million pixels

const mountedLists = new WeakMap(); // element -> TokenList
let nextListing = 0;

export default function mountListing({ data, parentElement, setStateValue }) {
  let list = mountedLists.get(parentElement);
  if (!list) {
    list = new TokenList(parentElement);
    mountedLists.set(parentElement, list);
  }
  list.report = (value) => setStateValue("picked", value);
  list.show(data);
  return () => {
    list.destroy();
    mountedLists.delete(parentElement);
  };
}

class TokenList {
  #abort = new AbortController();
  #prefix = `token-${nextListing++}-`;
  #rows = null;
  #lines = [];
  #cursor = -1;
  #rowHeight = 28;
  #frame = 0;
  #timer = 0;
  #pending = -1; // the token that was picked and is not reported yet
  #head = {};

  constructor(root) {
    this.grid = root.querySelector(".grid");
    this.spacer = root.querySelector(".spacer");
    this.body = root.querySelector(".rows");
    this.empty = root.querySelector(".empty");
    this.status = root.querySelector(".status");
    const { signal } = this.#abort;
    this.grid.addEventListener("scroll", () => this.#ask(), { signal, passive: true });
    this.grid.addEventListener("keydown", (event) => this.#onKey(event), { signal });
    this.body.addEventListener("click", (event) => this.#onClick(event), { signal });
    this.resizeObserver = new ResizeObserver(() => this.#ask());
    this.resizeObserver.observe(this.grid);
  }

  destroy() {
    this.#abort.abort();
    this.resizeObserver.disconnect();
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
  }

  /** Shows a payload: other rows, or only another token picked out in the same rows. */
  async show(payload) {
    const head = readListingHead(payload);
    const isSame = head.id === this.#head.id;
    const isNewToken = !isSame || head.token !== this.#head.token;
    this.#head = head;
    this.grid.style.setProperty("--height", `${head.height}px`);
    if (!isSame) {
      const rows = await readRows(payload);
      if (this.#head.id !== head.id) return; // another payload came while this one was unpacked
      this.#rows = rows;
      this.#lines.forEach((line) => (line.number = -1));
      this.grid.scrollTop = 0;
      this.grid.setAttribute("aria-rowcount", String(rows.numRows + 1));
      this.grid.hidden = rows.numRows === 0;
      this.empty.hidden = rows.numRows > 0;
    }
    if (isNewToken && this.#rows) {
      this.#cursor = this.#rows.rowOf(this.#pending < 0 ? head.token : this.#pending);
      this.#measure();
      this.#centre();
    }
    this.grid.dataset.rows = this.#rows ? String(this.#rows.numRows) : "";
    this.#ask();
  }

  // --------------------------------------------------------------------------------------------------- drawing

  #ask() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #measure() {
    const line = this.#lines[0] ?? this.#addLine();
    line.hidden = false;
    this.#rowHeight = line.offsetHeight || this.#rowHeight;
    this.spacer.style.height = `${this.#pixels}px`;
  }

  get #pixels() {
    return Math.min(this.#rows.numRows * this.#rowHeight, LISTING_PIXELS);
  }

  /** Rows to a pixel of scrolling: one row's worth, unless the rows are more than an element can be high. */
  get #scale() {
    const room = this.grid.clientHeight - this.grid.firstElementChild.offsetHeight;
    const far = this.#rows.numRows * this.#rowHeight - room;
    return far > 0 ? Math.max(1, far / Math.max(1, this.#pixels - room)) : 1;
  }

  #draw() {
    const rows = this.#rows;
    if (!rows || !rows.numRows) return;
    this.#measure();
    const scrolled = this.grid.scrollTop;
    const first = (scrolled * this.#scale) / this.#rowHeight;
    const from = Math.max(0, Math.floor(first) - LISTING_SPARE_ROWS);
    const to = Math.min(rows.numRows, Math.ceil(first + this.grid.clientHeight / this.#rowHeight) + LISTING_SPARE_ROWS);
    this.body.style.transform = `translateY(${scrolled - (first - from) * this.#rowHeight}px)`;
    while (this.#lines.length < to - from) this.#addLine();
    this.#lines.forEach((line, i) => {
      const number = from + i;
      line.hidden = number >= to;
      if (line.hidden) return;
      if (line.number !== number) this.#fill(line, number);
      line.setAttribute("aria-selected", String(number === this.#cursor));
    });
    if (this.#cursor >= from && this.#cursor < to) {
      this.grid.setAttribute("aria-activedescendant", this.#prefix + this.#cursor);
    } else {
      this.grid.removeAttribute("aria-activedescendant");
    }
  }

  #addLine() {
    const line = document.createElement("div");
    line.className = "row";
    line.setAttribute("role", "row");
    for (const name of ["number", "token", "hex", "number length", "script", "notes"]) {
      const cell = document.createElement(name === "token" ? "bdi" : "span");
      cell.className = name;
      cell.setAttribute("role", "gridcell");
      line.append(cell);
    }
    line.number = -1;
    this.#lines.push(line);
    this.body.append(line);
    return line;
  }

  #fill(line, number) {
    const rows = this.#rows;
    const bytes = rows.name(number);
    const notes = rows.notes(number);
    line.number = number;
    line.id = this.#prefix + number;
    line.setAttribute("aria-rowindex", String(number + 2));
    const shown = visibleName(bytes);
    const inHex = hex(bytes.subarray(0, LISTED_HEX_BYTES)) + (bytes.length > LISTED_HEX_BYTES ? " …" : "");
    const texts = [formatNumber(rows.ids[number]), shown, inHex, formatNumber(bytes.length), rows.script(number), notes];
    texts.forEach((text, i) => (line.children[i].textContent = text));
    line.title = [shown, inHex, rows.script(number), notes].filter(Boolean).join("\n");
  }

  // --------------------------------------------------------------------------------------------------- the reader

  #onClick(event) {
    const line = event.target.closest(".row");
    if (line?.number >= 0) this.#pick(line.number, 0);
  }

  #onKey(event) {
    if (!this.#rows?.numRows || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.grid.clientHeight / this.#rowHeight) - 2);
    const last = this.#rows.numRows - 1;
    const next = {
      ArrowDown: this.#cursor + 1,
      ArrowUp: this.#cursor - 1,
      PageDown: this.#cursor + page,
      PageUp: this.#cursor - page,
      Home: 0,
      End: last,
      Enter: this.#cursor,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.#pick(Math.min(last, Math.max(0, next)), event.key === "Enter" ? 0 : LISTING_PICK_AFTER);
  }

  #pick(row, delay) {
    this.#cursor = row;
    this.#reveal();
    this.#ask();
    clearTimeout(this.#timer);
    this.#pending = this.#rows.ids[row];
    this.#timer = setTimeout(() => {
      const token = this.#pending;
      this.#pending = -1;
      const at = this.#rows.rowOf(token);
      if (at < 0) return; // other rows came in the meantime
      const bytes = this.#rows.name(at);
      this.status.textContent = `Token ${token}, ${quotedName(bytes)}, ${plural(bytes.length, "byte")}`;
      this.report({ of: this.#head.id, token });
    }, delay);
  }

  /** Scrolls the token that the page asks for into the middle. */
  #centre() {
    if (this.#cursor < 0) return;
    const room = this.grid.clientHeight - this.grid.firstElementChild.offsetHeight;
    this.grid.scrollTop = ((this.#cursor + 0.5) * this.#rowHeight - room / 2) / this.#scale;
  }

  /** Scrolls as little as brings the cursor into sight. */
  #reveal() {
    if (this.#cursor < 0) return;
    const head = this.grid.firstElementChild.offsetHeight;
    const room = this.grid.clientHeight - head;
    const top = this.#cursor * this.#rowHeight;
    const scrolled = this.grid.scrollTop * this.#scale;
    const isAbove = top < scrolled;
    const isBelow = top + this.#rowHeight > scrolled + room;
    if (isAbove) this.grid.scrollTop = top / this.#scale;
    else if (isBelow) this.grid.scrollTop = Math.ceil((top + this.#rowHeight - room) / this.#scale);
  }
}
