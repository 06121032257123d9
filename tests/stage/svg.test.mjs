import assert from "node:assert/strict";
import { test } from "node:test";

import { svgOf, xmlText } from "../../ui/stage/js/svg.js";
import { WordRuns } from "../../ui/stage/js/words.js";

/** A chunk whose letters are 10 pixels wide, on one line; `rtl` says of each letter which way it runs. */
function chunk(shown, { rtl = [], line = [], x = null, parts = [{ unit: 0, extra: 0 }] } = {}) {
  const letters = Array.from(shown);
  const x0 = x ?? letters.map((_, i) => 10 * i);
  const unit = [0];
  for (const letter of letters) unit.push(unit.at(-1) + letter.length);
  return {
    shown,
    parts,
    cells: {
      count: letters.length,
      unit,
      x0,
      x1: x0.map((left) => left + 10),
      line: letters.map((_, i) => line[i] ?? 0),
      rtl: letters.map((_, i) => rtl[i] ?? false),
    },
  };
}

function wordsOf(...chunks) {
  const runs = new WordRuns();
  for (const one of chunks) runs.add(one);
  return runs.close();
}

test("words end at white space and at the end of a line, not at the end of a chunk", () => {
  const words = wordsOf(chunk("ab cd", { line: [0, 0, 0, 0, 1] }), chunk("e", { line: [1], x: [50] }));
  assert.deepEqual(
    words.map(({ text, x, width, line }) => [text, x, width, line]),
    [
      ["ab", 0, 20, 0],
      ["c", 30, 10, 0],
      ["de", 40, 20, 1],
    ],
  );
});

test("a word that runs to the left starts at its right edge, and digits beside it are a word of their own", () => {
  const words = wordsOf(chunk("שלום12", { rtl: [true, true, true, true], x: [50, 40, 30, 20, 0, 10] }));
  assert.deepEqual(
    words.map(({ text, x, width, rtl }) => [text, x, width, rtl]),
    [
      ["שלום", 60, 40, true],
      ["12", 0, 20, false],
    ],
  );
});

test("letters with room for their bytes stand alone, with the room", () => {
  const parts = [{ unit: 0, extra: 0 }, { unit: 1, extra: 7 }, { unit: 2, extra: 0 }];
  const words = wordsOf(chunk("aéb", { parts }));
  assert.deepEqual(words.map(({ text, spacing }) => [text, spacing]), [["a", 0], ["é", 7], ["b", 0]]);
});

const FONT = { size: 15, family: '"Source Code", monospace', weight: "400" };

function picture(text) {
  const words = { text, x: 1, y: 2, width: 30, spacing: 0, rtl: true, font: FONT, colour: "#11223380" };
  const shapes = [{ d: "M0 0H5", fill: "#aabbcc" }, { d: "M0 0v9", stroke: "#00000080", width: 2 }];
  const layer = { x: 0, y: 4, shapes, words: [words], glyphs: { text: "6f", x: [1, 6], y: [9, 9], font: FONT, colour: "#000000" } };
  const frame = { x: 8, y: 8, width: 100, height: 50, top: 20, edge: 0, border: "#00000033", layers: [layer] };
  return { width: 116, height: 66, page: "#ffffff", title: text, extent: "", captions: [], frames: [frame] };
}

test("text is written as text: nothing of it is markup, and nothing is fetched", () => {
  const svg = svgOf(picture('<script>&"]]>\u0000\uffff'));
  assert.ok(!/<(script|image|use|foreignObject|style|a)\b/.test(svg));
  assert.ok(!/(href|url\(|@import)/.test(svg));
  assert.ok(svg.includes("&lt;script&gt;&amp;&quot;]]&gt;\ufffd\ufffd"));
});

test("words keep their width, their direction and their colour in any viewer", () => {
  const svg = svgOf(picture("שלום"));
  assert.match(svg, /<text x="1" y="2" direction="rtl" textLength="30" lengthAdjust="spacingAndGlyphs" /);
  assert.match(svg, /fill="#112233" fill-opacity="0.5">שלום<\/text>/);
  assert.match(svg, /stroke="#000000" stroke-opacity="0.5" stroke-width="2"/);
  assert.match(svg, /<svg x="8" y="8" width="100" height="50" viewBox="0 20 100 50">/);
});

test("what XML cannot hold becomes a replacement character, and line breaks stay", () => {
  assert.equal(xmlText("a\u0008b\tc\nd\ufffee"), "a\ufffdb\tc\nd\ufffde");
});
