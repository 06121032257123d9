// Shows the address of the present view, with the texts that it does not hold yet, and copies it; and for a page with a
// stage, what to write into a page that shows the stage inside.

function linkTo(packed, longest) {
  const url = new URL(window.location.href);
  url.hash = "";
  if (packed) {
    url.searchParams.delete("z");
    if (packed.length <= longest) url.searchParams.set("z", packed);
    else url.hash = `z=${packed}`;
  }
  return url;
}

function embedCode(url) {
  const inside = new URL(url);
  inside.searchParams.set("embed", "true");
  const address = inside.href.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return (
    `<iframe src="${address}" title="Text as tokens, step by step" width="700" height="400" ` +
    'style="border: 0; max-width: 100%" loading="lazy" allow="clipboard-write"></iframe>'
  );
}

async function copy(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.select(); // no clipboard without a secure address: the older way
    return document.execCommand("copy");
  }
}

/** A field that is filled whenever it may be read, because the address may have changed since, and its button. */
function offer(row, text, status, name) {
  const field = row.querySelector("input");
  const fill = () => (field.value = text());
  fill();
  field.onfocus = () => {
    fill();
    field.select();
  };
  row.querySelector("button").onclick = async () => {
    const size = `${fill().length.toLocaleString("en")} characters.`;
    status.textContent = (await copy(field)) ? `Copied: ${size}` : `Select the ${name} and copy it.`;
  };
}

export default function showLink({ data, parentElement }) {
  const [link, embed] = parentElement.querySelectorAll(".copied");
  const status = parentElement.querySelector("p");
  const address = () => linkTo(data.packed, data.longest);
  offer(link, () => address().href, status, "link");
  offer(embed, () => embedCode(address()), status, "code");
  embed.hidden = !data.embeds;
  status.textContent = `${address().href.length.toLocaleString("en")} characters.`;
}
