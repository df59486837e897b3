// The camera in space: it looks at a target from a distance, in metres, in a direction of two angles, in radians. up is the axis of the world that is up
// in the picture. width and height are in CSS pixels.

const angleOfView = 0.8, steepest = Math.PI / 2 - 0.001;
const leastDistance = 1e-3, greatestDistance = 1e7;
const turnPerPixel = 0.008;

function newOrbit() {
  return { target: [0, 0, 0], up: [0, 1, 0], yaw: 0.6, pitch: 0.45, distance: 20, width: 1, height: 1 };
}

/** axesOf returns the unit vectors of the camera: right and up in the picture, and back from the target to the eye. */
function axesOf({ up, yaw, pitch }) {
  const k = up.findIndex(v => v !== 0), axis = i => [0, 1, 2].map(n => n === i % 3 ? 1 : 0);
  const [a, b] = up[k] > 0 ? [axis(k + 1), axis(k + 2)] : [axis(k + 2), axis(k + 1)]; // a × b = up
  const level = addVectors(scaleVector(a, Math.cos(yaw)), scaleVector(b, Math.sin(yaw)));
  const back = addVectors(scaleVector(level, Math.cos(pitch)), scaleVector(up, Math.sin(pitch)));
  const right = unitVector(crossVectors(up, back));
  return { right, up: crossVectors(back, right), back };
}

const eyeOf = (c, { back } = axesOf(c)) => addVectors(c.target, scaleVector(back, c.distance));

/** metresPerPixel is the size of a CSS pixel at the target. */
const metresPerPixel = c => 2 * c.distance * Math.tan(angleOfView / 2) / c.height;

/** orbitBy turns the camera about its target by a number of pixels. */
function orbitBy(c, dx, dy) {
  c.yaw = (c.yaw - dx * turnPerPixel) % (2 * Math.PI);
  c.pitch = Math.min(Math.max(c.pitch + dy * turnPerPixel, -steepest), steepest);
}

/** moveTarget moves the target by a number of pixels in the picture. */
function moveTarget(c, axes, dx, dy) {
  const k = metresPerPixel(c);
  c.target = addVectors(c.target, addVectors(scaleVector(axes.right, dx * k), scaleVector(axes.up, -dy * k)));
}

/** panOrbit moves what is seen by a number of pixels. */
const panOrbit = (c, dx, dy) => moveTarget(c, axesOf(c), -dx, -dy);

/** zoomOrbit divides the distance by a factor; the point at the depth of the target under the pixel stays there. */
function zoomOrbit(c, px, py, factor) {
  const distance = Math.min(Math.max(c.distance / factor, leastDistance), greatestDistance), part = 1 - distance / c.distance;
  moveTarget(c, axesOf(c), (px - c.width / 2) * part, (py - c.height / 2) * part);
  c.distance = distance;
}

/** fitOrbit shows a box [min x, y, z, max x, y, z] with a margin, from where the camera looks; it leaves the camera if that is none. */
function fitOrbit(c, box) {
  const low = [...box.slice(0, 3)], high = [...box.slice(3, 6)];
  if (!low.every((v, k) => v <= high[k] && Number.isFinite(high[k] - v))) return;
  c.target = low.map((v, k) => (v + high[k]) / 2);
  const half = low.map((v, k) => (high[k] - v) / 2), axes = axesOf(c), tall = Math.tan(angleOfView / 2), wide = tall * c.width / c.height;
  let distance = 0;
  for (let i = 0; i < 8; i++) {
    const corner = half.map((v, k) => i >> k & 1 ? v : -v);
    distance = Math.max(distance, dotVectors(corner, axes.back) + Math.max(Math.abs(dotVectors(corner, axes.right)) / wide, Math.abs(dotVectors(corner, axes.up)) / tall));
  }
  c.distance = distance > 0 ? Math.min(Math.max(distance / 0.88, leastDistance), greatestDistance) : 10;
}

/** rayOf returns the ray through a pixel: the eye, and a unit vector. */
function rayOf(c, px, py) {
  const { right, up, back } = axesOf(c), k = metresPerPixel(c) / c.distance;
  const to = addVectors(scaleVector(right, (px - c.width / 2) * k), scaleVector(up, (c.height / 2 - py) * k));
  return { origin: eyeOf(c), direction: unitVector(subtractVectors(to, back)) };
}

/** projectPoint returns the pixel at a point and its depth in metres, which is not positive for points that are not in front of the camera. */
function projectPoint(c, p) {
  const { right, up, back } = axesOf(c), v = subtractVectors(p, eyeOf(c)), depth = -dotVectors(v, back), k = c.distance / (metresPerPixel(c) * depth);
  return [c.width / 2 + dotVectors(v, right) * k, c.height / 2 - dotVectors(v, up) * k, depth];
}

/** orbitView returns what shaders need of a camera: the matrix from the eye to clip coordinates, and the eye in two parts that float32 can hold. */
function orbitView(c) {
  const axes = axesOf(c), eye = eyeOf(c, axes), high = eye.map(Math.fround);
  const matrix = viewMatrix(axes.right, axes.up, axes.back, angleOfView, c.width / c.height, c.distance / 200, c.distance * 2000);
  return { matrix, high, low: subtractVectors(eye, high), axes };
}
