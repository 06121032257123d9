// The aligned rows as the reader meets them: bands that are in sight, the slider of the own tokenizer, the way from
// one disagreement to the next, and what every row makes of the place under the pointer.

import { measureCells } from "./geometry.js";
import { ALONE, Rows, SHARED, SOME } from "./rows_data.js";
import { byteAtX, paintBand, ROW_HEIGHT, RULER_HEIGHT, xOfByte } from "./rows_draw.js";
import { bandIndex, planBands } from "./rows_layout.js";
import { formatNumber, hex, plural, visibleName, visibleText } from "./text.js";

const BAND_GAP = 10;
const SIGHT_MARGIN = 300; // pixels
const EDGE = 20; // pixels of a band beside its names and its text
const ONE_LINE = 10_000; // line height for measuring: a band is one line, however its letters stand
const SVG = "http://www.w3.org/2000/svg";
const PATHS = ["cuts", "alone", "shared", "some", "dots"];

function make(kind, className, text = "") {
  const made = document.createElement(kind);
  made.className = className;
  made.textContent = text;
  return made;
}

export class RowsView {
  constructor(root, host) {
    this.root = root.querySelector(".aligned");
    this.host = host; // {commitStep}
    const find = (selector) => this.root.querySelector(selector);
    this.view = find(".view");
    this.content = find(".content");
    this.legend = find(".legend");
    this.status = find(".status");
    this.panel = find(".panel");
    this.slider = find(".slider");
    this.sliderLabel = find(".merges output");
    this.onlyAlone = find(".only-alone");
    this.mounted = new Map(); // index of a band -> its element
    this.place = null; // byte offset of the disagreement that is lit
    this.byte = 0; // what the panel describes
    this.widths = new Map();
    this.canvas = document.createElement("canvas").getContext("2d");
    this.frame = 0;
    this.listen(find);
    this.resizing = new ResizeObserver(() => this.layOut());
    this.resizing.observe(this.view);
    // A font that arrives late is as wide as it is: what was measured before is void.
    this.onFonts = () => this.layOut(true);
    document.fonts.addEventListener("loadingdone", this.onFonts);
  }

