// The keyboard. In the text: arrows by token and line, Home and End of the line (with Ctrl: of the text), `,` and `.`
// for the merge before and after, `n` and `p` for the next and previous place of the current merge, Enter for the
// step that made the token. On the slider and in the table: arrows, Page Up and Down, Home, End by merge.

/** @returns {(event: KeyboardEvent) => void} for a view */
export function viewKeys(stage, view) {
  const forward = () => view.nextToken();
  const backward = () => view.previousToken();
  const actions = {
    ArrowRight: () => (view.cursorIsRtl ? backward() : forward()),
    ArrowLeft: () => (view.cursorIsRtl ? forward() : backward()),
    ArrowDown: () => view.moveVertically(1),
    ArrowUp: () => view.moveVertically(-1),
    Home: () => view.moveToLineEdge(-1),
    End: () => view.moveToLineEdge(1),
    PageDown: () => view.movePage(1),
    PageUp: () => view.movePage(-1),
    ",": () => stage.stepBy(-1),
    ".": () => stage.stepBy(1),
    n: () => stage.goToPlace(view, 1),
    p: () => stage.goToPlace(view, -1),
    Enter: () => stage.goToOrigin(view),
  };
  const withControl = {
    Home: () => view.moveCursor(0),
    End: () => view.moveCursor(view.model.numBytes - 1),
    a: () => getSelection().selectAllChildren(view.content),
  };
  return (event) => {
    if (event.altKey || !view.model?.numBytes) return;
    const isControl = event.ctrlKey || event.metaKey;
    const action = isControl ? withControl[keyName(event)] : actions[keyName(event)];
    if (action) answer(event, action);
  };
}

/** By merges that are listed, not by ranks: of GPT-2's 50,000 merges a sentence meets forty. */
export function stepKeys(stage) {
  const actions = {
    ArrowRight: () => stage.stepBy(1),
    ArrowUp: () => stage.stepBy(1),
    ArrowLeft: () => stage.stepBy(-1),
    ArrowDown: () => stage.stepBy(-1),
    PageUp: () => stage.stepByRows(10),
    PageDown: () => stage.stepByRows(-10),
    Home: () => stage.setStep(0),
    End: () => stage.setStep(Infinity),
  };
  return (event) => {
    const action = hasModifier(event) ? null : actions[event.key];
    if (action) answer(event, action);
  };
}

/** A table runs downwards. */
export function tableKeys(stage) {
  const actions = {
    ArrowDown: () => stage.stepBy(1),
    ArrowUp: () => stage.stepBy(-1),
    PageDown: () => stage.stepByRows(10),
    PageUp: () => stage.stepByRows(-10),
    Home: () => stage.stepByRows(-Infinity),
    End: () => stage.stepByRows(Infinity),
  };
  return (event) => {
    const action = hasModifier(event) ? null : actions[event.key];
    if (action) answer(event, action);
  };
}

function keyName(event) {
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

function hasModifier(event) {
  return event.altKey || event.ctrlKey || event.metaKey;
}

/** The page around the stage has keys of its own: what is answered here goes no further. */
function answer(event, action) {
  event.preventDefault();
  event.stopPropagation();
  action();
}
