// Colours: the hue follows from the token's name, so a token keeps it while the reader scrubs; of each hue there
// are two shades, which alternate inside a run of neighbours of one hue, so neighbours always differ.
// The colours themselves are in ui/stage/palette.json, as CSS classes t0, t1, ... (hue * 2 + shade).

export const NUM_HUES = 6;
export const NUM_COLOURS = 2 * NUM_HUES;

// A run of one hue is followed back at most so far (tokens, bytes): a million equal tokens would cost a frame.
const LONGEST_RUN_TOKENS = 4096;
const LONGEST_RUN_BYTES = 65536;

/** Hue of some bytes: FNV-1a, then two rounds of mixing, because its low bits alone repeat for short tokens. */
export function hueOfBytes(bytes, start, end) {
  let hash = 2166136261;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 16777619);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  hash ^= hash >>> 13;
  return (hash >>> 0) % NUM_HUES;
}

/** Hue of a token id, by its name. */
export function hueOfId(vocabulary, id) {
  const name = vocabulary.nameBytes(id);
  return name ? hueOfBytes(name, 0, name.length) : 0;
}

/** Hue of the token [start, end). Without merges the name can differ from the text (`##ing`), so the id decides. */
export function hueOfToken(model, start, end) {
  if (model.numMerges === 0) {
    const id = model.idOf(start, end, 0);
    if (id >= 0 && model.vocabulary.nameLength(id)) return hueOfId(model.vocabulary, id);
  }
  return hueOfBytes(model.bytes, start, model.nameEnd(start, end));
}

/** Colours tokens one after another, in text order. */
export class Colourer {
  #lastStart = -1;
  #lastEnd = -1;
  #hue = -1;
  #shade = 0;

  constructor(model, step) {
    this.model = model;
    this.step = step;
  }

  /** @returns {number} colour of the token [start, end), 0 to NUM_COLOURS - 1 */
  colour(start, end) {
    if (start !== this.#lastStart) {
      const hue = hueOfToken(this.model, start, end);
      if (start !== this.#lastEnd) this.#shade = this.#shadeFromText(start, hue);
      else this.#shade = hue === this.#hue ? 1 - this.#shade : 0;
      this.#hue = hue;
      this.#lastStart = start;
      this.#lastEnd = end;
    }
    return this.#hue * 2 + this.#shade;
  }

  /** Shade of a token whose neighbour was not coloured before: by its place in the run of its hue. */
  #shadeFromText(start, hue) {
    const { model, step } = this;
    let length = 0;
    let at = start;
    while (at > 0 && length < LONGEST_RUN_TOKENS && start - at < LONGEST_RUN_BYTES) {
      const previous = model.start(at - 1, step);
      if (hueOfToken(model, previous, at) !== hue) break;
      at = previous;
      length++;
    }
    return length & 1;
  }
}
