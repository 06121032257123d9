// The way from a view inside another page to the same view in the app. The address changes while the reader steps, so it
// is read again whenever the link may be followed.

const EMBED_NAMES = ["embed", "embed_options"];

function addressInApp() {
  const url = new URL(window.location.href);
  for (const name of EMBED_NAMES) url.searchParams.delete(name);
  return url.href;
}

export default function showWayOut({ parentElement }) {
  const link = parentElement.querySelector("a");
  const refresh = () => (link.href = addressInApp());
  refresh();
  for (const type of ["pointerenter", "focus", "pointerdown", "click"]) link[`on${type}`] = refresh;
}
