// The stage's data: payload -> vocabulary, merges, and for each view its text and boundary lifetimes. No DOM here.
// The layout of a payload is described in ui/stage/payload.py. Neighbours: text.js (what is shown), draw.js (how).

import { makeCodePointNames } from "./names.js";

const ARRAY_TYPES = { u1: Uint8Array, i2: Int16Array, i4: Int32Array, f8: Float64Array };
const INSIDE = -1; // a byte boundary inside a base symbol: never a cut
export const UNKNOWN = -1; // the token id of what no name fits

/**
 * The head of a payload, without its sections.
 * @param {Uint8Array} payload
 */
export function readHead(payload) {
  const length = new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(payload.subarray(4, 4 + length)));
}

/**
 * Everything in a payload, ready to be asked.
 * @param {Uint8Array} payload
 */
export function readPayload(payload) {
  const head = readHead(payload);
  const bodyStart = 4 + new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
  const sections = {};
  for (const [name, [offset, length, type]] of Object.entries(head.sections)) {
    const start = bodyStart + offset;
    // A copy: the payload may start anywhere in its buffer, a typed array has to be aligned.
    sections[name] = new ARRAY_TYPES[type](payload.slice(start, start + length).buffer);
  }
  const merges = new Merges(sections, head.num_merges);
  const vocabulary = new Vocabulary(sections, merges);
  const views = head.views.map((view, number) => {
    const text = {
      title: view.title,
      bytes: sections[`text${number}`],
      lifetimes: sections[`lifetimes${number}`],
      finalIds: sections[`final_ids${number}`],
    };
    return new TextModel(text, merges, vocabulary);
  });
  return { head, merges, vocabulary, views, codePointName: makeCodePointNames(sections.names) };
}

/** First position in the ascending `values` whose value is at least `wanted`. */
export function lowerBound(values, wanted) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The merges that are listed, one a row, ascending by rank. Ranks count all merges of the tokenizer. */
export class Merges {
  constructor(sections, numMerges) {
    this.numMerges = numMerges;
    this.rank = sections.rank;
    this.left = sections.left;
    this.right = sections.right;
    this.token = sections.token;
    this.count = sections.count;
    this.numTied = sections.num_tied;
    this.numReplaced = sections.num_replaced;
    this.numTokensAfter = sections.num_tokens_after;
  }

  get numRows() {
    return this.rank.length;
  }

  /** @returns {number} the row of a merge rank, or -1 if that merge is not listed */
  rowOfRank(rank) {
    const row = lowerBound(this.rank, rank);
    return this.rank[row] === rank ? row : -1;
  }

  /** @returns {number} the row that step `step` has just done, or -1 */
  rowOfStep(step) {
    return step > 0 ? this.rowOfRank(step - 1) : -1;
  }

  /** @returns {number} how many listed merges have been done after `step` merges */
  numRowsDone(step) {
    return lowerBound(this.rank, step);
  }

  /** The next step in a direction at which a listed merge is the latest one; at the ends, the end. */
  neighbourStep(step, direction) {
    const done = this.numRowsDone(step);
    if (direction > 0) return done < this.numRows ? this.rank[done] + 1 : this.numMerges;
    const current = this.rowOfStep(step);
    const previous = (current >= 0 ? current : done) - 1;
    return previous >= 0 ? this.rank[previous] + 1 : 0;
  }
}

/** What every token id is called, and which id goes by a name. Names are bytes. */
export class Vocabulary {
  #base = new Map();
  #baseIds = new Map();
  #rowOfToken = new Map();
  #nameLength;
  #rowsOfLength = null;
  #rowNames = new Map();

