const data = JSON.parse(byId("data").textContent);

// Columns

function unpack({ d, u, z }) {
  const bytes = atob(d), values = [];
  let value = 0, scale = 1, sum = 0;
  for (let i = 0; i < bytes.length; i++) {
    const b = bytes.charCodeAt(i);
    value += (b & 127) * scale;
    if (b & 128) {
      scale *= 128;
      continue;
    }
    if (z) value = sum += value % 2 ? -(value + 1) / 2 : value / 2;
    values.push(value * u);
    value = 0;
    scale = 1;
  }
  return Float64Array.from(values);
}

const ns = unpack(data.ns), tick = unpack(data.tick);
const means = data.mean ? unpack(data.mean) : ns;
const overs = data.over ? unpack(data.over) : ns.map(v => Number(data.budget > 0 && v > data.budget));
const phases = data.phases.map(p => {
  const slowest = unpack(p.ns);
  return { ...p, slowest, mean: p.mean ? unpack(p.mean) : slowest };
});
const causes = data.causes.map(c => ({ ...c, values: unpack(c.values) }));
const n = ns.length; // places; each stands for data.bucket steps
const stepsIn = (a, b) => Math.min(data.steps, b * data.bucket) - a * data.bucket;

const time = v => duration(v, data.unit);

// far tells how far above the chart the budget is.
function far(c, top) {
  if (data.budget <= top) return;
  const times = number(data.budget / top, data.budget < 10 * top ? 1 : 0), unit = c.root.querySelector("text.unit").getBBox();
  const e = draw(c.root, "text", { class: "axis", x: c.right, y: 12, "text-anchor": "end" });
  for (const words of [`↑ the budget, ${time(data.budget)}, is ${times} times as high as this chart`, `↑ the budget is ${times} times as high`, `↑ budget ${times}×`, ""]) {
    e.textContent = words;
    if (c.right - e.getComputedTextLength() > unit.x + unit.width + 8) return;
  }
}

// The top of charts of steps. Rare long steps are cut off, unless all is to be seen.

let full = false;
const usual = 3 * data.p95;
function topOf(max) {
  let top = full || max <= usual ? max : usual;
  if (data.budget > top && data.budget < 1.7 * top) top = data.budget;
  return top * 1.06 || 1;
}

function tellStep(k) {
  const lines = [`tick ${number(tick[k], 0)}: ${time(ns[k])}`];
  if (data.bucket > 1) lines[0] = "the slowest of " + plural(stepsIn(k, k + 1), "step") + ", " + lines[0];
  phases.map(p => [p.slowest[k], p.name]).sort((a, b) => b[0] - a[0]).slice(0, 4).forEach(([v, name]) => lines.push(`${name} ${time(v)}`));
  causes.filter(c => !c.time).forEach(c => lines.push(`${c.name}: ${number(c.values[k], 0)}`));
  return lines;
}

// What is selected: places from a to b, b excluded, and one that is marked.

const selected = { a: 0, b: n, mark: -1 };
const all = () => selected.a === 0 && selected.b === n;
function select(a, b, mark = -1) {
  a = Math.max(0, Math.min(a, n - 1));
  b = Math.max(a + 1, Math.min(b, n));
  Object.assign(selected, { a, b, mark });
  drawBrush();
  drawFigures();
  drawStack();
  drawScatter();
}

// Frames

const frames = byId("frames-chart");
let bars = null; // geometry of the last drawing

function columnsOf(c, from, to, thin) {
  const columns = Math.max(1, Math.min(to - from, Math.floor((c.right - c.left) / thin)));
  return Array.from({ length: columns }, (_, i) => ({
    from: from + Math.floor(i * (to - from) / columns), to: from + Math.floor((i + 1) * (to - from) / columns),
    x0: c.left + i * (c.right - c.left) / columns, x1: c.left + (i + 1) * (c.right - c.left) / columns,
  }));
}

function slowestOf(column) {
  let worst = column.from;
  for (let k = column.from; k < column.to; k++) if (ns[k] > ns[worst]) worst = k;
  return worst;
}

