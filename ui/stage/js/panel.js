// What there is to know about one token: rows of label and text. `describeToken` is pure; `Panel` shows its rows.

import { codePointLabel } from "./names.js";
import { decodeStrict } from "./model.js";
import { displayText, formatNumber, hex, plural, quotedName } from "./text.js";

const MOST_BYTES = 24;
const MOST_CHARACTERS = 12;

/**
 * @param {ReturnType<import("./model.js").readPayload>} payload
 * @param {import("./model.js").TextModel} model the text that holds the token
 * @returns {[string, string][]} label and text
 */
export function describeToken(payload, model, [start, end], step) {
  const id = model.idOf(start, end, step);
  const bytes = model.bytes.subarray(start, end);
  const rows = [
    ["Token", describeName(payload, bytes, id)],
    ["Token id", id < 0 ? "unknown: the vocabulary has no such token" : String(id)],
    ["Bytes", describeBytes(bytes, start)],
    ["Characters", describeCharacters(payload, model, start, end)],
  ];
  rows.push(["Made by", describeOrigin(payload, model, [start, end], id)]);
  if (id >= 0) rows.push(["In this text", describePlaces(payload, model, [start, end], step, id)]);
  return rows;
}

/** The text of the token; and its name, where the vocabulary writes it otherwise (`##ing`, `▁the`). */
function describeName(payload, bytes, id) {
  const shown = quotedName(bytes);
  const name = payload.vocabulary.nameBytes(id);
  const isSame = !name || (name.length === bytes.length && name.every((byte, i) => byte === bytes[i]));
  return isSame ? shown : `${shown}, named ${quotedName(name)}`;
}

function describeBytes(bytes, start) {
  const shown = hex(bytes.subarray(0, MOST_BYTES)) + (bytes.length > MOST_BYTES ? " …" : "");
  return `${shown} (${plural(bytes.length, "byte")}, from byte ${formatNumber(start)})`;
}

function describeCharacters(payload, model, start, end) {
  const text = decodeStrict(model.bytes.subarray(start, end));
  if (text === null) {
    const chars = partialCharacters(model, start, end);
    return "part of " + listed(chars, (char) => `${displayText(char)} ${named(payload, char)}`);
  }
  return listed(Array.from(text), (char) => named(payload, char));
}

/** The characters that a token has bytes of, when it does not hold them all whole. */
function partialCharacters(model, start, end) {
  const from = model.units[start];
  let last = end - 1;
  while (last > start && model.units[last] === model.units[last - 1]) last--;
  const lastChar = String.fromCodePoint(model.text.codePointAt(model.units[last]));
  return Array.from(model.text.slice(from, model.units[last] + lastChar.length));
}

function named(payload, char) {
  const codePoint = char.codePointAt(0);
  return `${codePointLabel(codePoint)} ${payload.codePointName(codePoint)}`.trim();
}

function listed(chars, describe) {
  const more = chars.length - MOST_CHARACTERS;
  const shown = chars.slice(0, MOST_CHARACTERS).map(describe).join("; ");
  return more > 0 ? `${shown}; and ${plural(more, "more character")}` : shown;
}

function describeOrigin(payload, model, [start, end], id) {
  const { merges, vocabulary } = payload;
  if (!merges.numMerges) return "the vocabulary itself: this tokenizer has no merges";
  const rank = model.rank(start, end);
  if (rank < 0) return "base symbol: there before the first merge";
  const row = vocabulary.rowOfToken(id);
  if (row < 0) return `no merge of its own; its last inner boundary goes at merge rank ${formatNumber(rank)}`;
  const left = quotedName(vocabulary.nameBytes(merges.left[row]));
  const right = quotedName(vocabulary.nameBytes(merges.right[row]));
  const count = merges.count ? `, pair count ${formatNumber(merges.count[row])} in training` : "";
  return `merge rank ${formatNumber(merges.rank[row])}: ${left} + ${right}${count}`;
}

function describePlaces(payload, model, token, step, id) {
  const now = `${plural(model.numAlike(token[0], token[1], step), "place")} now`;
  const row = payload.vocabulary.rowOfToken(id);
  if (row < 0) return now;
  return `${now}, made ${plural(model.numPlaces(payload.merges.rank[row]), "time")} in all`;
}

/** Shows rows as a description list; a row that stays is not touched. */
export class Panel {
  constructor(element) {
    this.element = element;
    this.cells = [];
  }

  show(rows) {
    while (this.cells.length < rows.length) {
      const label = document.createElement("dt");
      const text = document.createElement("dd");
      this.element.append(label, text);
      this.cells.push({ label, text });
    }
    this.cells.forEach(({ label, text }, i) => {
      const row = rows[i];
      label.hidden = text.hidden = !row;
      setText(label, row?.[0] ?? "");
      setText(text, row?.[1] ?? "");
    });
  }
}

/** Sets the text of an element if it differs: an equal text would still cost a layout. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
