// The page with its map: drawn at once, and again when the window or the colours change.

build();
fitMap();
refilter();
if (map.list.length) pin(map.list[0]);
new ResizeObserver(redraw).observe(map.plot);
window.addEventListener("resize", fitMap);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
map.frame.dataset.ready = "true";