function drawFrames() {
  const c = chart(frames, 240), top = topOf(data.max), y = scale(0, top, c.bottom, c.top);
  axis(c, y, top, data.unit);
  axisOfTicks(c, 0, n);
  const columns = columnsOf(c, 0, n, 2), paths = { bar: "", slow: "", over: "", half: "", cut: "" };
  for (const column of columns) {
    column.worst = slowestOf(column);
    const v = ns[column.worst], gap = column.x1 - column.x0 > 3 ? 1 : 0.3;
    const kind = data.budget > 0 && v > data.budget ? "over" : v > data.p95 ? "slow" : "bar";
    const w = column.x1 - column.x0 - gap;
    paths[kind] += `M${round(column.x0)} ${c.bottom}V${round(y(Math.min(v, top)))}h${w.toFixed(2)}V${c.bottom}z`;
    if (column.to - column.from > 2) { // the grey part
      const some = ns.slice(column.from, column.to).sort();
      paths.half += `M${round(column.x0)} ${c.bottom}V${round(y(Math.min(quantile(some, 0.5), top)))}h${w.toFixed(2)}V${c.bottom}z`;
    }
    if (v > top) paths.cut += `M${round(column.x0 + w / 2)} ${c.top - 8}l4 7h-8z`;
  }
  for (const [kind, d] of Object.entries(paths)) if (d) draw(c.root, "path", { class: kind === "bar" && paths.half ? "bar light" : kind, d });
  bars = { c, columns, overlay: draw(c.root, "g", {}) };
  limit(c, y, top, data.p95, "p95", "p95 " + time(data.p95));
  limit(c, y, top, data.budget, "budget", "budget " + time(data.budget));
  far(c, top);
  drawBrush();
}

// axisOfTicks has round ticks, at the places where they were reached.
function axisOfTicks(c, from, to) {
  const width = c.right - c.left, first = tick[from], last = tick[to - 1];
  const marks = ticks(first, last, Math.max(1, width / 130)).filter(v => v % 1 === 0);
  if (!marks.length) marks.push(first);
  let free = 0, k = from;
  for (const v of marks) {
    while (k < to - 1 && tick[k] < v) k++;
    const words = (free ? "" : "tick ") + number(v, 0), half = words.length * 3.4;
    const x = Math.max(c.left + half, Math.min(c.right - half, c.left + (k - from + 0.5) / (to - from) * width));
    if (x - half < free) continue;
    free = x + half + 10;
    draw(c.root, "text", { class: "axis", x: round(x), y: c.bottom + 21, "text-anchor": "middle" }, words); // below the mark
  }
}

const xOf = k => bars.c.left + k / n * (bars.c.right - bars.c.left);
const placeAt = x => Math.max(0, Math.min(n, (x - bars.c.left) / (bars.c.right - bars.c.left) * n));

function drawBrush() {
  const { c, overlay } = bars;
  overlay.replaceChildren();
  const height = c.bottom - c.top + 10, y = c.top - 10;
  if (selected.mark >= 0) {
    const x = round(xOf(selected.mark + 0.5));
    draw(overlay, "path", { class: "mark", d: `M${x} ${c.bottom + 1}l5 8h-10z` });
  }
  if (!all()) {
    const x0 = round(xOf(selected.a)), x1 = Math.max(x0 + 2, round(xOf(selected.b)));
    draw(overlay, "rect", { class: "dim", x: c.left, y, width: Math.max(0, x0 - c.left), height });
    draw(overlay, "rect", { class: "dim", x: x1, y, width: Math.max(0, c.right - x1), height });
    draw(overlay, "rect", { class: "brush", x: x0, y, width: x1 - x0, height });
    for (const x of [x0, x1]) draw(overlay, "rect", { class: "handle", x: x - 2, y: y + height / 2 - 14, width: 4, height: 28, rx: 2 });
  }
  byId("all-steps").disabled = all();
}

