// A picture as SVG: real text and paths, no foreign objects, nothing fetched. Words carry their width, so that they
// fill their boxes with whatever fonts the viewer has. Pure; picture.js says what a picture is.

/** @param {import("./picture.js").Picture} picture @returns {string} */
export function svgOf(picture) {
  const size = [near(picture.width), near(picture.height)];
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size[0]}" height="${size[1]}" viewBox="0 0 ${size.join(" ")}"`,
    ' role="img">\n',
    `<title>${xmlText(picture.title)}</title>\n`,
    `<rect width="100%" height="100%" ${paint("fill", picture.page)}/>\n`,
    ...picture.captions.map(svgWords),
  ];
  for (const frame of picture.frames) {
    // A nested <svg> clips without an id, and ids clash where several pictures stand in one page.
    const [width, height] = [near(frame.width), near(frame.height)];
    parts.push(
      `<svg x="${near(frame.x)}" y="${near(frame.y + frame.edge)}" width="${width}" height="${height}"`,
      ` viewBox="0 ${near(frame.top)} ${width} ${height}">\n`,
    );
    for (const layer of frame.layers) {
      parts.push(`<g transform="translate(${near(layer.x)} ${near(layer.y)})">\n`);
      parts.push(...layer.shapes.map(svgShape), svgGlyphs(layer.glyphs), ...layer.words.map(svgWords), "</g>\n");
    }
    parts.push("</svg>\n", svgBorder(frame));
  }
  parts.push("</svg>\n");
  return parts.join("");
}

function svgShape({ d, fill, stroke, width }) {
  if (fill) return `<path d="${d}" ${paint("fill", fill)} shape-rendering="crispEdges"/>\n`;
  return `<path d="${d}" fill="none" ${paint("stroke", stroke)} stroke-width="${width}"/>\n`;
}

function svgBorder({ x, y, width, height, edge, border }) {
  const size = `width="${near(width - 1)}" height="${near(height + 2 * edge - 1)}"`;
  return `<rect x="${near(x + 0.5)}" y="${near(y + 0.5)}" ${size} rx="6" fill="none" ${paint("stroke", border)}/>\n`;
}

function svgWords({ text, x, y, width, spacing, rtl, font, colour }) {
  if (!text) return "";
  const direction = rtl ? ' direction="rtl"' : "";
  const length = width > 0 ? ` textLength="${near(width)}" lengthAdjust="spacingAndGlyphs"` : "";
  const apart = spacing ? ` letter-spacing="${near(spacing)}"` : "";
  return (
    `<text x="${near(x)}" y="${near(y)}"${direction}${length}${apart} ${svgFont(font)} ${paint("fill", colour)}>` +
    `${xmlText(text)}</text>\n`
  );
}

function svgGlyphs({ text, x, y, font, colour }) {
  if (!text) return "";
  return (
    `<text x="${x.map(near).join(" ")}" y="${y.map(near).join(" ")}" ${svgFont(font)} ${paint("fill", colour)}>` +
    `${xmlText(text)}</text>\n`
  );
}

/** Transparency apart: older viewers know no colour with four parts. */
function paint(name, colour) {
  if (colour.length === 7) return `${name}="${colour}"`;
  const opacity = near(parseInt(colour.slice(7), 16) / 255);
  return `${name}="${colour.slice(0, 7)}" ${name}-opacity="${opacity}"`;
}

function svgFont({ size, family, weight }) {
  return `font-family="${xmlText(family)}" font-size="${size}" font-weight="${weight}" font-variant-ligatures="none"`;
}

/** Text for XML: escaped, and without the characters that XML cannot hold at all. */
export function xmlText(text) {
  return text
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char]);
}

function near(x) {
  return Math.round(x * 100) / 100;
}
