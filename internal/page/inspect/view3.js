// The view of the world in space: frames, camera, selection, and when to draw. It has the same face as the view of view.js.

const flagAsleep = 1, flagSensor = 2, flagStatic = 4; // of instance_colours
const maxRatio = 2; // device pixels per CSS pixel: more cost much and show little

/**
 * newView3 draws frames in space on a canvas with WebGL 2, whenever something has changed.
 *
 * load(frame) resolves when the frame is drawn.
 * stats are the last 240 times in milliseconds: to decode, to hand over to the device, to draw.
 * @param {HTMLCanvasElement} canvas  its parent becomes the frame of scale bar, legend and messages
 * @param {{onPick?: function({origin, direction}, number, PointerEvent), onFollow?: function(null), geometry: function(string): Promise<ArrayBuffer>, onProblem?: function(string)}} options
 *   onPick(ray, r, event): a click, as a ray in metres, and the radius of 8 pixels at one metre; onFollow(null): the user has moved away; geometry asks for a content
 */
function newView3(canvas, { onPick = () => {}, onFollow = () => {}, geometry, onProblem = () => {} }) {
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: true, depth: true, powerPreference: "high-performance" });
  const overlay = newOverlay(canvas), compass = newCompass(canvas), camera = newOrbit();
  const stats = { decodeMs: [], uploadMs: [], drawMs: [] };
  let layers = gl && newLayers3(gl);
  let frame = null, slots = new Uint32Array(0), range = null, chosen = [];
  let selected = null, followed = null, fitted = false;
  let theme = null, asked = 0, drawn = [], stale = true;
  let packed = new Uint32Array(0);
  const waiting = new Map(); // contents that were asked for: when they may be asked for again
  const known = new Map();   // by content: what was read, for a new device

  function load(next) {
    slots = slotsOf(next, slots);
    frame = next;
    const start = performance.now();
    camera.up = frame.head.space.up;
    range = rangeOf(frame.sections.by);
    if (layers) upload();
    keepLast(stats.uploadMs, performance.now() - start);
    keepLast(stats.decodeMs, frame.decodeMs);
    if (!fitted) fit();
    keepFollowed();
    return invalidate();
  }

  /** upload hands the arrays of the frame over. */
  function upload() {
    theme ??= readTheme3(overlay);
    const s = frame.sections, { batches } = frame.head.space;
    packed = packed.length === (s.instance_rows ?? []).length ? packed : new Uint32Array((s.instance_rows ?? []).length);
    if (s.instances) {
      colourInstances(packed, s, theme, range);
      layers.loadInstances(s.instances, packed);
    }
    const points = pointsOf(s, theme, range);
    layers.loadPoints(points.positions, points.colours);
    layers.loadLines(s.lines3 ?? new Float32Array(0), swapBytes(s.line3_colours ?? new Uint32Array(0)));
    choose();
    const contents = new Set(batches.map(b => b.geometry).filter(Boolean));
    layers.dropGeometries(contents);
    for (const id of known.keys()) if (!contents.has(id)) known.delete(id);
    for (const id of contents) if (!layers.has(id)) ask(id);
  }

  /** ask asks for a content, one at a time each, and after an error again a second later. */
  async function ask(id) {
    if (known.has(id)) return layers.addGeometry(id, known.get(id));
    if ((waiting.get(id) ?? 0) > performance.now()) return;
    waiting.set(id, Infinity);
    try {
      known.set(id, readGeometry(await geometry(id)));
      waiting.delete(id);
      if (layers && !layers.has(id)) layers.addGeometry(id, known.get(id));
      invalidate();
    } catch (err) {
      waiting.set(id, performance.now() + 1000);
      onProblem(err.message);
    }
  }

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
      if (layers && !gl.isContextLost()) drawWorld();
      showScale();
      keepLast(stats.drawMs, performance.now() - start);
    }
    for (const resolve of drawn.splice(0)) resolve();
  }

  function drawWorld() {
    if (!theme) { // the colours of the instances are those of the theme
      theme = readTheme3(overlay);
      if (frame) upload();
    }
    const ratio = Math.min(window.devicePixelRatio || 1, maxRatio), width = Math.max(1, Math.round(camera.width * ratio)), height = Math.max(1, Math.round(camera.height * ratio));
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const view = { ...orbitView(camera), width, height, ratio, near: camera.distance / 200, target: camera.target };
    const step = niceLength(camera.distance / 4), { lines, colours } = groundGrid(camera, step, theme);
    layers.loadGrid(lines, colours);
    layers.clear(width, height, theme.card);
    const light = unitVector(addVectors(addVectors(scaleVector(camera.up, 0.8), scaleVector(view.axes.right, 0.45)), scaleVector(view.axes.back, 0.55)));
    const i = selected === null || !frame ? -1 : indexOf(slots, selected);
    layers.draw(view, { light, up: camera.up, accent: theme.accent, fade: 12 * step, dot: 5 }, frame?.head.space.batches ?? [], chosen, i < 0 ? null : positionOf(i));
    compass.show(view.axes);
  }

  function positionOf(i) {
    const { x, y, z } = frame.sections, p = [x[i], y[i], z[i]];
    return p.every(Number.isFinite) ? p : null;
  }

  /** choose finds the instances of the selected entity. */
  function choose() {
    chosen = [];
    const row = selected === null || !frame ? -1 : indexOf(slots, selected), rows = frame?.sections.instance_rows ?? [];
    if (row < 0) return;
    for (let i = rows.indexOf(row); i >= 0 && chosen.length < 256; i = rows.indexOf(row, i + 1)) chosen.push(i);
  }

  function showScale() {
    const pixel = metresPerPixel(camera), length = niceLength(120 * pixel);
    overlay.scale(length, length / pixel);
    overlay.legend(frame && range, frame?.by ?? "", theme?.css ?? []);
    overlay.forces(selected !== null && frame?.head.forces || []);
  }

  function fit() {
    const e = frame?.sections.extent3;
    if (e && camera.width > 1) {
      fitOrbit(camera, e);
      fitted = true;
    }
    return invalidate();
  }

  function keepFollowed() {
    const i = followed === null || !frame ? -1 : indexOf(slots, followed), p = i < 0 ? null : positionOf(i);
    if (p) camera.target = p;
  }

  const view = {
    load, draw, fit, stats, camera,
    supported: Boolean(gl),
    select(slot) {
      selected = slot;
      choose();
      return invalidate();
    },
    follow(slot) {
      followed = slot;
      keepFollowed();
      return invalidate();
    },
    zoom(factor) {
      zoomOrbit(camera, camera.width / 2, camera.height / 2, factor);
      return invalidate();
    },
    reset() {
      frame = range = selected = followed = null;
      chosen = [];
      slots = new Uint32Array(0);
      waiting.clear();
      known.clear();
      fitted = false;
      return invalidate();
    },
    /** look sets some of target, yaw, pitch and distance of the camera, instead of the first fit. */
    look(where) {
      Object.assign(camera, where);
      fitted = true;
      return invalidate();
    },
    rayOf: (px, py) => rayOf(camera, px, py),
    toScreen: p => projectPoint(camera, p),
    missing: () => (frame?.head.space.batches ?? []).filter(b => b.geometry && !layers?.has(b.geometry)).length,
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
    picked: (px, py, event) => onPick(rayOf(camera, px, py), pickPixels * metresPerPixel(camera) / camera.distance, event),
    hover() {},
  }, { turn: orbitBy, pan: panOrbit, zoom: zoomOrbit });
  new ResizeObserver(([{ contentRect }]) => {
    if (!(contentRect.width > 0 && contentRect.height > 0)) return; // hidden
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
      layers = newLayers3(gl);
      if (frame) upload();
      invalidate();
    },
  });
  return view;
}