  constructor(sections, merges) {
    this.merges = merges;
    let start = 0;
    sections.base_ids.forEach((id, i) => {
      const name = sections.base_bytes.subarray(start, sections.base_ends[i]);
      this.#base.set(id, name);
      const key = bytesKey(name, 0, name.length);
      if (!this.#baseIds.has(key)) this.#baseIds.set(key, id);
      start = sections.base_ends[i];
    });
    for (let row = 0; row < merges.numRows; row++) {
      if (!this.#rowOfToken.has(merges.token[row])) this.#rowOfToken.set(merges.token[row], row);
    }
    this.#nameLength = new Float64Array(merges.numRows);
    for (let row = 0; row < merges.numRows; row++) this.#measureName(row);
  }

  /** Parents first. Nearly always they have a lower rank and are done; in a table of ranks they need not. */
  #measureName(row) {
    const { merges } = this;
    const pending = [row];
    while (pending.length) {
      const current = pending[pending.length - 1];
      const parents = [merges.left[current], merges.right[current]];
      const missing = parents
        .map((id) => this.rowOfToken(id))
        .filter((parent) => parent >= 0 && !this.#nameLength[parent]);
      if (missing.length && !this.#nameLength[current]) {
        pending.push(...missing);
      } else {
        this.#nameLength[current] = this.nameLength(parents[0]) + this.nameLength(parents[1]);
        pending.pop();
      }
    }
  }

  /** @returns {number} the row that made a token, or -1 for one that no listed merge made */
  rowOfToken(id) {
    return this.#rowOfToken.get(id) ?? -1;
  }

  nameLength(id) {
    const row = this.rowOfToken(id);
    return row >= 0 ? this.#nameLength[row] : (this.#base.get(id)?.length ?? 0);
  }

  /** @returns {Uint8Array | null} the name of a token, null if the payload does not say */
  nameBytes(id) {
    if (this.rowOfToken(id) < 0) return this.#base.get(id) ?? null;
    const name = new Uint8Array(this.nameLength(id));
    const pending = [id]; // a stack, not recursion: a token can be as deep as there are merges
    let filled = 0;
    while (pending.length) {
      const next = pending.pop();
      const row = this.rowOfToken(next);
      if (row >= 0) {
        pending.push(this.merges.right[row], this.merges.left[row]);
      } else {
        const base = this.#base.get(next);
        if (!base) return null;
        name.set(base, filled);
        filled += base.length;
      }
    }
    return name;
  }

  /** @returns {number} the id of a base symbol or special token by its bytes, or UNKNOWN */
  baseIdOf(bytes, start, end) {
    return this.#baseIds.get(bytesKey(bytes, start, end)) ?? UNKNOWN;
  }

  /** @returns {number} the id of any token by its bytes (of several, the one that was made first), or UNKNOWN */
  idOf(bytes, start, end) {
    const base = this.baseIdOf(bytes, start, end);
    if (base !== UNKNOWN) return base;
    const length = end - start;
    return this.#namesOfLength(length).get(bytesKey(bytes, start, end)) ?? UNKNOWN;
  }

  /** Names are spelled out one length at a time, when first asked for: most lengths never are. */
  #namesOfLength(length) {
    if (!this.#rowsOfLength) {
      this.#rowsOfLength = new Map();
      this.#nameLength.forEach((n, row) => {
        if (!this.#rowsOfLength.has(n)) this.#rowsOfLength.set(n, []);
        this.#rowsOfLength.get(n).push(row);
      });
    }
    let names = this.#rowNames.get(length);
    if (!names) {
      names = new Map();
      for (const row of this.#rowsOfLength.get(length) ?? []) {
        const id = this.merges.token[row];
        const name = this.nameBytes(id);
        const key = name && bytesKey(name, 0, name.length);
        if (key !== null && !names.has(key)) names.set(key, id);
      }
      this.#rowNames.set(length, names);
    }
    return names;
  }
}

/** Bytes as a string, one character a byte: a key for maps. */
function bytesKey(bytes, start, end) {
  let key = "";
  for (let i = start; i < end; i++) key += String.fromCharCode(bytes[i]);
  return key;
}

function startsWith(bytes, start, name) {
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name[i]) return false;
  return true;
}

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @returns {string | null} the bytes as text, null if they are not whole characters */
export function decodeStrict(bytes) {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return null;
  }
}

