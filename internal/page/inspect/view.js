// The view of the world: frames, camera, selection, and when to draw.

const statsLength = 240;

/** keepLast appends to one of the stats. */
function keepLast(stats, v) {
  if (stats.push(v) > statsLength) stats.shift();
}

/**
 * newView draws frames on a canvas with WebGL 2, whenever something has changed.
 *
 * load(frame) resolves when the frame is drawn.
 * stats are the last 240 times in milliseconds: to decode, to hand over to the device, to draw.
 * @param {HTMLCanvasElement} canvas  its parent becomes the frame of scale bar, legend and messages
 * @param {{onPick?: function(number, number, number), onFollow?: function(number|null)}} options
 *   onPick(x, y, r): a click at a point, in metres, and the length of 8 pixels; onFollow(null): the user has moved away
 */
function newView(canvas, { onPick = () => {}, onFollow = () => {} } = {}) {
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false, powerPreference: "high-performance" });
  const overlay = newOverlay(canvas), camera = newCamera();
  const stats = { decodeMs: [], uploadMs: [], drawMs: [] };
  let layers = gl && newLayers(gl);
  let frame = null, slots = new Uint32Array(0);
  let range = null, spacing = 0; // of the values, and between neighbours in metres
  let selected = null, followed = null, fitted = false;
  let theme = null, asked = 0, drawn = [], stale = true, hovered = null;

  /** load takes a frame over. */
  function load(next) {
    slots = slotsOf(next, slots);
    frame = next;
    const start = performance.now();
    range = rangeOf(frame.sections.by);
    layers?.load(frame);
    keepLast(stats.uploadMs, performance.now() - start);
    keepLast(stats.decodeMs, frame.decodeMs);
    const e = frame.sections.extent;
    spacing = e ? Math.sqrt((e[2] - e[0]) * (e[3] - e[1]) / Math.max(1, frame.head.entities)) : 0;
    if (!fitted) fit();
    keepFollowed();
    return invalidate();
  }

  /** invalidate draws before the browser shows the page again, the world only if it has changed, and resolves then. */
  function invalidate(world = true) {
    stale ||= world;
    asked ||= requestAnimationFrame(draw);
    return new Promise(resolve => drawn.push(resolve));
  }

  function draw() {
    cancelAnimationFrame(asked);
    asked = 0;
    if (stale) {
      const start = performance.now();
      stale = false;
      theme ??= readTheme(overlay);
      if (layers && !gl.isContextLost()) drawWorld();
      showScale();
      keepLast(stats.drawMs, performance.now() - start);
    }
    if (hovered) showPoint(...hovered);
    for (const resolve of drawn.splice(0)) resolve();
  }

  function drawWorld() {
    const ratio = window.devicePixelRatio || 1, width = Math.max(1, Math.round(camera.width * ratio)), height = Math.max(1, Math.round(camera.height * ratio));
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const high = [Math.fround(camera.x), Math.fround(camera.y)], perMetre = camera.scale * ratio;
    const view = { high, low: [camera.x - high[0], camera.y - high[1]], toClip: [2 * perMetre / width, 2 * perMetre / height], pixel: 1 / perMetre, ratio, line: Math.min(Math.max(spacing * camera.scale / 6, 0.3), 1.5) };
    layers.clear(width, height, theme.card);
    drawGrid(layers, view, camera, theme);
    if (!frame) return;
    layers.drawShapes(view);
    if (dotSize()) layers.drawEntities(view, { ...theme, size: dotSize() }, range);
    if (selected !== null) layers.drawRing(view, indexOf(slots, selected), theme.accentRGB, 26);
  }

  /** dotSize returns the size of entities in CSS pixels: larger where there is room, small inside shapes, 0 where they would hide these. */
  function dotSize() {
    const room = 0.4 * spacing * camera.scale, shapes = frame.sections.polygon_colours || frame.sections.circle_colours;
    if (shapes && !range) return Math.min(room, 4) >= 2 ? Math.min(room, 4) : 0;
    return Math.min(Math.max(room, range ? 3 : 2), 10);
  }

  function showScale() {
    const length = niceLength(120 / camera.scale);
    overlay.scale(length, length * camera.scale);
    overlay.legend(frame && range, frame?.by ?? "", theme.css);
    overlay.forces(selected !== null && frame?.head.forces || []);
  }

  /** showPoint shows the point of the plane under the pointer, and whether there is something to pick. */
  function showPoint(px, py) {
    hovered = null;
    const point = px === px ? toWorld(camera, px, py) : null;
    overlay.at(point, Math.min(Math.max(Math.ceil(Math.log10(camera.scale)), 0), 6));
    if (point && canvas.style.cursor !== "grabbing") canvas.style.cursor = frame && hits(frame.sections, ...point, pickPixels / camera.scale) ? "pointer" : "grab";
  }

  function fit() {
    const e = frame?.sections.extent;
    if (e && camera.width > 1) {
      fitCamera(camera, e);
      fitted = true;
    }
    return invalidate();
  }

  function keepFollowed() {
    const i = followed === null ? -1 : indexOf(slots, followed);
    if (i < 0 || !frame) return;
    const x = frame.sections.x[i], y = frame.sections.y[i];
    if (Number.isFinite(x) && Number.isFinite(y)) [camera.x, camera.y] = [x, y];
  }

  const view = {
    load, draw, fit, stats, camera,
    supported: Boolean(gl),
    select(slot) {
      selected = slot;
      return invalidate();
    },
    follow(slot) {
      followed = slot;
      keepFollowed();
      return invalidate();
    },
    /** zoom multiplies the scale at the centre. */
    zoom(factor) {
      zoomCamera(camera, camera.width / 2, camera.height / 2, factor);
      return invalidate();
    },
    /** reset forgets the frame, for another simulation. */
    reset() {
      frame = range = selected = followed = null;
      slots = new Uint32Array(0);
      fitted = false;
      return invalidate();
    },
    toWorld: (px, py) => toWorld(camera, px, py),
    toScreen: (x, y) => toScreen(camera, x, y),
  };

  addControls(canvas, camera, {
    moved(panned) {
      if (panned && followed !== null) {
        followed = null;
        onFollow(null);
      }
      keepFollowed();
      invalidate();
    },
    fit() {
      fit();
    },
    picked: (px, py) => onPick(...toWorld(camera, px, py), pickPixels / camera.scale),
    hover(px, py) {
      hovered = [px, py];
      invalidate(false);
    },
  });
  new ResizeObserver(([{ contentRect }]) => {
    [camera.width, camera.height] = [contentRect.width, contentRect.height];
    if (!fitted && frame) fit();
    stale = true;
    draw(); // now: until it is drawn anew, the browser stretches the picture
  }).observe(canvas);
  watchTheme(() => {
    theme = null;
    invalidate();
  });
  overlay.watchDevice(gl, {
    lost() {
      layers = null;
    },
    restored() {
      layers = newLayers(gl);
      if (frame) layers.load(frame);
      invalidate();
    },
  });
  return view;
}