/** colourInstances fills in the colours of instances as bytes red, green, blue, alpha: that of a value, if entities have one, or that of the state of the body. */
function colourInstances(out, { instance_colours: states, instance_rows: rows, by }, theme, range) {
  const span = range ? range.greatest - range.least : 0, steps = theme.scale.length - 1;
  for (let i = 0; i < out.length; i++) {
    const state = states[i];
    let r = state >>> 24, g = state >>> 16 & 255, b = state >>> 8 & 255, towards = state & flagStatic ? 0.3 : 0;
    if (range) {
      const v = rows[i] === noRow ? NaN : by[rows[i]];
      const c = rows[i] === noRow ? theme.neutral : v !== v ? theme.missing : theme.scale[span > 0 ? Math.round(Math.min(Math.max((v - range.least) / span, 0), 1) * steps) : 0];
      [r, g, b] = c;
      towards = 0;
    }
    if (state & flagAsleep) towards = 0.5;
    if (towards) {
      r += (theme.dim[0] - r) * towards;
      g += (theme.dim[1] - g) * towards;
      b += (theme.dim[2] - b) * towards;
    }
    const alpha = state & flagSensor ? 90 : 255;
    out[i] = packBytes(r, g, b, alpha);
  }
}

const littleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
/** packBytes returns the number with these bytes in memory. */
const packBytes = littleEndian ? (r, g, b, a) => (r | g << 8 | b << 16 | a << 24) >>> 0 : (r, g, b, a) => (r << 24 | g << 16 | b << 8 | a) >>> 0;

