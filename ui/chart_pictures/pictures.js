// Under every chart of a page: save it as SVG or PNG. A chart is SVG already, in layers; they are joined into one file, on
// the colour of the page. Plotly's own mode bar knows one format only, and no keyboard.

const CHART = '[data-testid="stPlotlyChart"]';
const PLACE = '[data-testid="stElementContainer"]';
const SVG_SPACE = "http://www.w3.org/2000/svg";
const LEFT_OUT = ".hoverlayer, .zoomlayer, .draglayer, .menulayer"; // what only a pointer needs
const SCALE = 2;

const BUTTONS = `
<style>
  :host { display: block; margin-top: -0.75rem; text-align: end; font-size: 0.8rem; line-height: 1.5; }
  button { margin-inline-start: 0.25rem; padding: 0.1rem 0.5rem; font: inherit; color: inherit; background: none;
    border: 1px solid color-mix(in srgb, currentColor 35%, transparent); border-radius: 0.4rem; cursor: pointer; }
  button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
  @media print { :host { display: none; } }
</style>
Save as
<button type="button" name="svg" aria-label="Save this chart as SVG">SVG</button>
<button type="button" name="png" aria-label="Save this chart as PNG">PNG</button>`;

const rows = new WeakMap(); // place of a chart -> its buttons

/** Puts the buttons below each chart, and takes them away where there is none any more. */
function followCharts() {
  const kept = new Set();
  for (const chart of document.querySelectorAll(CHART)) {
    const place = chart.closest(PLACE);
    if (!place) continue;
    if (!rows.has(place)) rows.set(place, makeRow(place));
    const row = rows.get(place);
    if (place.nextElementSibling !== row) place.after(row); // beside its place, which is as high as the chart and clips
    kept.add(row);
  }
  for (const row of document.querySelectorAll(".save-chart")) if (!kept.has(row)) row.remove();
}

function makeRow(place) {
  const row = document.createElement("div");
  row.className = "save-chart";
  const root = row.attachShadow({ mode: "open" });
  root.innerHTML = BUTTONS;
  for (const button of root.querySelectorAll("button")) button.onclick = () => save(place, button.name);
  return row;
}

async function save(place, kind) {
  const chart = place.querySelector(CHART);
  const svg = chartSvg(chart);
  const source = new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
  const size = [Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))];
  const file = kind === "svg" ? source : await pngOf(source, ...size);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${fileName(place)}.${kind}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // a browser may ask its user first
}

/** The layers of a chart in one SVG, drawn on the page's colour, with what it says to a screen reader as its title. */
function chartSvg(chart) {
  const layers = Array.from(chart.querySelectorAll("svg.main-svg"));
  const { width, height } = layers[0].getBoundingClientRect();
  const svg = document.createElementNS(SVG_SPACE, "svg");
  svg.setAttribute("width", String(Math.round(width)));
  svg.setAttribute("height", String(Math.round(height)));
  svg.setAttribute("viewBox", `0 0 ${Math.round(width)} ${Math.round(height)}`);
  const about = chart.closest("[aria-label]") ?? chart.querySelector("[aria-label]");
  const title = document.createElementNS(SVG_SPACE, "title");
  title.textContent = about?.getAttribute("aria-label") ?? "";
  const page = document.createElementNS(SVG_SPACE, "rect");
  page.setAttribute("width", "100%");
  page.setAttribute("height", "100%");
  page.setAttribute("fill", getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor);
  svg.append(title, page);
  for (const layer of layers) {
    for (const part of layer.children) if (!part.matches(LEFT_OUT)) svg.append(part.cloneNode(true));
  }
  for (const part of svg.querySelectorAll(LEFT_OUT)) part.remove();
  for (const element of svg.querySelectorAll("[clip-path]")) {
    // Where the page has a base address, Plotly names the whole of it; in a file the place alone is right.
    element.setAttribute("clip-path", element.getAttribute("clip-path").replace(/[^('"#]*#/, "#"));
  }
  return svg;
}

async function pngOf(svg, width, height) {
  const image = new Image(width, height);
  image.src = URL.createObjectURL(svg);
  await image.decode();
  URL.revokeObjectURL(image.src);
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * width;
  canvas.height = SCALE * height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Page and chart: the chart's key in the page is in its class. */
function fileName(place) {
  const key = Array.from(place.classList).find((name) => name.startsWith("st-key-"))?.slice("st-key-".length);
  const page = window.location.pathname.split("/").filter(Boolean).at(-1);
  return [page?.toLowerCase(), key ?? "chart"].filter(Boolean).join("-");
}

export default function offerPictures() {
  let frame = 0;
  const ask = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      followCharts();
    });
  };
  const observer = new MutationObserver(ask);
  observer.observe(document.body, { childList: true, subtree: true });
  ask();
  return () => {
    observer.disconnect();
    cancelAnimationFrame(frame);
  };
}
