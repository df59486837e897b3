// Vectors are arrays of three numbers, quaternions of four: x, y, z, w. A matrix is 16 numbers, column by column, as shaders take them.

const addVectors = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const scaleVector = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const subtractVectors = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dotVectors = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const crossVectors = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** unitVector returns a vector with length one, or zero if it has none. */
function unitVector(a) {
  const length = Math.hypot(...a);
  return length > 0 ? scaleVector(a, 1 / length) : [0, 0, 0];
}

/** rotateVector rotates a vector by a quaternion. */
function rotateVector([x, y, z, w], v) {
  const u = [x, y, z], t = scaleVector(crossVectors(u, v), 2);
  return addVectors(addVectors(v, scaleVector(t, w)), crossVectors(u, t));
}

/**
 * viewMatrix returns the matrix that takes a vector from the eye to clip coordinates: to the right, upwards and backwards along three axes, seen at
 * an angle of view (vertical, in radians) between two distances.
 */
function viewMatrix(right, up, back, angle, aspect, near, far) {
  const high = 1 / Math.tan(angle / 2), wide = high / aspect, a = (far + near) / (near - far), b = 2 * far * near / (near - far);
  const columns = [0, 1, 2].map(k => [wide * right[k], high * up[k], a * back[k], -back[k]]);
  return new Float32Array([...columns[0], ...columns[1], ...columns[2], 0, 0, b, 0]);
}

/** transformVector returns a matrix times a vector from the eye: four clip coordinates. */
const transformVector = (m, v) => [0, 1, 2, 3].map(i => m[i] * v[0] + m[4 + i] * v[1] + m[8 + i] * v[2] + m[12 + i]);
