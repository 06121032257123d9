// The stage: one step for all its parts. It mounts the parts on the elements of stage.html, holds the step and what is
// shown, plays, speaks, and reports to its host what the reader settled on.

import { stepKeys, tableKeys, viewKeys } from "./keys.js";
import { readPayload } from "./model.js";
import { describeToken, Panel, setText } from "./panel.js";
import { PictureMenu } from "./pictures.js";
import { copySource } from "./selection.js";
import { MergeTable } from "./table.js";
import { formatNumber, plural, quotedName, spoken } from "./text.js";
import { TokenView } from "./view.js";

const COMMIT_AFTER = 400; // ms without a change, after which the host hears of the step
const SETTLED_EVERY = 100; // ms: colours follow every frame, words and the table ten times a second
const SPEAK_AFTER = 600; // ms: one sentence once things have settled
const CALM_STEPS_PER_SECOND = 2; // at most so many for readers who asked for less motion
const SWITCHES = ["marks", "walls", "bytes", "ids"];

export class Stage {
  #abort = new AbortController();
  #frame = 0;
  #settledAt = -Infinity;
  #settleTimer = 0;
  #commitTimer = 0;
  #speakTimer = 0;
  #playFrame = 0;
  #isDragging = false;
  #committed = 0;
  #committedOptions = "";
  #shownToken = "";
  #spokenStep = -1;
  #pointedView = null;