function brushByPointer() {
  let drag = null; // where it began, and what it does
  const local = event => event.clientX - frames.getBoundingClientRect().left;
  frames.addEventListener("pointerdown", event => {
    if (event.button !== 0) return;
    const x = local(event), at = placeAt(x), near = event.pointerType === "touch" ? 14 : 6;
    drag = { from: at, a: selected.a, b: selected.b, how: "new", moved: false };
    if (!all()) {
      if (Math.abs(x - xOf(selected.a)) <= near) Object.assign(drag, { how: "edge", from: selected.b });
      else if (Math.abs(x - xOf(selected.b)) <= near) Object.assign(drag, { how: "edge", from: selected.a });
      else if (at > selected.a && at < selected.b) drag.how = "move";
    }
    drag.x = x;
    frames.setPointerCapture(event.pointerId);
  });
  frames.addEventListener("pointermove", event => {
    if (!drag) return;
    const x = local(event), at = placeAt(x);
    drag.moved ||= Math.abs(x - drag.x) > 3;
    if (!drag.moved) return;
    hideTip();
    if (drag.how === "move") {
      const width = drag.b - drag.a, a = Math.max(0, Math.min(n - width, drag.a + Math.round(at - drag.from)));
      select(a, a + width);
    } else {
      select(Math.floor(Math.min(at, drag.from)), Math.ceil(Math.max(at, drag.from)));
    }
  });
  const end = () => {
    if (drag && !drag.moved && drag.how !== "edge") selectAround(bars.columns.find(c => c.to > drag.from)?.worst ?? n - 1);
    drag = null;
  };
  frames.addEventListener("pointerup", end);
  frames.addEventListener("pointercancel", () => { drag = null; });
  frames.addEventListener("dblclick", () => select(0, n));
}

function brushByKeys(event) {
  const width = selected.b - selected.a, step = Math.max(1, Math.round(n / 100));
  const to = a => { a = Math.max(0, Math.min(n - width, a)); select(a, a + width); };
  const keys = {
    ArrowLeft: () => event.shiftKey ? select(selected.a, selected.b - step) : to(selected.a - step),
    ArrowRight: () => event.shiftKey ? select(selected.a, selected.b + step) : to(selected.a + step),
    PageUp: () => to(selected.a - width), PageDown: () => to(selected.a + width),
    Home: () => to(0), End: () => to(n), Escape: () => select(0, n),
  };
  if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  if (all() && event.key !== "Escape") { // a tenth of all is a beginning
    const tenth = Math.max(1, Math.round(n / 10)), last = ["ArrowLeft", "End", "PageUp"].includes(event.key);
    select(last ? n - tenth : 0, last ? n : tenth);
  } else {
    keys[event.key]();
  }
}

function selectAround(k) {
  const half = Math.max(12, Math.round(n / 120));
  select(k - half, k + half + 1, k);
}

// The figures of what is selected

function meanOf(values) { // of places, by the steps that they stand for
  let sum = 0;
  for (let k = selected.a; k < selected.b; k++) sum += values[k] * stepsIn(k, k + 1);
  return sum / stepsIn(selected.a, selected.b);
}

function drawFigures() {
  const { a, b } = selected, list = byId("figures"), some = Float64Array.from(ns.subarray(a, b)).sort();
  const steps = stepsIn(a, b);
  const figures = [[all() ? "all steps" : "selected", number(steps, 0)],
    [data.bucket > 1 ? "ticks, about" : "ticks", `${number(tick[a], 0)} – ${number(tick[b - 1], 0)}`], ["mean", time(meanOf(means))]];
  if (data.bucket === 1) figures.push(["p50", time(quantile(some, 0.5))], ["p95", time(quantile(some, 0.95))]);
  figures.push(["slowest", time(some[some.length - 1])]);
  if (data.budget > 0) figures.push(["over budget", number(overs.subarray(a, b).reduce((x, y) => x + y, 0), 0)]);
  list.replaceChildren();
  for (const [name, value] of figures) {
    const group = element(list, "div");
    element(group, "dt", "", name);
    element(group, "dd", "", value);
  }
}

// Stacked phases

const stack = byId("stack-chart");
let stacked = null;