/** A text and the lifetime of each of its byte boundaries: boundary i lies between bytes i and i + 1. */
export class TextModel {
  #first; // #first[r]: how many boundaries go at a rank below r
  #places; // boundaries that go, ordered by rank, then by place
  #finalStarts = null;
  #counts = { step: -1, ids: new Map() };

  constructor({ title, bytes, lifetimes, finalIds }, merges, vocabulary) {
    this.title = title;
    this.bytes = bytes;
    this.lifetimes = lifetimes;
    this.finalIds = finalIds;
    this.merges = merges;
    this.vocabulary = vocabulary;
    this.numBytes = bytes.length;
    this.numMerges = merges.numMerges;
    this.never = lifetimes.BYTES_PER_ELEMENT === 2 ? 0x7fff : 0x7fffffff;
    this.wall = this.never - 1;
    this.text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    this.units = unitOffsets(bytes);
    this.#sortBoundaries();
    this.hasWideSymbols = this.#findWideSymbols();
  }

  /** A counting sort of the boundaries by lifetime: linear, and every step's figures follow from it. */
  #sortBoundaries() {
    const { lifetimes, numMerges } = this;
    const first = new Uint32Array(numMerges + 1);
    let numBoundaries = 0;
    for (let i = 0; i < lifetimes.length; i++) {
      const life = lifetimes[i];
      if (life === INSIDE) continue;
      numBoundaries++;
      if (life < numMerges) first[life + 1]++;
    }
    for (let rank = 0; rank < numMerges; rank++) first[rank + 1] += first[rank];
    const places = new Uint32Array(first[numMerges]);
    const next = first.slice();
    for (let i = 0; i < lifetimes.length; i++) {
      const life = lifetimes[i];
      if (life !== INSIDE && life < numMerges) places[next[life]++] = i;
    }
    this.#first = first;
    this.#places = places;
    this.numSymbols = this.numBytes ? numBoundaries + 1 : 0;
  }

  /** Does a base symbol hold more than one character (an end-of-word mark and white space after it)? */
  #findWideSymbols() {
    for (let i = 0; i < this.lifetimes.length; i++) {
      if (this.lifetimes[i] === INSIDE && !isContinuation(this.bytes[i + 1])) return true;
    }
    return false;
  }

  /** @returns {number} tokens after `step` merges: every boundary that goes is a token fewer */
  numTokens(step) {
    return this.numSymbols - this.#first[step];
  }

  /** @returns {Uint32Array} the boundaries that a merge rank removes, in text order */
  places(rank) {
    return this.#places.subarray(this.#first[rank], this.#first[rank + 1]);
  }

  numPlaces(rank) {
    return this.#first[rank + 1] - this.#first[rank];
  }

  /** @returns {number} where the token that holds byte `at` starts */
  start(at, step) {
    const { lifetimes } = this;
    while (at > 0 && lifetimes[at - 1] < step) at--;
    return at;
  }

  /** @returns {number} where the token that holds byte `at` ends (the byte after it) */
  end(at, step) {
    const { lifetimes, numBytes } = this;
    while (at < numBytes - 1 && lifetimes[at] < step) at++;
    return Math.min(at + 1, numBytes);
  }

  /** @returns {boolean} whether the byte offset lies between two pre-tokens */
  isWall(offset) {
    return offset > 0 && this.lifetimes[offset - 1] === this.wall;
  }

  /** @returns {number} the merge rank that made a token, -1 for a base symbol */
  rank(start, end) {
    let rank = INSIDE;
    for (let i = start; i < end - 1; i++) if (this.lifetimes[i] > rank) rank = this.lifetimes[i];
    return rank;
  }

  /**
   * Where the name of a token ends in the text: before the white space that its last base symbol may take in
   * after an end-of-word mark.
   */
  nameEnd(start, end) {
    if (!this.hasWideSymbols || end - start < 2 || this.lifetimes[end - 2] !== INSIDE) return end;
    let symbol = end - 1;
    while (symbol > start && this.lifetimes[symbol - 1] === INSIDE) symbol--;
    if (this.vocabulary.baseIdOf(this.bytes, symbol, end) !== UNKNOWN) return end;
    const text = decodeStrict(this.bytes.subarray(symbol, end));
    const kept = text?.trimEnd();
    if (!kept) return end;
    return symbol + new TextEncoder().encode(kept).length;
  }

  /**
   * The id of the token [start, end) after `step` merges, UNKNOWN rather than a wrong one. After all merges the
   * tokenizer's own ids are exact; before, the merge that made the token tells; failing that, its bytes do.
   */
  idOf(start, end, step) {
    if (step === this.numMerges) return this.finalIds[this.#ordinal(start)] ?? UNKNOWN;
    const { bytes, merges, vocabulary } = this;
    const nameEnd = this.nameEnd(start, end);
    const rank = this.rank(start, end);
    if (rank < 0) return vocabulary.baseIdOf(bytes, start, nameEnd);
    const row = merges.rowOfRank(rank);
    if (row >= 0 && vocabulary.nameLength(merges.token[row]) === nameEnd - start) {
      const name = vocabulary.nameBytes(merges.token[row]);
      if (name && startsWith(bytes, start, name)) return merges.token[row];
    }
    return vocabulary.idOf(bytes, start, nameEnd);
  }

  /** @returns {number} how many tokens of the final state start before this byte */
  #ordinal(start) {
    if (!this.#finalStarts) {
      const { lifetimes, numMerges, numBytes } = this;
      const starts = new Uint32Array(this.numTokens(numMerges));
      let filled = numBytes ? 1 : 0;
      for (let i = 0; i < lifetimes.length; i++) if (lifetimes[i] >= numMerges) starts[filled++] = i + 1;
      this.#finalStarts = starts;
    }
    return lowerBound(this.#finalStarts, start);
  }

  /** @returns {number} how many tokens after `step` merges have the id of the token [start, end) */
  numAlike(start, end, step) {
    const id = this.idOf(start, end, step);
    if (this.#counts.step !== step) this.#counts = { step, ids: new Map() };
    const known = this.#counts.ids;
    if (!known.has(id)) known.set(id, this.#countAlike(start, end, step, id));
    return known.get(id);
  }

  #countAlike(start, end, step, id) {
    if (step === this.numMerges) {
      let count = 0;
      for (const other of this.finalIds) if (other === id) count++;
      return count;
    }
    const rank = this.rank(start, end);
    const nameLength = this.nameEnd(start, end) - start;
    const name = this.bytes.subarray(start, start + nameLength);
    let count = 0;
    const consider = (at) => {
      const a = this.start(at, step);
      const z = this.end(at, step);
      const alike = this.nameEnd(a, z) - a === nameLength && startsWith(this.bytes, a, name);
      if (alike && this.rank(a, z) === rank) count++;
    };
    if (rank >= 0) {
      this.places(rank).forEach(consider);
    } else {
      for (let i = 0; i < this.numBytes; i++) {
        if (this.bytes[i] === name[0] && (i === 0 || this.lifetimes[i - 1] >= step)) consider(i);
      }
    }
    return count;
  }
}

function isContinuation(byte) {
  return (byte & 0xc0) === 0x80;
}

/**
 * @param {Uint8Array} bytes UTF-8
 * @returns {Uint32Array} UTF-16 offset of each byte offset; inside a character, where the character starts
 */
export function unitOffsets(bytes) {
  const units = new Uint32Array(bytes.length + 1);
  let unit = 0;
  for (let i = 0; i < bytes.length;) {
    const lead = bytes[i];
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    for (let k = 0; k < length && i + k < bytes.length; k++) units[i + k] = unit;
    unit += length === 4 ? 2 : 1;
    i += length;
  }
  units[bytes.length] = unit;
  return units;
}
