// Names of code points. Those that follow from the number (ideographs, Hangul syllables) are computed as Unicode
// defines them; the others come with the payload, as "hex-delta NAME" lines (ui/stage/names.py writes them).

const HANGUL_FIRST = 0xac00;
const HANGUL_LAST = 0xd7a3;
const HANGUL_LEADS = "G GG N D DD R M B BB S SS  J JJ C K T P H".split(" ");
const HANGUL_VOWELS = "A AE YA YAE EO E YEO YE O WA WAE OE YO U WEO WE WI YU EU YI I".split(" ");
const HANGUL_TAILS = " G GG GS N NJ NH D L LG LM LB LS LT LP LH M B BS S SS NG J C K T P H".split(" ");
const IDEOGRAPHS = [
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0x20000, 0x323af],
];

/** @param {number} codePoint @returns {string} such as "U+00E9" */
export function codePointLabel(codePoint) {
  return "U+" + codePoint.toString(16).toUpperCase().padStart(4, "0");
}

/**
 * @param {Uint8Array | undefined} packed the payload's section `names`
 * @returns {(codePoint: number) => string} the name, or "" where the payload has none
 */
export function makeCodePointNames(packed) {
  const names = new Map();
  const lines = packed?.length ? new TextDecoder().decode(packed).split("\n") : [];
  let codePoint = 0;
  for (const line of lines) {
    const space = line.indexOf(" ");
    codePoint += parseInt(line.slice(0, space), 16);
    names.set(codePoint, line.slice(space + 1));
  }
  return (wanted) => names.get(wanted) ?? computedName(wanted);
}

function computedName(codePoint) {
  if (codePoint >= HANGUL_FIRST && codePoint <= HANGUL_LAST) {
    const index = codePoint - HANGUL_FIRST;
    const lead = HANGUL_LEADS[Math.floor(index / 588)];
    const vowel = HANGUL_VOWELS[Math.floor((index % 588) / 28)];
    return "HANGUL SYLLABLE " + lead + vowel + HANGUL_TAILS[index % 28];
  }
  if (IDEOGRAPHS.some(([first, last]) => codePoint >= first && codePoint <= last)) {
    return "CJK UNIFIED IDEOGRAPH-" + codePoint.toString(16).toUpperCase();
  }
  return "";
}
