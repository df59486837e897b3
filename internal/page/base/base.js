const byId = id => document.getElementById(id);

// Figures

const formats = new Map();
function number(v, digits = 0) {
  if (!formats.has(digits)) formats.set(digits, new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
  return formats.get(digits).format(v).replace("-", "−");
}
const signed = (v, digits) => (v > 0 ? "+" : "") + number(v, digits);
const plural = (v, word) => number(v) + " " + word + (v === 1 ? "" : "s");

const unitsOfTime = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];

// unitOf returns the unit in which a time of v nanoseconds is read best, with its nanoseconds and the digits after the point.
function unitOf(v) {
  const [name, ns] = unitsOfTime.findLast(u => Math.abs(v) >= u[1]) ?? unitsOfTime[0];
  return { name, ns, digits: ns === 1 ? 0 : Math.abs(v) < 10 * ns ? 3 : Math.abs(v) < 100 * ns ? 2 : 1 };
}

// duration writes v nanoseconds in the unit, unless the unit is far too small for it; without one, in its own.
function duration(v, unit) {
  if (!unit || Math.abs(v) >= 1e4 * unit.ns) unit = unitOf(v);
  return number(v / unit.ns, unit.digits) + " " + unit.name;
}

function count(v) { // for axes
  for (const [size, name] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
    if (Math.abs(v) >= size) return +(v / (name === "k" ? 1e3 : size)).toPrecision(4) + " " + name;
  }
  return number(v, v % 1 ? 1 : 0);
}

function quantile(sorted, q) { return sorted[Math.max(0, Math.ceil(q * sorted.length - 1e-9) - 1)]; }

// Elements

function draw(parent, tag, attributes, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return parent.appendChild(e);
}

function element(parent, tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return parent.appendChild(e);
}

// Charts

// chart clears the host and returns the drawing with its margins. The host's data-label names it for readers of the screen.
function chart(host, height, left = 52) {
  host.querySelector("svg")?.remove();
  const width = Math.max(200, host.clientWidth);
  const root = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", host.dataset.label);
  host.prepend(root);
  return { root, left, right: width - 10, top: 24, bottom: height - 26, taken: [] };
}

// label writes a text at the first of the places where it lies on no other, within the chart; if
// there is none, it is left out: what it says must stand elsewhere in the page as well.
function label(c, className, text, places) {
  const e = draw(c.root, "text", { class: "label " + className }, text);
  for (const [x, y, anchor] of places) {
    e.setAttribute("x", round(x));
    e.setAttribute("y", round(y));
    e.setAttribute("text-anchor", anchor);
    const box = e.getBBox(), l = box.x, r = box.x + box.width, t = box.y, b = box.y + box.height;
    if (l < c.left || r > c.right + 10 || t < 0 || b > c.bottom + 2) continue;
    if (c.taken.some(o => l < o.r && o.l < r && t < o.b && o.t < b)) continue;
    c.taken.push({ l, r, t, b });
    return;
  }
  e.remove();
}

const round = v => Math.round(v * 10) / 10;
const scale = (from, to, a, b) => v => a + (to > from ? (v - from) / (to - from) : 0.5) * (b - a);

function ticks(from, to, about) {
  const rough = (to - from) / about || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(m => m * power >= rough * 0.999);
  const all = [];
  for (let i = Math.ceil(from / step); i * step <= to + step / 1e6; i++) all.push(i * step);
  return all;
}

// axis draws the lines and figures of the axis of y, from least to top, which are multiples of unit.ns. It is logarithmic if least is above 0.
function axis(c, y, top, unit, least = 0) {
  const to = top / unit.ns, from = least / unit.ns;
  const marks = from ? decades(from, to) : ticks(0, to, 4);
  const digits = Math.max(0, ...marks.map(v => v ? -Math.floor(Math.log10(v) + 1e-9) : 0), from ? 0 : digitsOf(marks));
  for (const v of marks) {
    const at = round(y(v * unit.ns));
    draw(c.root, "line", { class: v ? "grid" : "base", x1: c.left, x2: c.right, y1: at, y2: at });
    draw(c.root, "text", { class: "axis", x: c.left - 8, y: at + 4, "text-anchor": "end" }, number(v, from && v >= 1 ? 0 : digits));
  }
  draw(c.root, "text", { class: "axis unit", x: 0, y: 12 }, unit.name + (from ? ", logarithmic" : ""));
}

const digitsOf = marks => marks.length > 1 ? Math.max(0, -Math.floor(Math.log10(marks[1] - marks[0]) + 1e-9)) : 0;

// decades are 1, 2 and 5 times powers of ten, or the powers alone if they are many.
function decades(from, to) {
  const marks = [], steps = to / from > 300 ? [1] : to / from > 30 ? [1, 3] : [1, 2, 5];
  for (let power = 10 ** Math.floor(Math.log10(from)); power <= to; power *= 10) {
    for (const step of steps) if (power * step >= from && power * step <= to) marks.push(+(power * step).toPrecision(1));
  }
  return marks;
}

// limit draws a line at a value, with its name; nothing if the value is not in the chart.
function limit(c, y, top, at, kind, name) {
  if (!(at > 0 && at <= top)) return;
  const py = round(y(at));
  draw(c.root, "line", { class: "limit " + kind, x1: c.left, x2: c.right, y1: py, y2: py });
  label(c, kind, name, [[c.right - 4, py - 5, "end"], [c.right - 4, py + 14, "end"], [c.left + 4, py - 5, "start"], [c.left + 4, py + 14, "start"]]);
}

// The tip

const tip = byId("tip");
function showTip(event, lines) {
  tip.replaceChildren();
  lines.forEach((line, i) => element(tip, "div", i ? "" : "first", line));
  tip.hidden = false;
  const box = tip.getBoundingClientRect(), room = document.documentElement.clientWidth;
  const x = event.clientX + 14 + box.width > room ? event.clientX - 14 - box.width : event.clientX + 14;
  tip.style.left = Math.max(4, x) + "px";
  tip.style.top = Math.max(4, event.clientY - box.height - 12) + "px";
}
const hideTip = () => { tip.hidden = true; };

// tips shows beside the pointer the lines that the function returns for a place in the host; none if it returns nothing.
function tips(host, lines) {
  host.addEventListener("pointermove", event => {
    const box = host.getBoundingClientRect();
    const found = lines(event.clientX - box.left, event.clientY - box.top);
    if (found) showTip(event, found); else hideTip();
  });
  host.addEventListener("pointerleave", hideTip);
}

// Settings of the reader

// remembered returns what remember has kept under a name in this browser; null if nothing, or if the browser keeps nothing.
function remembered(name) {
  try { return localStorage.getItem("evertick." + name); } catch { return null; }
}
function remember(name, value) {
  try { localStorage.setItem("evertick." + name, value); } catch { /* the page works without */ }
}

// theme lets the button choose between the theme of the system, light and dark, beginning with now, and calls changed with each choice.
function theme(now = "auto", changed = () => {}) {
  const root = document.documentElement, button = byId("theme"), names = ["auto", "light", "dark"];
  let i = Math.max(0, names.indexOf(now));
  const set = () => {
    if (i) root.dataset.theme = names[i]; else delete root.dataset.theme;
    button.textContent = "Theme: " + names[i];
  };
  set();
  button.addEventListener("click", () => {
    i = (i + 1) % names.length;
    set();
    changed(names[i]);
  });
}