function drawStack() {
  if (!stack) return;
  const c = chart(stack, 240);
  drawTextures(c);
  const columns = columnsOf(c, selected.a, selected.b, 3);
  for (const column of columns) {
    let sum = 0;
    const steps = stepsIn(column.from, column.to);
    column.levels = phases.map(p => {
      let total = 0;
      for (let k = column.from; k < column.to; k++) total += p.mean[k] * stepsIn(k, k + 1);
      return sum += Math.max(0, total / steps);
    });
    column.sum = sum;
  }
  const highest = columns.reduce((max, column) => Math.max(max, column.sum), 0);
  const top = topOf(highest), y = scale(0, top, c.bottom, c.top);
  axis(c, y, top, data.unit);
  axisOfTicks(c, selected.a, selected.b);
  phases.forEach((p, i) => {
    let upper = "", lower = "";
    for (const column of columns) {
      const high = round(y(Math.min(top, column.levels[i]))), low = round(y(Math.min(top, i ? column.levels[i - 1] : 0)));
      upper += `${upper ? "L" : "M"}${round(column.x0)} ${high}H${round(column.x1)}`;
      lower = `L${round(column.x1)} ${low}H${round(column.x0)}` + lower;
    }
    const d = upper + lower + "z", texture = p.look.split(" ")[1];
    draw(c.root, "path", { class: "area " + p.look, d });
    if (texture) draw(c.root, "path", { class: "texture " + texture, d });
  });
  limit(c, y, top, data.budget, "budget", "budget " + time(data.budget));
  stacked = { c, columns };
  drawLegend();
}