  listen(find) {
    find(".next").addEventListener("click", () => this.jump(1));
    find(".previous").addEventListener("click", () => this.jump(-1));
    this.onlyAlone.addEventListener("change", () => this.announce());
    this.slider.addEventListener("input", () => this.moveTo(Number(this.slider.value)));
    this.slider.addEventListener("change", () => this.host.commitStep(Number(this.slider.value)));
    this.view.addEventListener("scroll", () => this.ask(), { passive: true });
    this.view.addEventListener("pointermove", (event) => this.point(event));
    this.view.addEventListener("click", (event) => this.point(event));
    this.view.addEventListener("keydown", (event) => {
      const direction = { n: 1, ArrowRight: 1, p: -1, ArrowLeft: -1 }[event.key];
      if (!direction || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.jump(direction);
    });
  }

  load(payload) {
    const data = new Rows(payload);
    if (this.data && data.text !== this.data.text) this.view.scrollTop = 0;
    if (!this.data || data.text !== this.data.text) {
      this.place = null;
      this.byte = 0;
    }
    this.data = data;
    const { own } = data;
    this.root.classList.toggle("has-own", own !== null && own.numMerges > 0);
    this.root.classList.toggle("is-empty", data.numBytes === 0);
    this.view.style.setProperty("--rows", data.rows.length);
    if (own) this.slider.max = own.numMerges;
    this.readTheme();
    this.moveTo(data.head.step);
    this.layOut(true);
    this.describe();
  }

  readTheme() {
    const channels = getComputedStyle(this.root).backgroundColor.match(/[\d.]+/g)?.map(Number) ?? [255, 255, 255];
    const brightness = (channels[0] * 299 + channels[1] * 587 + channels[2] * 114) / 1000;
    this.root.dataset.theme = brightness < 128 ? "dark" : "light";
  }

  // ---------------------------------------------------------------- the own tokenizer's step

  moveTo(step) {
    const { data } = this;
    data.setStep(step);
    if (data.own) {
      this.slider.value = step;
      const said = `${formatNumber(step)} of ${formatNumber(data.own.numMerges)}`;
      this.sliderLabel.textContent = said;
      this.slider.setAttribute("aria-valuetext", `${said} merges, ${plural(data.own.numTokens, "token")}`);
      const share = data.own.numMerges ? (100 * step) / data.own.numMerges : 0;
      this.slider.style.setProperty("--filled", `${share}%`);
    }
    this.showLegend();
    for (const element of this.mounted.values()) element.dataset.stale = "";
    this.ask();
    this.announce();
    this.describe();
  }

  showLegend() {
    const counts = this.data.count();
    const numRows = this.data.rows.length;
    const say = (name, count) => {
      this.legend.querySelector(`.${name} b`).textContent = formatNumber(count);
    };
    say("shared", counts[SHARED]);
    say("some", counts[SOME]);
    say("dots", counts[ALONE]);
    this.legend.querySelector(".clipped").hidden = !this.data.head.is_clipped;
    this.root.classList.toggle("is-single", numRows === 1);
  }

  // ---------------------------------------------------------------- layout

  layOut(isNew = false) {
    if (!this.data) return;
    const names = this.root.querySelector(".content .names");
    const nameWidth = names ? names.getBoundingClientRect().width : this.nameWidth();
    const width = Math.max(this.view.clientWidth - nameWidth - EDGE, 80);
    if (!isNew && Math.abs(width - this.width) < 1) return;
    this.width = width;
    this.bandHeight = RULER_HEIGHT + this.data.rows.length * ROW_HEIGHT + BAND_GAP;
    const style = getComputedStyle(this.root.querySelector(".probe"));
    this.canvas.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`; // `font` is empty: ligatures are off
    this.widths.clear();
    this.bands = planBands(this.data, (grapheme) => this.widthOf(grapheme), width);
    this.content.replaceChildren();
    this.mounted.clear();
    this.content.style.height = `${this.bands.length * this.bandHeight}px`;
    if (this.place !== null) this.scrollToPlace();
    this.ask();
  }

  nameWidth() {
    return parseFloat(getComputedStyle(this.root).getPropertyValue("--names")) || 120;
  }

  widthOf(grapheme) {
    let width = this.widths.get(grapheme);
    if (width === undefined) {
      width = this.canvas.measureText(grapheme).width;
      this.widths.set(grapheme, width);
    }
    return width;
  }

  /** Draw what is in sight, once a frame. */
  ask() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.drawSight();
    });
  }

  drawSight() {
    if (!this.bands) return;
    const { scrollTop, clientHeight } = this.view;
    const first = Math.max(0, Math.floor((scrollTop - SIGHT_MARGIN) / this.bandHeight));
    const last = Math.min(this.bands.length - 1, Math.floor((scrollTop + clientHeight + SIGHT_MARGIN) / this.bandHeight));
    for (const [index, element] of this.mounted) {
      if (index >= first && index <= last) continue;
      element.remove();
      this.mounted.delete(index);
    }
    const added = [];
    for (let index = first; index <= last; index++) {
      if (!this.mounted.has(index)) added.push(this.mountBand(index));
    }
    this.content.append(...added);
    // First all reading of positions, then all writing.
    const stale = [...this.mounted].filter(([, element]) => "stale" in element.dataset);
    for (const [index, element] of stale) this.measure(this.bands[index], element);
    for (const [index, element] of stale) this.paint(this.bands[index], element);
  }

  mountBand(index) {
    const band = this.bands[index];
    const element = make("div", "band");
    element.style.top = `${index * this.bandHeight}px`;
    element.dataset.stale = "";
    element.dataset.index = index;
    const names = make("div", "names");
    names.ariaHidden = index > 0;
    const lines = make("div", "lines");
    const svg = document.createElementNS(SVG, "svg");
    svg.classList.add("drawing");
    svg.ariaHidden = "true";
    lines.append(svg);
    this.data.rows.forEach((row, number) => {
      const name = make("span", "name", row.name);
      name.title = row.name;
      names.append(name);
      const line = make("div", "line", band.shown);
      line.dir = band.direction;
      line.ariaHidden = number > 0; // a screen reader reads the text once
      lines.append(line);
    });
    element.append(names, lines);
    this.mounted.set(index, element);
    return element;
  }

  measure(band, element) {
    const line = element.querySelector(".line");
    const parts = [{ unit: 0, node: line.firstChild }];
    const { units, text } = this.data;
    const source = text.slice(units[band.start], units[band.end]);
    const chunk = { ...band, block: line, source, parts, cells: null };
    band.cells = measureCells(chunk, this.data, ONE_LINE);
  }

  paint(band, element) {
    const paths = paintBand(band, this.data);
    const nodes = [];
    const add = (className, d) => {
      if (!d) return;
      const node = document.createElementNS(SVG, "path");
      node.setAttribute("class", className);
      node.setAttribute("d", d);
      nodes.push(node);
    };
    for (const [colour, d] of paths.fills) add(`fill t${colour}`, d);
    for (const name of PATHS) add(name, paths[name]);
    this.paintPlace(band, add);
    element.querySelector("svg").replaceChildren(...nodes);
    delete element.dataset.stale;
  }

  /** The lit place: a line through all rows, solid where a row cuts, and a pointer above. */
  paintPlace(band, add) {
    const { place, data } = this;
    if (place === null || place < band.start || place >= band.end) return;
    const x = xOfByte(band.cells, place);
    let solid = "";
    let dashed = "";
    data.rows.forEach((row, number) => {
      const line = `M${x} ${RULER_HEIGHT + number * ROW_HEIGHT}v${ROW_HEIGHT}`;
      if (row.isCut(place)) solid += line;
      else dashed += line;
    });
    add("lit solid", solid);
    add("lit dashed", dashed);
    add("pointer", `M${x - 5} 0h10l-5 7Z`);
  }

  // ---------------------------------------------------------------- disagreements

  jump(direction) {
    if (!this.data) return;
    const from = this.place ?? (direction > 0 ? 0 : this.data.numBytes);
    const found = this.data.nextDifference(from, direction, this.onlyAlone.checked);
    if (found === null) {
      this.status.textContent = direction > 0 ? "No difference behind this place." : "No difference before this place.";
      return;
    }
    this.place = found;
    this.byte = found;
    this.root.dataset.place = found;
    this.scrollToPlace();
    for (const element of this.mounted.values()) element.dataset.stale = "";
    this.ask();
    this.announce();
    this.describe();
  }

  scrollToPlace() {
    const top = bandIndex(this.bands, this.place) * this.bandHeight;
    const { scrollTop, clientHeight } = this.view;
    if (top < scrollTop || top + this.bandHeight > scrollTop + clientHeight) {
      this.view.scrollTop = Math.max(0, top - Math.max(0, (clientHeight - this.bandHeight) / 2));
    }
  }

  announce() {
    const { data, place } = this;
    const onlyAlone = this.onlyAlone.checked;
    const { rank, total } = data.rankDifference(place ?? 0, onlyAlone);
    const what = onlyAlone ? "cut of one alone" : "difference";
    if (place === null || !data.isDifference(place, onlyAlone)) {
      const count = total === 1 ? `1 ${what}` : `${formatNumber(total)} ${what.replace(/^(cut|difference)/, "$1s")}`;
      this.status.textContent = total ? `${count} in this text.` : `No ${what} in this text.`;
      return;
    }
    const cutting = data.rows.filter((row) => row.isCut(place)).map((row) => row.name);
    const others = data.rows.filter((row) => !row.isCut(place)).map((row) => row.name);
    const who =
      cutting.length <= others.length
        ? `only ${cutting.join(", ")} ${cutting.length === 1 ? "cuts" : "cut"} here`
        : `all but ${others.join(", ")} cut here`;
    this.status.textContent =
      `${what[0].toUpperCase()}${what.slice(1)} ${formatNumber(rank)} of ${formatNumber(total)}, ` +
      `byte ${formatNumber(place)}: ${who}.`;
  }

  // ---------------------------------------------------------------- the place under the pointer

  point(event) {
    const element = event.target.closest?.(".band");
    const lines = element?.querySelector(".lines");
    if (!lines) return;
    const band = this.bands[Number(element.dataset.index)];
    if (!band.cells) return;
    const x = event.clientX - lines.querySelector(".line").getBoundingClientRect().left;
    const byte = byteAtX(band.cells, x);
    if (byte < 0 || byte === this.byte) return;
    this.byte = byte;
    this.describe();
  }

  /** What every row makes of one byte. */
  describe() {
    const { data, byte } = this;
    if (!data) return;
    this.panel.hidden = data.numBytes === 0;
    if (data.numBytes === 0) return;
    this.panel.querySelector(".at").textContent = `Tokens at byte ${formatNumber(byte)}`;
    this.panel.querySelector(".entries").replaceChildren(...data.rows.map((row) => this.entryOf(row, byte)));
  }

  entryOf(row, byte) {
    if (row.isEmpty) {
      const nothing = make("div", "entry");
      nothing.setAttribute("role", "listitem");
      nothing.append(make("span", "who", row.name), make("span", "token", "no token"));
      return nothing;
    }
    const start = row.startOf(byte);
    const end = row.endOf(byte);
    const bytes = this.data.bytes.subarray(start, end);
    const entry = make("div", "entry");
    entry.setAttribute("role", "listitem");
    const id = row.idAt(start);
    const name = row.names[id];
    const token = make("span", "token", name === undefined ? visibleName(bytes) : visibleText(name));
    token.dir = "auto";
    token.title = hex(bytes.subarray(0, 64));
    entry.append(make("span", "who", row.name), token, make("span", "id", this.sayId(row, id, start, end)));
    return entry;
  }

  sayId(row, id, start, end) {
    if (row.isOwn) {
      const merge = row.mergeOf(start, end);
      return merge < 0 ? "base symbol" : `merge ${formatNumber(merge + 1)}`;
    }
    return id === null || id < 0 ? "unknown" : `id ${id}`;
  }

  destroy() {
    this.resizing.disconnect();
    document.fonts.removeEventListener("loadingdone", this.onFonts);
    cancelAnimationFrame(this.frame);
  }
}
