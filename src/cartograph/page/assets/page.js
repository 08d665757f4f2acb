// The page around the map, and the map's start once Plotly is there.

// The page's own colours, for what Plotly draws; the grid's holds on light and dark.
function theme() {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const update = { "font.color": color("--ink"), "font.family": getComputedStyle(document.body).fontFamily, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" };
  for (const [axis, given] of Object.entries(content.map.layout).filter(([name]) => /^[xy]axis\d*$/.test(name))) {
    if (given.showline) update[`${axis}.linecolor`] = color("--line");
    if (given.ticks) update[`${axis}.tickcolor`] = color("--line");
    if (given.showticklabels !== false) update[`${axis}.tickfont.color`] = color("--muted");
  }
  (content.map.layout.annotations ?? []).forEach((annotation, index) => {
    update[`annotations[${index}].font.color`] = color("--ink");
    update[`annotations[${index}].bgcolor`] = color("--veil");
  });
  (content.map.layout.shapes ?? []).forEach((shape, index) => { update[`shapes[${index}].line.color`] = color("--muted"); });
  return update;
}

function placed(layout, update) {
  const copy = structuredClone(layout);
  for (const [path, value] of Object.entries(update)) {
    const names = path.split(/[.[\]]+/).filter(Boolean);
    const last = names.pop();
    names.reduce((place, name) => (place[name] ??= {}), copy)[last] = value;
  }
  return copy;
}

async function startMap() {
  const { data, layout } = content.map;
  const config = { displayModeBar: false, displaylogo: false, responsive: true, doubleClick: false };
  await Plotly.newPlot(map.plot, data, { ...placed(layout, theme()), margin: MARGIN, dragmode: "zoom", showlegend: false }, config);
  const { xaxis, yaxis } = map.plot._fullLayout;
  map.home = { x: [...xaxis.range], y: [...yaxis.range] };
  map.plot.querySelector(".gl-container")?.append(...map.points.canvases);
  for (const event of ["plotly_afterplot", "plotly_relayouting"]) map.plot.on(event, () => map.points.draw());
  map.plot.on("plotly_doubleclick", unzoom);
  map.points.draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => Plotly.relayout(map.plot, theme()));
  map.frame.dataset.ready = "true";
}

build();
refilter();
if (map.list.length) pin(map.list[0]);

// Called once Plotly's script has been read; the page is painted before.
window.cartographMap = () => requestAnimationFrame(() => setTimeout(startMap));