// drawTextures defines what fills the phases for which there is no colour of their own: stripes
// in three directions, and dots, as in the swatches of the legend.
function drawTextures(c) {
  const defs = draw(c.root, "defs", {});
  for (const [id, d, angle] of [["t1", "M2 0V4", -45], ["t2", "M2 0V4", 45], ["t3", "M2 0V4", 0], ["t4", "", 0]]) {
    const pattern = draw(defs, "pattern", { id, width: 4, height: 4, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${angle})` });
    if (d) draw(pattern, "path", { d }); else draw(pattern, "circle", { cx: 2, cy: 2, r: 1.2 });
  }
}

function drawLegend() {
  const list = byId("legend");
  list.replaceChildren();
  for (const p of phases) {
    const item = element(list, "li"), mean = meanOf(p.mean);
    element(item, "span", "swatch " + p.look);
    element(item, "span", "name", p.name);
    element(item, "span", "value", time(mean));
    const change = Math.abs(p.all) > 0 ? 100 * (mean / p.all - 1) : 0;
    element(item, "span", "change", all() ? "" : Math.abs(change) < 0.5 ? "as in all" : Math.abs(change) > 1e4 ? "≫ all" : signed(change, 0) + " %");
  }
}

function tellStack(x) {
  const column = stacked?.columns.find(c => x >= c.x0 && x < c.x1);
  if (!column) return null;
  const first = number(tick[column.from], 0), last = number(tick[column.to - 1], 0);
  const lines = [column.to - column.from > 1 ? `ticks ${first} – ${last}, mean ${time(column.sum)}` : `tick ${first}: ${time(column.sum)}`];
  phases.map((p, i) => [column.levels[i] - (i ? column.levels[i - 1] : 0), p.name]).sort((a, b) => b[0] - a[0]).slice(0, 6)
    .forEach(([v, name]) => lines.push(`${name} ${time(v)}`));
  return lines;
}

// The percentile curve

const curve = byId("percentiles-chart");
let curved = null;

function drawCurve() {
  const c = chart(curve, 280), last = data.curve[data.curve.length - 1][0], x = scale(0, last, c.left, c.right - 6);
  const beside = data.was ? data.was.filter(p => p[0] <= last).reduce((max, p) => Math.max(max, p[1]), 0) : 0;
  let top = Math.max(data.max, Math.min(beside, 1.5 * data.max));
  if (data.budget > top && data.budget < 1.7 * top) top = data.budget;
  top = top * 1.06 || 1;
  const quickest = data.curve[0][1], log = data.max > 8 * data.p50 && quickest > 0; // long steps would press the others flat
  const least = log ? quickest * 0.8 : 0;
  const y = log ? v => scale(Math.log(least), Math.log(top), c.bottom, c.top)(Math.log(Math.max(v, least))) : scale(0, top, c.bottom, c.top);
  axis(c, y, top, data.unit, least);
  if (log) draw(c.root, "line", { class: "base", x1: c.left, x2: c.right, y1: c.bottom, y2: c.bottom });
  let free = 0;
  for (const q of ["0", "50", "90", "95", "99", "99.9", "99.99", "99.999"]) {
    const at = Math.log10(1 / (1 - q / 100));
    if (at > last + 1e-9) break;
    draw(c.root, "line", { class: "grid", x1: round(x(at)), x2: round(x(at)), y1: c.top, y2: c.bottom });
    if (x(at) < free) continue;
    free = x(at) + 22 + 7 * q.length;
    draw(c.root, "text", { class: "axis", x: round(x(at)), y: c.bottom + 17, "text-anchor": "middle" }, q + " %");
  }
  if (c.right - 36 > free) draw(c.root, "text", { class: "axis", x: c.right, y: c.bottom + 17, "text-anchor": "end" }, "slowest");
  const path = points => points.map(([q, v], i) => `${i ? "L" : "M"}${round(x(Math.min(q, last)))} ${round(Math.max(c.top - 20, y(v)))}`).join("");
  if (data.was) draw(c.root, "path", { class: "was", d: path(data.was.filter(p => p[0] <= last)) });
  draw(c.root, "path", { class: "curve", d: path(data.curve) });
  const p95 = Math.log10(20);
  if (p95 <= last) {
    draw(c.root, "circle", { class: "dot", cx: round(x(p95)), cy: round(y(data.p95)), r: 4 });
    const px = x(p95), py = y(data.p95);
    c.taken.push({ l: px - 6, r: px + 6, t: py - 6, b: py + 6 });
    label(c, "p95", "p95 " + time(data.p95), [[px - 8, py - 9, "end"], [px + 8, py + 17, "start"], [px - 8, py + 17, "end"], [px + 8, py - 9, "start"]]);
  }
  limit(c, y, top, data.budget, "budget", "budget " + time(data.budget));
  far(c, top);
  curved = { c, x, last };
}

function valueOn(points, q) {
  let v = points[0][1];
  for (const p of points) {
    if (p[0] > q + 1e-9) break;
    v = p[1];
  }
  return v;
}

function tellCurve(px) {
  if (!curved || px < curved.c.left || px > curved.c.right) return null;
  const q = Math.min(curved.last, (px - curved.c.left) / (curved.c.right - 6 - curved.c.left) * curved.last);
  const share = 1 - 10 ** -q, v = valueOn(data.curve, q), slower = data.steps * (1 - share);
  const lines = [`${number(100 * share, Math.min(4, 1 + Math.floor(q)))} % of the steps take ${time(v)} or less`];
  lines.push(slower < 1 ? "the slowest step" : "about " + plural(Math.round(slower), "step") + " longer");
  if (data.was) lines.push(`${data.wasBy}: ${time(valueOn(data.was, q))}`);
  return lines;
}

// The scatter chart

const scatter = byId("scatter-chart"), chooser = byId("cause");
let scattered = null;

function drawScatter() {
  if (!scatter) return;
  const cause = causes[chooser.value], c = chart(scatter, 280), values = cause.values;
  let least = Infinity, most = -Infinity;
  for (const v of values) { least = Math.min(least, v); most = Math.max(most, v); }
  if (least > 0 && least < 0.35 * most) least = 0;
  const by = cause.time ? data.unit.ns : 1, top = topOf(data.max), y = scale(0, top, c.bottom, c.top);
  const x = scale(least, most, c.left + 8, c.right - 8);
  axis(c, y, top, data.unit);
  for (const v of ticks(least / by, most / by, Math.max(2, (c.right - c.left) / 110))) {
    draw(c.root, "line", { class: "grid", x1: round(x(v * by)), x2: round(x(v * by)), y1: c.top, y2: c.bottom });
    draw(c.root, "text", { class: "axis", x: round(x(v * by)), y: c.bottom + 17, "text-anchor": "middle" }, count(v));
  }
  draw(c.root, "text", { class: "axis", x: c.right, y: 12, "text-anchor": "end" }, cause.time ? data.unit.name + " →" : "number →");
  const paths = { point: "", chosen: "" };
  for (let k = 0; k < n; k++) {
    const chosen = !all() && k >= selected.a && k < selected.b;
    paths[chosen ? "chosen" : "point"] += `M${round(x(values[k]))} ${round(y(Math.min(ns[k], top)))}h0`;
  }
  for (const [kind, d] of Object.entries(paths)) if (d) draw(c.root, "path", { class: kind + (all() ? "" : " some"), d });
  const line = mediansOf(values);
  if (line.length > 1) draw(c.root, "path", { class: "medians", d: line.map(([a, b], i) => `${i ? "L" : "M"}${round(x(a))} ${round(y(Math.min(top, b)))}`).join("") });
  const words = Math.abs(cause.rank) < 0.1 ? "no relation" : `${Math.abs(cause.rank) < 0.4 ? "a weak" : Math.abs(cause.rank) < 0.7 ? "a clear" : "a strong"} relation: ` +
    (cause.rank > 0 ? "the more, the longer" : "the more, the shorter");
  byId("relation").textContent = `Rank correlation ${number(cause.rank, 2)}, ${words}.`;
  scattered = { x, y, top, values, cause };
}

// mediansOf gives the median of both sides for each tenth of the steps.
function mediansOf(values) {
  const order = Array.from(values.keys()).sort((a, b) => values[a] - values[b] || a - b), line = [];
  const parts = Math.min(10, Math.floor(n / 20));
  for (let i = 0; i < parts; i++) {
    const some = order.slice(Math.floor(i * n / parts), Math.floor((i + 1) * n / parts));
    const point = [values[some[some.length >> 1]], quantile(Float64Array.from(some, k => ns[k]).sort(), 0.5)];
    if (line.length && line[line.length - 1][0] === point[0]) continue;
    line.push(point);
  }
  return line;
}

function tellScatter(px, py) {
  let best = -1, least = 144; // px², not farther
  for (let k = 0; k < n; k++) {
    const far = (scattered.x(scattered.values[k]) - px) ** 2 + (scattered.y(Math.min(ns[k], scattered.top)) - py) ** 2;
    if (far < least) [best, least] = [k, far];
  }
  if (best < 0) return null;
  const { cause } = scattered, v = scattered.values[best];
  return [...tellStep(best).slice(0, 1), `${cause.name}: ${cause.time ? time(v) : number(v, 0)}`];
}

// The page

function redraw() {
  drawFrames();
  drawFigures();
  drawStack();
  drawCurve();
  drawScatter();
}

function wire() {
  brushByPointer();
  frames.addEventListener("keydown", brushByKeys);
  byId("all-steps").addEventListener("click", () => select(0, n));
  byId("slowest-step").addEventListener("click", () => selectAround(slowestOf({ from: 0, to: n })));
  const height = byId("height");
  height.hidden = data.max <= usual;
  height.addEventListener("click", () => {
    full = !full;
    height.setAttribute("aria-pressed", full);
    redraw();
  });
  for (const button of document.querySelectorAll("button[data-step]")) {
    button.addEventListener("click", () => {
      selectAround(Math.floor(button.dataset.step / data.bucket));
      frames.focus({ preventScroll: true });
      byId("frames").scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    });
  }
  if (chooser) {
    causes.forEach((c, i) => element(chooser, "option", "", c.name).value = i);
    chooser.value = causes.reduce((best, c, i) => Math.abs(c.rank) > Math.abs(causes[best].rank) ? i : best, 0);
    chooser.addEventListener("change", drawScatter);
    tips(scatter, tellScatter);
  }
  tips(frames, x => { const c = bars.columns.find(c => x >= c.x0 && x < c.x1); return c && tellStep(c.worst); });
  if (stack) tips(stack, tellStack);
  tips(curve, tellCurve);
}

function follow() { // the width of the window
  let width = frames.clientWidth;
  new ResizeObserver(() => {
    if (frames.clientWidth === width) return;
    width = frames.clientWidth;
    requestAnimationFrame(redraw);
  }).observe(frames);
}

document.documentElement.classList.add("js");
theme();
if (n > 0) {
  wire();
  redraw();
  follow();
}
