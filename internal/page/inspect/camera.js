// The camera: its centre in metres, its scale in CSS pixels per metre, its size in CSS pixels. y points upwards.

const leastScale = 1e-30, greatestScale = 1e6; // a fit of anything finite; a thousandth of a millimetre per pixel

function newCamera() {
  return { x: 0, y: 0, scale: 50, width: 1, height: 1 };
}

/** toWorld returns the point of the plane under a pixel. */
const toWorld = (c, px, py) => [c.x + (px - c.width / 2) / c.scale, c.y - (py - c.height / 2) / c.scale];

/** toScreen returns the pixel at a point of the plane. */
const toScreen = (c, x, y) => [(x - c.x) * c.scale + c.width / 2, (c.y - y) * c.scale + c.height / 2];

/** panCamera moves what is seen by a number of pixels. */
function panCamera(c, dx, dy) {
  c.x -= dx / c.scale;
  c.y += dy / c.scale;
}

/** zoomCamera multiplies the scale; the point under the pixel stays there. */
function zoomCamera(c, px, py, factor) {
  const [x, y] = toWorld(c, px, py);
  c.scale = Math.min(Math.max(c.scale * factor, leastScale), greatestScale);
  const [nx, ny] = toWorld(c, px, py);
  c.x += x - nx;
  c.y += y - ny;
}

/** fitCamera shows a box [min x, min y, max x, max y] with a margin; it leaves the camera if that is none. */
function fitCamera(c, [minX, minY, maxX, maxY]) {
  if (!(minX <= maxX && minY <= maxY && Number.isFinite(maxX - minX + maxY - minY))) return;
  c.x = (minX + maxX) / 2;
  c.y = (minY + maxY) / 2;
  const scale = 0.9 * Math.min(c.width / (maxX - minX), c.height / (maxY - minY));
  c.scale = Number.isFinite(scale) ? Math.min(Math.max(scale, leastScale), greatestScale) : 50;
}

/** niceLength returns the greatest length of 1, 2 or 5 times a power of ten that does not exceed v. */
function niceLength(v) {
  const power = 10 ** Math.floor(Math.log10(v)), digit = v / power;
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

/** lengthText writes a length of niceLength, given in metres. */
function lengthText(v) {
  for (const [unit, size] of [["km", 1e3], ["m", 1], ["cm", 0.01], ["mm", 0.001], ["µm", 1e-6]]) {
    if (v >= 0.999 * size) return `${+(v / size).toPrecision(3)} ${unit}`;
  }
  return `${v.toPrecision(1)} m`;
}

/** gridLines returns the multiples of step between two coordinates, at most 256. */
function gridLines(from, to, step) {
  const lines = [];
  for (let i = Math.ceil(from / step); i * step <= to && lines.length < 256; i++) lines.push(i * step);
  return lines;
}
