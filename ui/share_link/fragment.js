// Hands the texts behind the # of the address over to the page, once; the server never sees that part of a link. And
// goes where the page sends the browser: when a view is opened from a file.

const NAME = "#z=";
const WAIT = 30; // ms
const MOST_WAIT = 1500;
let handedOver = "";

// A lone surrogate cannot be sent: the server drops such a message, and every later one, without a word. So it becomes
// U+FFFD as soon as it is in a field, before Streamlit sees it.
document.addEventListener("input", mendSurrogates, { capture: true });

function mendSurrogates({ target }) {
  if (typeof target?.value !== "string" || target.value.isWellFormed?.() !== false) return;
  const prototype = target instanceof HTMLTextAreaElement ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
  const place = target.selectionStart;
  Object.getOwnPropertyDescriptor(prototype, "value").set.call(target, target.value.toWellFormed());
  target.setSelectionRange?.(place, place);
}

let lastJourney = 0;

/**
 * To another address of the app, as the back button goes: then every control takes what the address says. To another page
 * it takes two goes: in the first one Streamlit drops from the address what the page that is left had bound, even where
 * the new page has a control of the same name.
 */
async function travel({ number, path, leaves, query }) {
  if (number === lastJourney) return;
  lastJourney = number;
  const { pathname } = window.location;
  const root = pathname.slice(0, pathname.length - leaves.length);
  const address = root + path + (query && `?${query}`);
  await until(() => !isRunning());
  window.history.pushState({}, "", address);
  followAddress();
  if (path === leaves) return;
  await until(isRunning);
  await until(() => !isRunning());
  window.history.replaceState({}, "", address);
  followAddress();
}

function followAddress() {
  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}

function isRunning() {
  return document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "running";
}

/** Waits for a condition, but not for ever: a page can be long at work, and is interrupted then. */
async function until(condition) {
  for (let waited = 0; waited < MOST_WAIT && !condition(); waited += WAIT) {
    await new Promise((done) => setTimeout(done, WAIT));
  }
}

export default function readFragment({ data, setStateValue }) {
  if (data.journey) {
    travel(data.journey);
    return;
  }
  const hash = window.location.hash;
  if (!hash.startsWith(NAME)) return;
  if (hash !== handedOver) {
    handedOver = hash;
    setStateValue("texts", hash.slice(NAME.length));
  } else if (data.forget) {
    const { pathname, search } = window.location;
    window.history.replaceState(window.history.state, "", pathname + search);
  }
}
