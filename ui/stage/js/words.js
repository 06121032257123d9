// The text of a block as words: what a drawing must keep together, because letters of a word can join. A word is on one
// line, runs in one direction and has no white space inside. No DOM here.

const LARGEST_GAP = 6; // pixels between two cells of a word, at most: a jump is a turn of the direction

/** Gathers the cells of a block, chunk by chunk. */
export class WordRuns {
  #words = [];
  #word = null;

  add(chunk) {
    const { cells, shown, parts } = chunk;
    for (let i = 0; i < cells.count; i++) {
      const text = shown.slice(cells.unit[i], cells.unit[i + 1]);
      if (!/\S/u.test(text)) {
        this.#end();
        continue;
      }
      const spacing = parts.length > 1 ? (parts.findLast(({ unit }) => unit <= cells.unit[i])?.extra ?? 0) : 0;
      const cell = { text, left: cells.x0[i], right: cells.x1[i], line: cells.line[i], rtl: cells.rtl[i] };
      if (spacing) {
        this.#end();
        this.#words.push({ ...cell, spacing });
      } else if (this.#word && continues(this.#word, cell)) {
        this.#word.text += text;
        this.#word.left = Math.min(this.#word.left, cell.left);
        this.#word.right = Math.max(this.#word.right, cell.right);
      } else {
        this.#end();
        this.#word = cell;
      }
    }
  }

  #end() {
    if (this.#word) this.#words.push(this.#word);
    this.#word = null;
  }

  /** @returns {{text: string, x: number, width: number, spacing: number, line: number, rtl: boolean}[]} */
  close() {
    this.#end();
    return this.#words.map(({ text, left, right, spacing = 0, line, rtl }) => {
      return { text, x: rtl ? right : left, width: right - left, spacing, line, rtl };
    });
  }
}

function continues(word, cell) {
  if (word.line !== cell.line || word.rtl !== cell.rtl) return false;
  const gap = word.rtl ? word.left - cell.right : cell.left - word.right;
  return Math.abs(gap) < LARGEST_GAP;
}
