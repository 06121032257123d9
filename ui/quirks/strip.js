// Draws texts as rows of tokens: a box a token, its characters inside, what is said of it underneath.
// All text arrives as data and becomes text nodes. ui/quirks/strips.py is the other end.

import { hueOfBytes } from "./colour.js";

function element(kind, className, text = "") {
  const made = document.createElement(kind);
  made.className = className;
  made.textContent = text;
  return made;
}

function bytesOfHex(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Two shades of a hue alternate where neighbours share it, as in the stage. */
function coloursOf(tokens) {
  let lastHue = -1;
  let shade = 0;
  return tokens.map(({ hex }) => {
    const bytes = bytesOfHex(hex);
    const hue = hueOfBytes(bytes, 0, bytes.length);
    shade = hue === lastHue ? 1 - shade : 0;
    lastHue = hue;
    return 2 * hue + shade;
  });
}

/** In columns every character is as wide as the next, so that digits of one place stand below each other. */
function drawToken(token, colour, inColumns) {
  const box = element("span", "token");
  box.setAttribute("role", "listitem");
  const name = element("span", `name t${colour}`);
  name.dir = "auto";
  for (const [text, isHit] of token.runs) {
    const parts = inColumns ? [...text] : [text];
    for (const part of parts) name.append(element(isHit ? "mark" : "span", "run", part));
  }
  box.append(name, element("span", "under", token.under));
  return box;
}

function drawStrip(strip, inColumns) {
  const section = element("section", "strip");
  const heading = element("p", "heading");
  heading.append(element("span", "title", strip.title), element("span", "note", strip.note));
  const row = element("div", "tokens");
  row.setAttribute("role", "list");
  row.setAttribute("aria-label", `${strip.title}: ${strip.note}`);
  const colours = coloursOf(strip.tokens);
  strip.tokens.forEach((token, place) => {
    row.append(drawToken(token, colours[place], inColumns));
    if (token.endsLine) row.append(element("span", "line-end"));
  });
  if (strip.more) row.append(element("span", "more", strip.more));
  section.append(heading, row);
  return section;
}

function readTheme(root) {
  const channels = getComputedStyle(root).backgroundColor.match(/[\d.]+/g)?.map(Number) ?? [255, 255, 255];
  const brightness = (channels[0] * 299 + channels[1] * 587 + channels[2] * 114) / 1000;
  root.dataset.theme = brightness < 128 ? "dark" : "light";
}

export default function mountStrips({ data, parentElement }) {
  const root = parentElement.querySelector(".strips");
  readTheme(root);
  root.dataset.layout = data.layout;
  root.replaceChildren(...data.strips.map((strip) => drawStrip(strip, data.layout === "columns")));
}
