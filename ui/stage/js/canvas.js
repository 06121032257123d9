// A picture on a canvas, with the fonts that the page has. picture.js says what a picture is; svg.js is its neighbour.

import { canvasFont } from "./picture.js";

/**
 * @param {import("./picture.js").Picture} picture
 * @param {number} scale pixels of the canvas a pixel of the page
 * @returns {HTMLCanvasElement}
 */
export function canvasOf(picture, scale) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(picture.width * scale);
  canvas.height = Math.round(picture.height * scale);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.scale(scale, scale);
  context.fillStyle = picture.page;
  context.fillRect(0, 0, picture.width, picture.height);
  for (const words of picture.captions) drawWords(context, words);
  for (const frame of picture.frames) drawFrame(context, frame);
  return canvas;
}

function drawFrame(context, frame) {
  context.save();
  context.beginPath();
  context.rect(frame.x, frame.y + frame.edge, frame.width, frame.height);
  context.clip();
  context.translate(frame.x, frame.y + frame.edge - frame.top);
  for (const { x, y, shapes, glyphs, words } of frame.layers) {
    context.save();
    context.translate(x, y);
    for (const shape of shapes) drawShape(context, shape);
    drawGlyphs(context, glyphs);
    for (const word of words) drawWords(context, word);
    context.restore();
  }
  context.restore();
  context.strokeStyle = frame.border;
  context.lineWidth = 1;
  context.beginPath();
  context.roundRect(frame.x + 0.5, frame.y + 0.5, frame.width - 1, frame.height + 2 * frame.edge - 1, 6);
  context.stroke();
}

function drawShape(context, { d, fill, stroke, width }) {
  const path = new Path2D(d);
  if (fill) {
    context.fillStyle = fill;
    context.fill(path);
  } else {
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.stroke(path);
  }
}

/** Squeezed or widened where the canvas measures a word otherwise than the page, so that it fills its box. */
function drawWords(context, { text, x, y, width, spacing = 0, rtl, font, colour }) {
  context.save();
  context.font = canvasFont(font);
  context.direction = rtl ? "rtl" : "ltr";
  context.textAlign = "start";
  context.letterSpacing = `${spacing}px`;
  context.fillStyle = colour;
  const own = context.measureText(text).width;
  context.translate(x, y);
  if (own > 0 && width > 0 && Math.abs(own - width) > 0.5) context.scale(width / own, 1);
  context.fillText(text, 0, 0);
  context.restore();
}

function drawGlyphs(context, { text, x, y, font, colour }) {
  if (!text) return;
  context.font = canvasFont(font);
  context.direction = "ltr";
  context.textAlign = "start";
  context.fillStyle = colour;
  for (let i = 0; i < text.length; i++) context.fillText(text[i], x[i], y[i]);
}
