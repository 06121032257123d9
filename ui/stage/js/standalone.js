// The end without a server: a saved page unpacks its own payload and mounts the stage. ui/stage/export.py writes such
// pages. component.js is the other end.

import { Stage } from "./stage.js";

/** @param {string} packed base64 of the payload, compressed with zlib */
async function unpackPayload(packed) {
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function playAlone() {
  const nobody = { commitStep: () => {}, commitOptions: () => {} };
  const stage = new Stage(document.body, nobody);
  stage.load(await unpackPayload(document.getElementById("payload").textContent));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    stage.readTheme();
    stage.ask();
  });
}

playAlone();
