// The points of the map on a canvas: 25,000 in one frame, without WebGL; suspects have a ring.

const MOST_RINGS = 2000;

for (const level of content.map.levels) {
  level.positions = decode(level.positions);
  level.shown = true;
}

function sprite(level, ratio) {
  const size = Math.ceil((level.size * 1.6 + 2) * ratio);
  const picture = el("canvas", { width: size, height: size });
  const pen = picture.getContext("2d");
  pen.translate(size / 2, size / 2);
  pen.scale((level.size / 10) * ratio, (level.size / 10) * ratio);
  pen.fillStyle = level.color;
  pen.fill(new Path2D(SHAPES[level.symbol] ?? SHAPES.circle));
  return { picture, size };
}

class Points {
  constructor(plot, visible) {
    this.plot = plot;
    this.view = { x: [...HOME.x], y: [...HOME.y] };
    this.visible = visible;
    this.canvases = ["points", "marks"].map((name) => el("canvas", { class: name, "aria-hidden": "true" }));
    this.hovered = null;
    this.pinned = null;
    this.sprites = new Map();
  }

  get area() {
    return areaOf(this.plot.clientWidth, this.plot.clientHeight, this.view);
  }

  place(position, area = this.area) {
    const across = (columns.variability[position] - area.x[0]) / (area.x[1] - area.x[0]);
    const up = (columns.confidence[position] - area.y[0]) / (area.y[1] - area.y[0]);
    return [across * area.width, (1 - up) * area.height];
  }

  * shown() {
    for (const level of content.map.levels) {
      if (!level.shown) continue;
      for (const position of level.positions) if (this.visible(position)) yield position;
    }
  }

  // Lay an empty canvas over the plane; it is drawn on in its own pixels.
  clear(canvas, area, ratio) {
    Object.assign(canvas.style, { left: `${area.left}px`, top: `${area.top}px`, width: `${area.width}px`, height: `${area.height}px` });
    canvas.width = Math.round(area.width * ratio);
    canvas.height = Math.round(area.height * ratio);
    return canvas.getContext("2d");
  }

  draw() {
    const area = this.area;
    const ratio = window.devicePixelRatio || 1;
    const pen = this.clear(this.canvases[0], area, ratio);
    // On a dark page a translucent point would lose its contrast.
    const least = matchMedia("(prefers-color-scheme: dark)").matches ? 0.9 : 0;
    const [across, up] = [(area.width * ratio) / (area.x[1] - area.x[0]), (area.height * ratio) / (area.y[1] - area.y[0])];
    const { variability, confidence } = columns;
    let drawn = 0;
    for (const level of content.map.levels) {
      if (!level.shown) continue;
      const { picture, size } = this.spriteOf(level, ratio);
      pen.globalAlpha = Math.max(level.opacity, least);
      for (const position of level.positions) {
        if (!this.visible(position)) continue;
        drawn += 1;
        const x = Math.round((variability[position] - area.x[0]) * across - size / 2);
        const y = Math.round((area.y[1] - confidence[position]) * up - size / 2);
        if (x > -size && y > -size && x < pen.canvas.width && y < pen.canvas.height) pen.drawImage(picture, x, y);
      }
    }
    this.ringSuspects(pen, area, ratio);
    this.canvases[0].dataset.drawn = String(drawn);
    this.mark();
  }

  // Rings around the suspects: of very many, around those that are listed.
  ringSuspects(pen, area, ratio) {
    if (!columns.suspect) return;
    const all = columns.suspect.reduce((sum, flag) => sum + flag, 0) <= MOST_RINGS;
    pen.globalAlpha = 1;
    pen.lineWidth = 1.2 * ratio;
    pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink");
    pen.beginPath();
    let rings = 0;
    for (const position of this.shown()) {
      if (!columns.suspect[position] || !(all || suspicions.has(columns.place[position]))) continue;
      const [x, y] = this.place(position, area);
      if (x < -8 || y < -8 || x > area.width + 8 || y > area.height + 8) continue;
      pen.moveTo((x + 5) * ratio, y * ratio);
      pen.arc(x * ratio, y * ratio, 5 * ratio, 0, 2 * Math.PI);
      rings += 1;
    }
    pen.stroke();
    this.canvases[0].dataset.rings = String(rings);
  }

  // The rings around the hovered and the pinned row, on a canvas of their own, so that no point is drawn again.
  mark() {
    const area = this.area;
    const ratio = window.devicePixelRatio || 1;
    const pen = this.clear(this.canvases[1], area, ratio);
    pen.scale(ratio, ratio);
    this.ring(pen, this.hovered, area, 7, 1.5);
    this.ring(pen, this.pinned, area, 9, 2.5);
  }

  spriteOf(level, ratio) {
    const key = `${level.name} ${ratio}`;
    if (!this.sprites.has(key)) this.sprites.set(key, sprite(level, ratio));
    return this.sprites.get(key);
  }

  ring(pen, position, area, radius, width) {
    if (position === null) return;
    const [x, y] = this.place(position, area);
    const style = getComputedStyle(document.documentElement);
    for (const [color, line] of [["--page", width + 3], ["--ink", width]]) {
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      pen.strokeStyle = style.getPropertyValue(color);
      pen.lineWidth = line;
      pen.stroke();
    }
  }

  // The shown row nearest to a pixel of the plane, no farther than `reach`; null where no row is that near.
  nearest(x, y, reach) {
    const area = this.area;
    let best = null;
    let least = reach * reach;
    for (const position of this.shown()) {
      const [px, py] = this.place(position, area);
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance <= least) [best, least] = [position, distance];
    }
    return best;
  }

  // The nearest shown row in a direction from another: what an arrow key moves to.
  beside(from, [dx, dy]) {
    const area = this.area;
    const [x, y] = this.place(from, area);
    let best = null;
    let least = Infinity;
    for (const position of this.shown()) {
      const [px, py] = this.place(position, area);
      const [ahead, aside] = [(px - x) * dx + (py - y) * dy, Math.abs((px - x) * dy) + Math.abs((py - y) * dx)];
      const cost = ahead + 3 * aside;
      if (ahead > 0.5 && aside <= 2 * ahead && cost < least) [best, least] = [position, cost];
    }
    return best;
  }
}
