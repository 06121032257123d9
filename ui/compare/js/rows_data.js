// The data of the aligned rows: payload -> text, and for each row where it cuts, at any step of the own tokenizer.
// The layout of a payload is described in ui/compare/payload.py. No DOM here.

import { lowerBound, readHead, unitOffsets } from "./model.js";

const SECTION_TYPES = { u1: Uint8Array, i4: Int32Array };

/** What the rows at one place say together. */
export const NO_CUT = 0;
export const SHARED = 1;
export const SOME = 2;
export const ALONE = 3;

/** One tokenizer's cuts. The own one has lifetimes and a step; the others have bits. */
class Row {
  constructor(head, names, sections, number, numBytes) {
    this.name = head.name;
    this.names = names;
    this.numMerges = head.num_merges;
    this.isOwn = `lifetimes${number}` in sections;
    this.lifetimes = sections[`lifetimes${number}`];
    this.bits = sections[`cuts${number}`];
    this.ids = sections[`ids${number}`];
    this.total = head.num_tokens;
    this.numBytes = numBytes;
    this.step = head.num_merges;
    this.isEmpty = !this.isOwn && this.total === 0; // normalization left nothing of the text
    this.starts = null; // byte offsets of tokens, made when ids are first asked for
  }

  /** Does a token end at this byte offset? Start and end of the text are no cuts. */
  isCut(at) {
    if (at <= 0 || at >= this.numBytes) return false;
    if (this.isOwn) return this.lifetimes[at - 1] >= this.step;
    return ((this.bits[(at - 1) >> 3] >> ((at - 1) & 7)) & 1) === 1;
  }

  /** First byte of the token that holds a byte. */
  startOf(byte) {
    while (byte > 0 && !this.isCut(byte)) byte--;
    return byte;
  }

  /** Byte after the token that holds a byte. */
  endOf(byte) {
    byte++;
    while (byte < this.numBytes && !this.isCut(byte)) byte++;
    return byte;
  }

  /** Tokens of the text; of the own row, of what is drawn, at its step. */
  get numTokens() {
    if (!this.isOwn) return this.total;
    let count = this.numBytes > 0 ? 1 : 0;
    for (const lifetime of this.lifetimes) if (lifetime >= this.step) count++;
    return count;
  }

  /** Id of the token that starts at a byte; null where it is not known. */
  idAt(start) {
    if (this.isOwn) return null;
    if (!this.starts) {
      const starts = [0];
      for (let at = 1; at < this.numBytes; at++) if (this.isCut(at)) starts.push(at);
      this.starts = starts;
    }
    return this.ids[lowerBound(this.starts, start)] ?? null;
  }

  /** The merge that made a token of the own row: the youngest inside it. -1 for a base symbol. */
  mergeOf(start, end) {
    let youngest = -1;
    for (let at = start + 1; at < end; at++) youngest = Math.max(youngest, this.lifetimes[at - 1]);
    return youngest;
  }
}

/** A text and its rows. */
export class Rows {
  constructor(payload) {
    this.head = readHead(payload);
    const bodyStart = 4 + new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
    const sections = {};
    for (const [name, [offset, length, type]] of Object.entries(this.head.sections)) {
      const start = bodyStart + offset;
      sections[name] = new SECTION_TYPES[type](payload.slice(start, start + length).buffer);
    }
    this.bytes = sections.text;
    this.numBytes = this.bytes.length;
    this.text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.bytes);
    this.units = unitOffsets(this.bytes); // byte offset -> UTF-16 offset
    this.rows = this.head.rows.map(
      (head, number) => new Row(head, this.head.names[number], sections, number, this.numBytes),
    );
    this.own = this.rows.find((row) => row.isOwn) ?? null;
    this.fixedVotes = new Uint8Array(this.numBytes);
    for (const row of this.rows) {
      if (row.isOwn) continue;
      for (let at = 1; at < this.numBytes; at++) if (row.isCut(at)) this.fixedVotes[at]++;
    }
  }

  setStep(step) {
    if (this.own) this.own.step = step;
  }

  /** How many rows cut at this byte offset. */
  votes(at) {
    return this.fixedVotes[at] + (this.own?.isCut(at) ? 1 : 0);
  }

  /** NO_CUT, SHARED by all rows, SOME, or of one row ALONE. */
  kind(at) {
    const votes = this.votes(at);
    if (votes === 0) return NO_CUT;
    if (votes === this.rows.length) return SHARED;
    return votes === 1 ? ALONE : SOME;
  }

  /** How many places there are of each kind. */
  count() {
    const counts = [0, 0, 0, 0];
    for (let at = 1; at < this.numBytes; at++) counts[this.kind(at)]++;
    return counts;
  }

  /** Is this a place to stop at: a disagreement, or only a cut of one row alone? */
  isDifference(at, onlyAlone) {
    const kind = this.kind(at);
    return kind === ALONE || (kind === SOME && !onlyAlone);
  }

  /** The next place to stop at behind a byte offset, forwards (1) or backwards (-1); null if there is none. */
  nextDifference(from, direction, onlyAlone) {
    for (let at = from + direction; at > 0 && at < this.numBytes; at += direction) {
      if (this.isDifference(at, onlyAlone)) return at;
    }
    return null;
  }

  /** Which of the places to stop at this is, from 1, and how many there are. */
  rankDifference(place, onlyAlone) {
    let rank = 0;
    let total = 0;
    for (let at = 1; at < this.numBytes; at++) {
      if (!this.isDifference(at, onlyAlone)) continue;
      total++;
      if (at <= place) rank++;
    }
    return { rank, total };
  }
}