/** swapBytes returns 0xRRGGBBAA as bytes red, green, blue, alpha. */
const swapBytes = colours => colours.map(c => packBytes(c >>> 24, c >>> 16 & 255, c >>> 8 & 255, c & 255));

/** pointsOf returns the positions and colours of the entities that no instance shows. */
function pointsOf({ x = [], y, z, by, instance_rows: rows = [] }, theme, range) {
  const shown = new Uint8Array(x.length);
  for (let i = 0; i < rows.length; i++) if (rows[i] !== noRow) shown[rows[i]] = 1;
  let n = 0;
  for (let i = 0; i < x.length; i++) n += 1 - shown[i];
  const positions = new Float32Array(3 * n), colours = new Uint32Array(n), span = range ? range.greatest - range.least : 0, steps = theme.scale.length - 1;
  for (let i = 0, k = 0; i < x.length; i++) {
    if (shown[i]) continue;
    positions[3 * k] = x[i];
    positions[3 * k + 1] = y[i];
    positions[3 * k + 2] = z[i];
    const v = range ? by[i] : 0, c = !range ? theme.plain : v !== v ? theme.missing : theme.scale[span > 0 ? Math.round(Math.min(Math.max((v - range.least) / span, 0), 1) * steps) : 0];
    colours[k++] = packBytes(c[0], c[1], c[2], 255);
  }
  return { positions, colours };
}

/** groundGrid returns lines on the plane through the origin that is level, about the point below the target, and the axes of the world. */
function groundGrid({ up, target }, step, theme) {
  const k = up.findIndex(v => v !== 0), [a, b] = [(k + 1) % 3, (k + 2) % 3], reach = 12, lines = [], colours = [];
  const [ca, cb] = [a, b].map(axis => Math.round(target[axis] / step));
  const put = (p, q, colour) => {
    lines.push(...p, ...q);
    colours.push(colour);
  };
  const at = (u, v) => {
    const p = [0, 0, 0];
    p[a] = u * step;
    p[b] = v * step;
    return p;
  };
  for (let i = -reach; i <= reach; i++) {
    for (let part = -reach; part < reach; part++) { // in parts, since a line fades from end to end
      put(at(ca + i, cb + part), at(ca + i, cb + part + 1), ca + i === 0 ? theme.axes[b] : theme.grid);
      put(at(ca + part, cb + i), at(ca + part + 1, cb + i), cb + i === 0 ? theme.axes[a] : theme.grid);
    }
  }
  put([0, 0, 0], up.map(v => 2 * step * Math.abs(v)), theme.axes[k]);
  return { lines: new Float32Array(lines), colours: new Uint32Array(colours) };
}

const axisColours = ["#d0453a", "#3f9a45", "#3f6fd8"]; // x, y, z

/** readTheme3 returns the colours of the style sheet as the layers take them. */
function readTheme3(overlay) {
  const [card, soft, line, accent, bad] = ["--card", "--soft", "--line", "--accent", "--bad"].map(overlay.colour);
  const dark = card[0] + card[1] + card[2] < 1.5, bytes = rgb => rgb.map(v => Math.round(255 * v)), stops = 64;
  const scale = Array.from({ length: stops + 1 }, (_, i) => scaleColour(dark ? 0.3 + 0.7 * i / stops : 0.65 * i / stops));
  const axes = axisColours.map(c => packBytes(...[1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16)), 255));
  return {
    card, accent, plain: bytes(accent), missing: bytes(bad), neutral: bytes(soft), dim: bytes(card), scale: scale.map(bytes), axes, grid: packBytes(...bytes(line), 255),
    css: Array.from({ length: 9 }, (_, i) => `rgb(${bytes(scale[i * stops / 8]).join(" ")})`),
  };
}

/** newCompass shows how the axes of the world lie in the picture. */
function newCompass(canvas) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), parts = [];
  svg.setAttribute("class", "world-compass");
  svg.setAttribute("viewBox", "-32 -32 64 64");
  svg.setAttribute("aria-hidden", "true");
  const make = name => svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", name));
  for (const [k, colour] of axisColours.entries()) {
    const line = make("line"), text = make("text");
    line.setAttribute("stroke", colour);
    line.setAttribute("stroke-width", "2.5");
    text.textContent = "xyz"[k];
    parts.push({ line, text });
  }
  canvas.parentElement.querySelector(".world-overlay").append(svg);
  return {
    show({ right, up }) {
      for (const [k, { line, text }] of parts.entries()) {
        const x = right[k], y = -up[k];
        line.setAttribute("x2", (18 * x).toFixed(1));
        line.setAttribute("y2", (18 * y).toFixed(1));
        text.setAttribute("x", (25 * x).toFixed(1));
        text.setAttribute("y", (25 * y).toFixed(1));
      }
    },
  };
}
