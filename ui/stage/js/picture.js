// What is on the stage as a picture: shapes and words with their places, in plain data, at any step. svg.js writes it
// as SVG, canvas.js draws it. Text is taken as words, because a word is what a drawing must not tear apart: letters of
// Arabic and Hindi change with their neighbours. Every word carries the width that the browser gave it.

import { Colourer } from "./colour.js";
import { BlockDrawing } from "./draw.js";
import { measureCells, visibleChunks } from "./geometry.js";
import { formatNumber, hex, plural } from "./text.js";
import { WordRuns } from "./words.js";

const MARGIN = 8;
const CAPTION_LINE = 20;
const NARROW = 600; // pixels: below, the step takes two lines
const EDGE = 4; // pixels between the border and lines that are cut out of a longer text
const WHOLE_BYTES = 8_000; // a text up to this size is drawn whole, if it is not too high
const HIGHEST_WHOLE = 4_000; // pixels
const STROKES = ["lines", "cuts", "walls", "ticks", "lit", "marks"];

/**
 * @typedef {object} Picture
 * @property {number} width
 * @property {number} height
 * @property {string} page colour of the page; all colours are #rrggbb or #rrggbbaa
 * @property {string} title what is seen, in a sentence
 * @property {string} extent how much of the text is drawn, in words
 * @property {Words[]} captions
 * @property {Frame[]} frames one a view
 *
 * @typedef {object} Frame a window onto a text: its first row is row `top` of the text
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {number} top
 * @property {number} edge pixels between the border and the window, above and below
 * @property {string} border colour
 * @property {{x: number, y: number, shapes: Shape[], words: Words[], glyphs: Glyphs}[]} layers
 *
 * @typedef {{d: string, fill?: string, stroke?: string, width?: number}} Shape
 * @typedef {object} Words
 * @property {string} text
 * @property {number} x left edge, of words that run to the left the right one
 * @property {number} y base line
 * @property {number} width
 * @property {number} [spacing] pixels after each letter
 * @property {boolean} rtl
 * @property {Font} font
 * @property {string} colour
 *
 * @typedef {{size: number, family: string, weight: string}} Font
 * @typedef {{text: string, x: number[], y: number[], font: Font, colour: string}} Glyphs each at a place of its own
 */

/**
 * @param {import("./stage.js").Stage} stage
 * @param {import("./view.js").TokenView[]} views top to bottom
 * @param {number} step
 * @returns {Picture}
 */
export function takePicture(stage, views, step) {
  const style = getComputedStyle(stage.element);
  const font = { size: 14, family: style.fontFamily, weight: "400" };
  const bold = { ...font, weight: "600" };
  const width = Math.max(...views.map((view) => view.element.offsetWidth)) + 2 * MARGIN;
  const captions = [];
  let y = MARGIN;
  const colour = plainColour(style.color);
  const write = (text, used, { atEnd = false } = {}) => {
    const taken = textWidth(text, used);
    const x = atEnd ? width - MARGIN - taken : MARGIN;
    captions.push({ text, x, y: y + 14, width: taken, rtl: false, font: used, colour });
  };
  if (stage.payload.merges.numMerges) {
    write(cut(stage.stepLabel(step), width - 2 * MARGIN, bold), bold);
    y += CAPTION_LINE;
    for (const line of fitted(stage.stepSentence(step), width - 2 * MARGIN, font, width < NARROW ? 2 : 1)) {
      write(line, font);
      y += CAPTION_LINE;
    }
  }
  const extents = [];
  const frames = views.map((view) => {
    const count = plural(view.model.numTokens(step), "token");
    write(count, font, { atEnd: true });
    write(cut(view.model.title, width - 4 * MARGIN - textWidth(count, font), bold), bold);
    y += CAPTION_LINE;
    const frame = depict(view, step, { x: MARGIN, y });
    y += frame.height + 2 * frame.edge + MARGIN;
    extents.push(frame.extent);
    return frame;
  });
  const title = stage.stepSentence(step).replace(/[\u2068\u2069]/g, "");
  const page = plainColour(style.backgroundColor);
  return { width, height: y, page, title, extent: extents.join("; "), captions, frames };
}

