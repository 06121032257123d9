// The rows of the list, as ui/vocabulary/listing.py packs them. No DOM here.

/** @param {Uint8Array} payload @returns {object} the head */
export function readListingHead(payload) {
  return JSON.parse(new TextDecoder().decode(payload.subarray(4, bodyStart(payload))));
}

/** @param {Uint8Array} payload @returns {Promise<TokenRows>} */
export async function readRows(payload) {
  const stream = new Blob([payload.subarray(bodyStart(payload))]).stream();
  const inflated = await new Response(stream.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
  return new TokenRows(readListingHead(payload), inflated);
}

function bodyStart(payload) {
  return 4 + new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
}

export class TokenRows {
  /** @param {{num_rows: number, scripts: string[], kinds: object, reasons: object}} head @param {ArrayBuffer} body */
  constructor(head, body) {
    const n = head.num_rows;
    this.numRows = n;
    this.scripts = head.scripts;
    this.kindWords = Object.entries(head.kinds).map(([bit, words]) => [Number(bit), words]);
    this.reasonWords = head.reasons;
    this.ids = runningSum(new Int32Array(body, 0, n));
    this.lengths = new Uint32Array(body, 4 * n, n);
    this.ends = runningSum(this.lengths);
    this.scriptOf = new Uint8Array(body, 8 * n, n);
    this.kinds = new Uint8Array(body, 9 * n, n);
    this.reasons = new Uint8Array(body, 10 * n, n);
    this.names = new Uint8Array(body, 11 * n);
  }

  /** @param {number} row @returns {Uint8Array} the bytes of the token */
  name(row) {
    return this.names.subarray(this.ends[row] - this.lengths[row], this.ends[row]);
  }

  script(row) {
    return this.scripts[this.scriptOf[row]];
  }

  /** Kinds of the token, and why its own text does not produce it, in a few words. */
  notes(row) {
    const words = this.kindWords.filter(([bit]) => this.kinds[row] & bit).map(([, kind]) => kind);
    const reason = this.reasonWords[this.reasons[row]];
    return (reason ? [reason, ...words] : words).join(", ");
  }

  /** @param {number} id @returns {number} the row of a token, or -1 */
  rowOf(id) {
    return this.ids.indexOf(id);
  }
}

function runningSum(values) {
  const sums = new Int32Array(values.length);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sums[i] = sum += values[i];
  return sums;
}
