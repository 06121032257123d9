// The Streamlit end of the aligned rows. ui/compare/component.py is the other end.

import { readHead } from "./model.js";
import { RowsView } from "./rows_view.js";

const mountedRows = new WeakMap(); // element -> {view, head}

export default function mountRows({ data, parentElement, setStateValue }) {
  const head = readHead(data);
  let entry = mountedRows.get(parentElement);
  if (!entry) {
    entry = { view: new RowsView(parentElement, {}), head: {} };
    mountedRows.set(parentElement, entry);
  }
  const { view, head: last } = entry;
  entry.head = head;
  view.host = { commitStep: (value) => setStateValue("step", { of: head.id, value }) };
  if (head.id !== last.id) {
    view.load(data);
  } else {
    if (head.step !== last.step) view.moveTo(head.step);
    view.readTheme();
    view.ask();
  }
  return () => {
    view.destroy();
    mountedRows.delete(parentElement);
  };
}
