// A heat map of two kinds of labels: how often each pair occurs.

function heatMap(block) {
  const { labels, pairs } = block;
  const most = Math.max(...pairs.map(([, , count]) => count));
  const [cell, gap] = [labels.length > 40 ? 11 : labels.length > 15 ? 16 : 26, 1];
  const letters = Math.min(cell, 12);
  // Names along the top stand upright where the columns are narrow.
  const turned = cell > 20 ? -45 : -90;
  const longest = Math.min(Math.max(...labels.map((label) => label.length)), 34) * letters * 0.62;
  const [left, top] = [longest + 14, longest * (turned === -90 ? 1 : 0.71) + 24];
  const side = labels.length * (cell + gap);
  const short = (label) => (label.length > 34 ? `${label.slice(0, 33)}…` : label);
  const node = svg("svg", { class: "chart heat", viewBox: `0 0 ${left + side + (turned === -90 ? 8 : top)} ${top + side + 8}`, width: left + side + (turned === -90 ? 8 : top), height: top + side + 8, role: "img", "aria-label": `${block.caption}. ${block.alternative}` });
  const name = (attributes, label) => {
    const text = svg("text", { class: "tick", ...attributes }, short(label), svg("title", {}, label));
    text.style.fontSize = `${letters}px`;
    return text;
  };
  labels.forEach((label, place) => {
    const middle = place * (cell + gap) + cell / 2;
    node.append(name({ x: left - 6, y: top + middle + letters / 3, "text-anchor": "end" }, label));
    node.append(name({ transform: `translate(${left + middle + letters / 3} ${top - 5}) rotate(${turned})` }, label));
  });
  node.append(svg("rect", { class: "ground", x: left, y: top, width: side, height: side }));
  for (const [given, suggested, count] of pairs) {
    const [x, y] = [left + suggested * (cell + gap), top + given * (cell + gap)];
    node.append(svg("rect", { class: "hot", x, y, width: cell, height: cell, "fill-opacity": 0.2 + 0.8 * (count / most) }, svg("title", {}, `${labels[given]} → ${labels[suggested]}: ${number.format(count)}`)));
    if (cell > 20) node.append(svg("text", { class: `in-cell${count / most > 0.5 ? " on-dark" : ""}`, x: x + cell / 2, y: y + cell / 2 + 4, "text-anchor": "middle" }, number.format(count)));
  }
  return el("figure", { class: "figure heat-map" }, el("figcaption", {}, el("strong", {}, block.caption), `, ${block.meaning}`),
    el("div", { class: "scroll", role: "region", "aria-label": block.caption }, node));
}