/** One view as a frame of a picture. */
function depict(view, step, place) {
  const { model, metrics, content, element } = view;
  const isSmall = model.numBytes <= WHOLE_BYTES;
  content.classList.toggle("is-measured", isSmall); // laid out whole, though it is off screen
  try {
    const isWhole = isSmall && content.offsetHeight <= HIGHEST_WHOLE;
    view.widen(isWhole ? view.chunks : visibleChunks(view.chunks, element.getBoundingClientRect()));
    const chunks = isWhole ? view.chunks : visibleChunks(view.chunks, element.getBoundingClientRect());
    const layers = layersOf(view, chunks, step);
    const all = { top: metrics.shift, height: content.offsetHeight - metrics.shift, edge: 0 };
    const sight = isWhole ? all : linesInSight(view, layers);
    return {
      ...place,
      ...sight,
      width: element.offsetWidth,
      border: plainColour(getComputedStyle(element).borderTopColor),
      layers: layers.map(({ x, y, shapes, words, glyphs }) => ({ x, y, shapes, words, glyphs })),
      extent: isWhole ? "the whole text" : extentOf(layers, sight, metrics, model.numBytes),
    };
  } finally {
    content.classList.remove("is-measured");
  }
}

/** Blocks with what is drawn in each, in coordinates of the block. */
function layersOf(view, chunks, step) {
  const { model, metrics, settings, content, element } = view;
  const style = getComputedStyle(content);
  const top = content.getBoundingClientRect().top;
  const { left } = element.getBoundingClientRect();
  const blocks = [...new Set(chunks.map((chunk) => chunk.block))];
  const ink = inkOf(blocks.find((block) => block.drawing).drawing);
  const colour = plainColour(style.color);
  const colourer = new Colourer(model, step);
  const font = fontOf(style);
  const baseline = baselineOf(font, metrics.line);
  return blocks.map((block) => {
    const own = chunks.filter((chunk) => chunk.block === block);
    for (const chunk of own) measureCells(chunk, model, metrics.line);
    const drawing = new BlockDrawing(block, model, step, settings, metrics);
    for (const chunk of own) drawing.addChunk(chunk, colourer);
    drawing.placeLabels();
    const words = new WordRuns();
    for (const chunk of own) words.add(chunk);
    const rect = block.getBoundingClientRect();
    return {
      x: rect.left - left,
      y: rect.top - top,
      boxes: drawing.boxes,
      shapes: shapesOf(drawing, ink),
      glyphs: { ...drawing.glyphs, ...ink.glyphs },
      words: words.close().map(({ line, ...word }) => ({
        ...word,
        y: line * metrics.line + baseline,
        font,
        colour,
      })),
    };
  });
}

/** Where text stands in its line: the browser centres ascent and descent of the first font in it. */
function baselineOf(font, line) {
  const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = measure("x", font);
  return (line - ascent - descent) / 2 + ascent;
}

/** The colours and widths that a drawing has on the page now: those of the theme, or of forced colours. */
function inkOf(drawing) {
  const strokes = STROKES.map((name) => {
    const style = getComputedStyle(drawing[name]);
    const isShown = style.display !== "none" && style.stroke !== "none";
    return { name, isShown, stroke: plainColour(style.stroke), width: parseFloat(style.strokeWidth) };
  });
  const fills = drawing.fills.map((path) => getComputedStyle(path).fill);
  const style = getComputedStyle(drawing.glyphs);
  return {
    fills: fills.map((fill) => (fill === "none" ? "" : plainColour(fill))),
    strokes: strokes.filter(({ isShown }) => isShown),
    glyphs: { font: fontOf(style), colour: plainColour(style.fill) },
  };
}