/** slotsOf returns the slots of a frame, which may leave them out if they are those of the frame before. */
function slotsOf({ head, sections }, before) {
  const slots = sections.slots ?? (head.entities ? before : new Uint32Array(0));
  if (slots.length !== head.entities) throw new FrameError(`frame: it has ${head.entities} entities and leaves out their slots, which are ${before.length} in the frame before`);
  return slots;
}

/** indexOf returns the index of a slot, or -1. */
function indexOf(slots, slot) {
  let lo = 0, hi = slots.length;
  while (lo < hi) {
    const mid = lo + hi >> 1;
    if (slots[mid] < slot) lo = mid + 1;
    else hi = mid;
  }
  return slots[lo] === slot ? lo : -1;
}

/** rangeOf returns the least and greatest finite value and the number of NaN, or null without values. */
function rangeOf(values) {
  if (!values) return null;
  let least = Infinity, greatest = -Infinity, nan = 0;
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (v - v === 0) {
      if (v < least) least = v;
      if (v > greatest) greatest = v;
    } else if (v !== v) nan++;
  }
  const known = least <= greatest;
  return { least: known ? least : 0, greatest: known ? greatest : 0, nan, known };
}

/** hits reports whether an entity is within r of a point, or a shape contains it. */
function hits({ x = [], y = [], circles = [], polygons = [], points, polygon_radius: rounding }, px, py, r) {
  for (let i = 0; i < x.length; i++) {
    const dx = x[i] - px, dy = y[i] - py;
    if (dx * dx + dy * dy <= r * r) return true;
  }
  for (let i = 0; i < circles.length; i += 5) {
    const dx = circles[i] - px, dy = circles[i + 1] - py, radius = circles[i + 2];
    if (dx * dx + dy * dy <= radius * radius) return true;
  }
  for (let i = 0; i < polygons.length; i += 2) {
    if (inPolygon(points, 2 * polygons[i], 2 * (polygons[i] + polygons[i + 1]), rounding[i / 2], px, py)) return true;
  }
  return false;
}

