// The Streamlit end. Streamlit calls the default export when the payload or the theme changes, on the same element;
// a payload whose `id` is known is the same drawing. ui/stage/component.py is the other end.

import { readHead } from "./model.js";
import { Stage } from "./stage.js";

const mounted = new WeakMap(); // element -> {stage, head}

export default function mountStage({ data, parentElement, setStateValue }) {
  const head = readHead(data);
  const host = {
    commitStep: (value) => setStateValue("step", { of: head.id, turn: head.turn, value }),
    commitOptions: (value) => setStateValue("options", { of: head.id, turn: head.turn, value }),
  };
  let entry = mounted.get(parentElement);
  if (!entry) {
    entry = { stage: new Stage(parentElement, host), head: {} };
    mounted.set(parentElement, entry);
  }
  const { stage, head: last } = entry;
  entry.head = head;
  stage.host = host;
  if (head.id !== last.id) {
    stage.load(data);
  } else {
    // The server repeats the head when it only echoes what the reader did: whatever is new in it is a wish.
    const isNewTurn = head.turn !== last.turn;
    if (isNewTurn || head.step !== last.step) stage.moveTo(head.step);
    if (isNewTurn || JSON.stringify(head.options) !== JSON.stringify(last.options)) stage.applyOptions(head.options);
    stage.readTheme();
    stage.ask();
  }
  return () => {
    stage.destroy();
    mounted.delete(parentElement);
  };
}
