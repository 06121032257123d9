// "Save a picture": the stage as SVG, as PNG, and a short text's merges as an animation. All of it is made here in the
// browser, with its fonts, and handed over as a file.

import { durations, turningSteps } from "./animation.js";
import { ApngWriter } from "./apng.js";
import { canvasOf } from "./canvas.js";
import { takePicture } from "./picture.js";
import { svgOf } from "./svg.js";
import { formatNumber, plural } from "./text.js";

const PNG_SCALE = 2;
const WIDEST_ANIMATION = 1600; // pixels
const MOST_ANIMATED = 500; // characters

export class PictureMenu {
  #isBusy = false;

  /** @param {HTMLElement} element the menu @param {import("./stage.js").Stage} stage */
  constructor(element, stage, signal) {
    this.stage = stage;
    this.said = element.querySelector(".said");
    element.querySelector(".limit").textContent = `The animation is for texts of up to ${MOST_ANIMATED} characters.`;
    const makers = { svg: () => this.#saveSvg(), png: () => this.#savePng(), apng: () => this.#saveAnimation() };
    for (const button of element.querySelectorAll("button")) {
      button.addEventListener("click", () => this.#run(makers[button.name]), { signal });
    }
    const isOutside = (event) => !event.composedPath().includes(element);
    document.addEventListener("pointerdown", (event) => isOutside(event) && (element.open = false), { signal });
    const close = (event) => {
      if (event.key !== "Escape" || !element.open) return;
      element.open = false;
      element.querySelector("summary").focus();
    };
    element.addEventListener("keydown", close, { signal });
    element.addEventListener("toggle", () => element.open && this.#say(""), { signal });
  }

  async #run(make) {
    if (this.#isBusy) return;
    if (!this.#views().length) return this.#say("There is no text to draw.");
    this.#isBusy = true;
    this.stage.paintNow(); // colours are read from what is drawn
    try {
      await make();
    } finally {
      this.#isBusy = false;
    }
  }

  /** The texts on the stage, top to bottom. */
  #views() {
    return this.stage.views.toReversed().filter((view) => view.model.numBytes > 0);
  }

  #saveSvg() {
    const picture = takePicture(this.stage, this.#views(), this.stage.step);
    this.#hand(new Blob([svgOf(picture)], { type: "image/svg+xml" }), `${this.#name()}.svg`, picture.extent);
  }

  async #savePng() {
    const picture = takePicture(this.stage, this.#views(), this.stage.step);
    const canvas = canvasOf(picture, PNG_SCALE);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    this.#hand(blob, `${this.#name()}.png`, picture.extent);
  }

  /** The reader's own sentence where there is one: it is short, and the corpus is not. */
  async #saveAnimation() {
    const { stage } = this;
    const { payload } = stage;
    const view = this.#views()[0];
    const numCharacters = Array.from(view.model.text).length;
    if (numCharacters > MOST_ANIMATED) {
      return this.#say(`This text has ${formatNumber(numCharacters)} characters, too many for an animation.`);
    }
    const steps = turningSteps(view.model);
    const times = durations(steps.length);
    let writer = null;
    for (const [i, step] of steps.entries()) {
      this.#say(`Drawing frame ${i + 1} of ${steps.length}`);
      await new Promise((done) => setTimeout(done)); // the page stays alive
      if (stage.payload !== payload) return this.#say("The text has changed: stopped.");
      const picture = takePicture(stage, [view], step);
      const canvas = canvasOf(picture, Math.min(PNG_SCALE, WIDEST_ANIMATION / picture.width));
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      writer ??= new ApngWriter(canvas.width, canvas.height);
      await writer.add(data, times[i]);
    }
    const file = new Blob([writer.finish()], { type: "image/apng" });
    this.#hand(file, "tokens-merging.png", `${plural(steps.length, "frame")}, one a merge that changes the text`);
  }

  #name() {
    return this.stage.payload.merges.numMerges ? `tokens-step-${this.stage.step}` : "tokens";
  }

  #hand(blob, name, about) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // a browser may ask its user first
    this.#say(`${name}: ${about}, ${formatNumber(Math.ceil(blob.size / 1000))} kB.`);
  }

  #say(text) {
    this.said.textContent = text;
  }
}