/** inPolygon reports whether a point is in a convex polygon, or within a radius of its edges. */
function inPolygon(points, first, end, radius, px, py) {
  let ax = points[end - 2], ay = points[end - 1], left = end - first > 4, right = left; // of each edge
  for (let i = first; i < end; i += 2) {
    const ex = points[i] - ax, ey = points[i + 1] - ay, wx = px - ax, wy = py - ay, side = ex * wy - ey * wx;
    const along = Math.min(Math.max((wx * ex + wy * ey) / (ex * ex + ey * ey || 1), 0), 1), dx = wx - ex * along, dy = wy - ey * along;
    if (dx * dx + dy * dy <= radius * radius) return true;
    left &&= side >= 0;
    right &&= side <= 0;
    ax = points[i];
    ay = points[i + 1];
  }
  return left || right;
}

/** drawGrid draws lines with 80 to 200 pixels between them; those through the origin stand out. */
function drawGrid(layers, view, c, theme) {
  const step = niceLength(200 / c.scale), halfX = c.width / 2 / c.scale, halfY = c.height / 2 / c.scale;
  const xs = gridLines(c.x - halfX, c.x + halfX, step), ys = gridLines(c.y - halfY, c.y + halfY, step);
  const lines = new Float32Array([
    ...xs.flatMap(x => [x - c.x, -halfY, x - c.x, halfY]),
    ...ys.flatMap(y => [-halfX, y - c.y, halfX, y - c.y]),
  ]);
  layers.drawGrid(view, lines, new Uint32Array([...xs, ...ys].map(v => v === 0 ? theme.axis : theme.grid)));
}

/** readTheme returns the colours of the style sheet as the layers take them. */
function readTheme(overlay) {
  const [card, soft, line, accent, bad] = ["--card", "--soft", "--line", "--accent", "--bad"].map(overlay.colour);
  const dark = card[0] + card[1] + card[2] < 1.5, packed = rgb => [...rgb, 1].reduce((sum, v) => sum * 256 + Math.round(v * 255), 0); // 0xRRGGBBAA
  const css = Array.from({ length: 9 }, (_, i) => scaleColour(dark ? 0.3 + 0.7 * i / 8 : 0.65 * i / 8));
  return {
    card, missing: bad, plain: accent, accentRGB: accent, grid: packed(line), axis: packed(soft),
    css: css.map(rgb => `rgb(${rgb.map(v => Math.round(v * 255)).join(" ")})`), stops: new Float32Array(css.flat()),
  };
}

/** scaleColour returns the colour of scaleStops at 0 to 1 as [red, green, blue] from 0 to 1. */
function scaleColour(at) {
  const i = Math.min(Math.floor(at * 8), 7), part = at * 8 - i;
  const channel = (stop, k) => parseInt(scaleStops[stop].slice(1 + 2 * k, 3 + 2 * k), 16) / 255;
  return [0, 1, 2].map(k => (1 - part) * channel(i, k) + part * channel(i + 1, k));
}

/** watchTheme calls f when the colours of the page change. */
function watchTheme(f) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", f);
  new MutationObserver(f).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}