function shapesOf(drawing, ink) {
  const fills = drawing.fills.map((d, colour) => ({ d, fill: ink.fills[colour] })).filter(({ fill }) => fill);
  const strokes = ink.strokes.map(({ name, stroke, width }) => ({ d: drawing[name], stroke, width }));
  return [...fills, ...strokes].filter(({ d }) => d);
}

function fontOf(style) {
  return { size: parseFloat(style.fontSize), family: style.fontFamily, weight: style.fontWeight };
}

/** The lines that are seen whole. */
function linesInSight(view, layers) {
  const { element, content, metrics } = view;
  const from = element.getBoundingClientRect().top + element.clientTop - content.getBoundingClientRect().top;
  const tops = layers.flatMap(({ y, boxes }) => boxes.map(({ line }) => y + metrics.lineTop(line)));
  const seen = tops.filter((top) => top >= from - 2 && top + metrics.line <= from + element.clientHeight + 2);
  const lines = seen.length ? seen : tops.slice(0, 1);
  const top = lines.reduce((least, one) => Math.min(least, one), Infinity);
  const bottom = lines.reduce((most, one) => Math.max(most, one), -Infinity) + metrics.line;
  return { top, height: bottom - top, edge: EDGE };
}

/** Which bytes are drawn, in words. */
function extentOf(layers, { top, height }, metrics, numBytes) {
  let start = Infinity;
  let end = 0;
  for (const { y, boxes } of layers) {
    for (const box of boxes) {
      const at = y + metrics.lineTop(box.line);
      if (at < top - 1 || at > top + height - metrics.line + 1) continue;
      start = Math.min(start, box.start);
      end = Math.max(end, box.end);
    }
  }
  return `the lines in sight, bytes ${formatNumber(start)} to ${formatNumber(end)} of ${formatNumber(numBytes)}`;
}

let sharedRuler = null;

/** A canvas of one pixel, to measure words and to see colours. */
function rulerContext() {
  sharedRuler ??= Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", {
    willReadFrequently: true,
  });
  return sharedRuler;
}

/** A colour of the page, in whatever notation, as #rrggbb or #rrggbbaa, which every viewer reads. */
function plainColour(colour) {
  const context = rulerContext();
  context.clearRect(0, 0, 1, 1);
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
  return `#${hex(alpha === 255 ? [red, green, blue] : [red, green, blue, alpha], "")}`;
}

function measure(text, font) {
  const ruler = rulerContext();
  ruler.font = canvasFont(font);
  return ruler.measureText(text);
}

function textWidth(text, font) {
  return measure(text, font).width;
}

/** @param {Font} font @returns {string} as a canvas wants it */
export function canvasFont({ size, family, weight }) {
  return `${weight} ${size}px ${family}`;
}

/** A sentence on so many lines, empty ones included; no space is inside the name of a token. */
function fitted(text, width, font, numLines) {
  const lines = [];
  let rest = text;
  while (lines.length < numLines - 1 && textWidth(rest, font) > width) {
    const ends = Array.from(rest.matchAll(/ /g), ({ index }) => index);
    const end = ends.findLast((index) => textWidth(rest.slice(0, index), font) <= width);
    if (end === undefined) break;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end + 1);
  }
  lines.push(cut(rest, width, font));
  return [...lines, ...new Array(numLines - lines.length).fill("")];
}

/** A line that fits: what is too long ends in an ellipsis, with its isolates closed. */
function cut(text, width, font) {
  if (textWidth(text, font) <= width) return text;
  const characters = Array.from(text);
  let low = 0;
  let high = characters.length;
  const shortened = (length) => {
    const kept = characters.slice(0, length).join("");
    const open = kept.split("\u2068").length - kept.split("\u2069").length;
    return kept + "\u2069".repeat(Math.max(open, 0)) + "…";
  };
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(shortened(middle), font) <= width) low = middle;
    else high = middle - 1;
  }
  return shortened(low);
}
