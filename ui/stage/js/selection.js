// Copying and dragging out give the source, not the stand-ins that are shown, and not the drawing.

/** @returns {string | null} the source text that is selected inside a view; null if nothing is */
export function selectedSource(view) {
  const selected = currentRange(view.content);
  if (!selected) return null;
  const start = sourceOffset(view, selected.startContainer, selected.startOffset);
  const end = sourceOffset(view, selected.endContainer, selected.endOffset);
  if (start < 0 || end < 0 || start === end) return null;
  return view.model.text.slice(Math.min(start, end), Math.max(start, end));
}

/** The selection as a range; inside a shadow root only getComposedRanges sees it. */
function currentRange(element) {
  const selection = getSelection();
  const root = element.getRootNode();
  if (root instanceof ShadowRoot && selection.getComposedRanges) {
    return selection.getComposedRanges({ shadowRoots: [root] })[0] ?? null;
  }
  return selection.rangeCount ? selection.getRangeAt(0) : null;
}

/** UTF-16 offset in the source of a position in the page, or -1 if it is not in the view's text. */
function sourceOffset(view, node, offset) {
  const own = view.sourceUnit(node);
  if (own >= 0) return own + offset;
  if (!view.content.contains(node)) return -1;
  // Between elements: the first text at or after the position.
  const walker = document.createTreeWalker(view.content, NodeFilter.SHOW_TEXT);
  const child = node.childNodes[offset];
  walker.currentNode = child ?? lastDescendant(node);
  let text = child && child.nodeType === Node.TEXT_NODE ? child : walker.nextNode();
  while (text && view.sourceUnit(text) < 0) text = walker.nextNode();
  return text ? view.sourceUnit(text) : view.model.text.length;
}

function lastDescendant(node) {
  while (node.lastChild) node = node.lastChild;
  return node;
}

/** Makes copy, cut and drag of a view put the source on the clipboard. */
export function copySource(view, signal) {
  for (const type of ["copy", "cut", "dragstart"]) {
    const handler = (event) => {
      const source = selectedSource(view);
      const target = event.clipboardData ?? event.dataTransfer;
      if (source === null || !target) return;
      target.setData("text/plain", source);
      if (type !== "dragstart") event.preventDefault();
    };
    view.element.addEventListener(type, handler, { signal });
  }
}
