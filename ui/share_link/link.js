// Shows the address of the present view, with the texts that it does not hold yet, and copies it.

function linkTo(packed, longest) {
  const url = new URL(window.location.href);
  url.hash = "";
  if (packed) {
    url.searchParams.delete("z");
    if (packed.length <= longest) url.searchParams.set("z", packed);
    else url.hash = `z=${packed}`;
  }
  return url.href;
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

export default function showLink({ data, parentElement }) {
  const field = parentElement.querySelector("input");
  const status = parentElement.querySelector("p");
  const show = () => {
    field.value = linkTo(data.packed, data.longest); // the address may have changed since
    return `${field.value.length.toLocaleString("en")} characters.`;
  };
  status.textContent = show();
  field.onfocus = () => {
    show();
    field.select();
  };
  parentElement.querySelector("button").onclick = async () => {
    const size = show();
    status.textContent = (await copy(field)) ? `Copied: ${size}` : "Select the link and copy it.";
  };
}
