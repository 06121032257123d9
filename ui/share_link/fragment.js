// Hands the texts behind the # of the address over to the page, once; the server never sees that part of a link.

const NAME = "#z=";
let handedOver = "";

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
