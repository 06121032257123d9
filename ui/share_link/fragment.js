// Hands the texts behind the # of the address over to the page, once; the server never sees that part of a link.

const NAME = "#z=";
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

export default function readFragment({ data, setStateValue }) {
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