  /**
   * @param {HTMLElement} root the element that holds stage.html
   * @param {{commitStep: (step: number) => void, commitOptions: (options: object) => void}} host
   */
  constructor(root, host) {
    this.host = host;
    this.step = 0;
    this.payload = null;
    this.settings = Object.fromEntries(SWITCHES.map((name) => [name, false]));
    const find = (selector) => root.querySelector(selector);
    this.element = find(".stage");
    this.element.stage = this;
    this.slider = find(".slider");
    this.playButton = find(".play");
    this.speed = find(".speed select");
    this.label = find(".label");
    this.sentence = find(".sentence");
    this.note = find(".note");
    this.status = find(".status");
    this.panel = new Panel(find(".panel"));
    this.table = new MergeTable(find(".table"));
    this.pictures = new PictureMenu(find(".pictures"), this, this.#abort.signal);
    this.sections = [find(".main"), find(".own")];
    this.views = [];
    this.allViews = this.sections.map((section) => new TokenView(section.querySelector(".view"), this));
    this.forcedColours = matchMedia("(forced-colors: active)");
    this.reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
    this.#listen(find);
    this.#observeSize();
  }

  destroy() {
    this.#abort.abort();
    this.resizeObserver.disconnect();
    cancelAnimationFrame(this.#frame);
    cancelAnimationFrame(this.#playFrame);
    for (const timer of [this.#settleTimer, this.#commitTimer, this.#speakTimer]) clearTimeout(timer);
  }

  /** Shows another payload from the start. */
  load(bytes) {
    this.pause();
    clearTimeout(this.#commitTimer);
    this.payload = readPayload(bytes);
    const { head, merges, views } = this.payload;
    this.views = this.allViews.slice(0, views.length);
    this.views.forEach((view, i) => view.load(views[i]));
    this.sections.forEach((section, i) => {
      section.hidden = i >= views.length;
      const title = views[i]?.title ?? "";
      setText(section.querySelector(".title"), title);
      section.querySelector(".view").setAttribute("aria-label", title || "Text with its tokens");
    });
    this.element.classList.toggle("has-merges", merges.numMerges > 0);
    this.element.classList.toggle(
      "has-no-text",
      views.every((model) => model.numBytes === 0),
    );
    this.slider.max = String(merges.numMerges);
    this.table.load(this.payload);
    this.#pointedView = this.views[0];
    this.#shownToken = "";
    this.#spokenStep = -1;
    this.#say("");
    setText(this.note, "");
    this.#committed = head.step;
    this.step = head.step;
    this.applyOptions(head.options);
    this.element.classList.toggle("fills-window", head.height === null);
    if (head.height) this.element.style.setProperty("--height", `${head.height}px`);
    this.readTheme();
    this.paintNow();
  }

  // ------------------------------------------------------------------------------------------------------- step

  /** Goes to a step; out-of-range ones are clipped. */
  setStep(step, { speak = false } = {}) {
    const { numMerges } = this.payload.merges;
    const next = Math.max(0, Math.min(numMerges, Math.round(step)));
    if (!Number.isFinite(next) || next === this.step) return;
    this.step = next;
    setText(this.note, ""); // at once: a note that comes after this one must stay
    if (speak) this.#say(spoken(this.stepSentence()));
    this.ask();
    this.#scheduleCommit();
  }

  stepBy(direction) {
    this.setStep(this.payload.merges.neighbourStep(this.step, direction), { speak: true });
  }

  stepByRows(numRows) {
    this.setStep(this.table.stepAfterRows(this.step, numRows), { speak: true });
  }

  /** A step that the host asked for (a link, the back button): it is not reported back. The reader's hand wins. */
  moveTo(step) {
    if (this.#isDragging) return;
    this.pause();
    this.#committed = step;
    this.step = step;
    this.#scheduleCommit(); // of options that wait
    setText(this.note, "");
    this.ask();
  }

  #scheduleCommit() {
    clearTimeout(this.#commitTimer);
    if (this.#isDragging || this.#playFrame) return;
    this.#commitTimer = setTimeout(() => this.#commit(), COMMIT_AFTER);
  }

  /** Step and options go out together: what the reader switches in one go is one message. */
  #commit() {
    clearTimeout(this.#commitTimer);
    if (this.step !== this.#committed) {
      this.#committed = this.step;
      this.host.commitStep(this.step);
    }
    const options = JSON.stringify(this.options);
    if (options !== this.#committedOptions) {
      this.#committedOptions = options;
      this.host.commitOptions(this.options);
    }
  }

  play() {
    if (this.#playFrame) return;
    const { merges } = this.payload;
    if (this.step >= merges.numMerges) this.setStep(0);
    this.#showPlaying(true);
    let due = performance.now() + this.#playInterval();
    const tick = (now) => {
      if (this.step >= merges.numMerges) return this.pause();
      this.#playFrame = requestAnimationFrame(tick);
      if (now < due) return;
      due = Math.max(due + this.#playInterval(), now);
      this.setStep(merges.neighbourStep(this.step, 1));
    };
    this.#playFrame = requestAnimationFrame(tick);
  }

  pause() {
    if (!this.#playFrame) return;
    cancelAnimationFrame(this.#playFrame);
    this.#playFrame = 0;
    this.#showPlaying(false);
    this.#say(`Paused. ${spoken(this.stepSentence())}`);
    this.#scheduleCommit();
  }

  #playInterval() {
    const wanted = Number(this.speed.value);
    return 1000 / (this.reducedMotion.matches ? Math.min(wanted, CALM_STEPS_PER_SECOND) : wanted);
  }

  #showPlaying(isPlaying) {
    this.playButton.classList.toggle("is-playing", isPlaying);
    this.playButton.setAttribute("aria-label", isPlaying ? "Pause" : "Play the merges");
    this.playButton.title = isPlaying ? "Pause" : "Play the merges";
  }

  // ------------------------------------------------------------------------------------------------- navigation

  /** To the next or previous place in a view where the current merge joined two tokens. */
  goToPlace(view, direction) {
    if (!this.step) return this.#note("No merge has been done yet.");
    const places = view.model.places(this.step - 1);
    if (!places.length) return this.#note("This merge joins nothing in this text.");
    const [start, end] = view.cursor;
    let index = places.findIndex((place) => place >= (direction > 0 ? end : start));
    if (index < 0) index = places.length;
    if (direction < 0) index--;
    index = (index + places.length) % places.length;
    view.moveCursor(view.model.start(places[index], this.step));
    this.#note(`Place ${formatNumber(index + 1)} of ${formatNumber(places.length)}.`);
  }

  /** To the step that made the token under the cursor; says so when there is nowhere to go. */
  goToOrigin(view) {
    const [start, end] = view.cursor;
    const name = quotedName(view.model.bytes.subarray(start, end));
    const rank = view.model.rank(start, end);
    if (!this.payload.merges.numMerges) return this.#note("This tokenizer has no merges.");
    if (rank < 0) return this.#note(`${name} is a base symbol: no merge made it.`);
    if (rank + 1 === this.step) return this.#note(`This is the step that made ${name}.`);
    this.setStep(rank + 1, { speak: true });
  }

  // --------------------------------------------------------------------------------------------------- settings

  /** What the reader has set: what is shown, and how fast it plays. */
  get options() {
    return { ...this.settings, speed: Number(this.speed.value) };
  }

  /** What the host wants shown; not reported back. */
  applyOptions(options) {
    for (const name of SWITCHES) {
      this.settings[name] = Boolean(options?.[name]);
      this.#checkbox(name).checked = this.settings[name];
    }
    if (options?.speed) this.speed.value = String(options.speed);
    this.#committedOptions = JSON.stringify(this.options);
    this.#applySettings();
  }

  #applySettings() {
    for (const view of this.allViews) view.applySettings(this.settings);
    this.ask();
  }

  #checkbox(name) {
    return this.element.querySelector(`.options input[name=${name}]`);
  }

  /** Light or dark palette, by the page colour that the theme really has. */
  readTheme() {
    const channels = getComputedStyle(this.element)
      .backgroundColor.match(/[\d.]+/g)
      ?.map(Number);
    const [red, green, blue] = channels ?? [255, 255, 255];
    const brightness = (red * 299 + green * 587 + blue * 114) / 1000;
    this.element.dataset.theme = brightness < 128 ? "dark" : "light";
  }

  // ---------------------------------------------------------------------------------------------------- painting

  /** Asks for a frame. */
  ask() {
    if (!this.#frame && this.payload) this.#frame = requestAnimationFrame(() => this.#paint(false));
  }

  paintNow() {
    this.#paint(true);
  }

  #paint(isSettled) {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const start = performance.now();
    this.#draw(isSettled, start);
    this.frameDuration = performance.now() - start; // for benchmarks/stage.py
  }

  /** All geometry is read before anything is written: one layout a frame. */
  #draw(isSettled, now) {
    const settled = isSettled || now - this.#settledAt > SETTLED_EVERY;
    for (const view of this.views) view.read();
    if (settled) this.table.read(this.step);

    for (const view of this.views) view.write(this.step, settled);
    this.#writeSlider();
    this.#writeCounts();
    if (!settled) {
      this.#settleTimer ||= setTimeout(() => {
        this.#settleTimer = 0;
        this.ask();
      }, SETTLED_EVERY + 10);
      return;
    }
    this.#settledAt = now;
    this.table.write(this.step);
    this.#writeSentence();
    this.showToken(this.#pointedView, this.#pointedView.hovered ?? this.#pointedView.cursor);
  }

  #writeSlider() {
    const { numMerges } = this.payload.merges;
    this.slider.value = String(this.step);
    this.slider.style.setProperty("--filled", `${numMerges ? (100 * this.step) / numMerges : 0}%`);
  }

  #writeCounts() {
    const { merges, views } = this.payload;
    this.element.dataset.step = String(this.step);
    views.forEach((model, i) => {
      setText(this.sections[i].querySelector(".count"), plural(model.numTokens(this.step), "token"));
    });
    if (merges.numMerges) setText(this.label, this.stepLabel(this.step));
  }

  /** How many merges are done, in words. */
  stepLabel(step) {
    const { merges } = this.payload;
    const used = `merges used: ${formatNumber(step)} of ${formatNumber(merges.numMerges)}`;
    const isSubset = merges.numRows < merges.numMerges;
    return used + (isSubset ? ` · ${formatNumber(merges.numRowsDone(step))} of them act on this text` : "");
  }

  #writeSentence() {
    if (this.#spokenStep === this.step) return;
    this.#spokenStep = this.step;
    const sentence = this.stepSentence();
    setText(this.sentence, sentence);
    this.slider.setAttribute("aria-valuetext", spoken(sentence));
  }

  /** A step as a sentence. */
  stepSentence(at = this.step) {
    const { merges, vocabulary, views } = this.payload;
    const tokens = plural(views[0].numTokens(at), "token");
    if (!merges.numMerges) return tokens;
    if (!at) return `Step 0: no merge yet, ${tokens}`;
    const step = `Step ${formatNumber(at)}`;
    const row = merges.rowOfStep(at);
    const nameIn = (column, i) => quotedName(vocabulary.nameBytes(column[i]));
    if (row < 0) {
      const last = merges.numRowsDone(at) - 1;
      if (last < 0) return `${step}: no merge has acted on this text yet, ${tokens}`;
      const rank = formatNumber(merges.rank[last]);
      return `${step}: nothing new in this text since merge rank ${rank} made ${nameIn(merges.token, last)}, ${tokens}`;
    }
    const [left, right, token] = [merges.left, merges.right, merges.token].map((column) => nameIn(column, row));
    const places = plural(views[0].numPlaces(at - 1), "place");
    return `${step}: ${left} + ${right} makes ${token}, ${places} in this text, ${tokens}`;
  }

  /** Describes a token in the panel. */
  showToken(view, token) {
    if (!view.model.numBytes) {
      this.panel.show([]);
      return;
    }
    this.#pointedView = view;
    const key = `${this.views.indexOf(view)}:${token}:${this.step}`;
    if (key === this.#shownToken) return;
    this.#shownToken = key;
    this.panel.show(describeToken(this.payload, view.model, token, this.step));
  }

  /** A word of answer, for the eye at once and for a screen reader when things have settled. */
  #note(text) {
    setText(this.note, text);
    this.#say(spoken(text), 0);
  }

  #say(text, wait = SPEAK_AFTER) {
    clearTimeout(this.#speakTimer);
    this.#speakTimer = setTimeout(() => setText(this.status, text), wait);
  }

  // ------------------------------------------------------------------------------------------------------ events

  #on(target, type, handler, options = {}) {
    target.addEventListener(type, handler, { signal: this.#abort.signal, ...options });
  }

  #listen(find) {
    this.#listenToSlider();
    this.#on(find(".back"), "click", () => this.stepBy(-1));
    this.#on(find(".next"), "click", () => this.stepBy(1));
    this.#on(this.playButton, "click", () => (this.#playFrame ? this.pause() : this.play()));
    this.#on(find(".previous-place"), "click", () => this.goToPlace(this.#pointedView, -1));
    this.#on(find(".next-place"), "click", () => this.goToPlace(this.#pointedView, 1));
    this.#on(this.speed, "change", () => this.#scheduleCommit());
    for (const name of SWITCHES) {
      this.#on(this.#checkbox(name), "change", (event) => {
        this.settings[name] = event.target.checked;
        this.#applySettings();
        this.#scheduleCommit();
      });
    }
    for (const view of this.allViews) this.#listenToView(view);
    const { element: table } = this.table;
    this.#on(table, "keydown", tableKeys(this));
    this.#on(table, "click", (event) => this.setStep(this.table.stepOf(event.target), { speak: true }));
    this.#on(table, "scroll", () => this.table.wasScrolled && this.#askSettled(), { passive: true });
    this.#on(this.forcedColours, "change", () => this.ask());
    this.#on(document.fonts, "loadingdone", () => this.#remeasure());
  }

  /** While the slider is held nothing is committed; letting go commits at once. */
  #listenToSlider() {
    const { slider } = this;
    this.#on(slider, "pointerdown", () => {
      this.pause();
      this.#isDragging = true;
    });
    this.#on(slider, "input", () => this.setStep(Number(slider.value)));
    for (const type of ["pointerup", "pointercancel", "change"]) {
      this.#on(slider, type, () => {
        this.#isDragging = false;
        this.#commit();
      });
    }
    this.#on(slider, "keydown", stepKeys(this));
  }

  #listenToView(view) {
    const { element, cursorElement } = view;
    this.#on(element, "scroll", () => this.ask(), { passive: true });
    this.#on(element, "pointermove", (event) => {
      if (event.pointerType === "touch" || event.buttons) return;
      view.hover(view.tokenAt(event.clientX, event.clientY));
    });
    this.#on(element, "pointerleave", () => view.hover(null));
    this.#on(element, "click", (event) => {
      if (!getSelection()?.isCollapsed) return;
      const token = view.tokenAt(event.clientX, event.clientY);
      if (token) view.moveCursor(token[0]);
    });
    this.#on(cursorElement, "keydown", viewKeys(this, view));
    this.#on(cursorElement, "focus", () => {
      this.#pointedView = view;
      this.ask();
    });
    copySource(view, this.#abort.signal);
  }

  #askSettled() {
    this.#settledAt = -Infinity;
    this.ask();
  }

  #observeSize() {
    const widths = new Map();
    this.resizeObserver = new ResizeObserver((entries) => {
      const hasNewWidth = entries.filter(({ target }) => widths.get(target) !== target.clientWidth);
      for (const { target } of entries) widths.set(target, target.clientWidth);
      if (hasNewWidth.length) this.#remeasure();
      else this.ask();
    });
    for (const view of this.allViews) this.resizeObserver.observe(view.element);
    this.resizeObserver.observe(this.table.element);
  }

  #remeasure() {
    for (const view of this.views) view.remeasure();
    this.#askSettled();
  }
}
