// Geometries: the corners of solids, and which of their edges are drawn. Nothing here needs a page.
//
// A geometry has corners, three numbers each; sides, four bytes each, of which one is 0 on each edge that is drawn and 255 away from it, so that a shader
// finds how far an edge is; and indices, or null.

const mostTriangles = 1 << 17; // that the simulation sends at most

/** boxGeometry returns the cube from -1 to 1. */
function boxGeometry() {
  const corners = [], sides = [], indices = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const first = corners.length / 3;
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const p = [0, 0, 0];
        p[axis] = side;
        p[(axis + 1) % 3] = u;
        p[(axis + 2) % 3] = v;
        corners.push(...p);
        sides.push(u > 0 ? 255 : 0, u > 0 ? 0 : 255, v > 0 ? 255 : 0, v > 0 ? 0 : 255);
      }
      indices.push(...(side > 0 ? [0, 1, 2, 0, 2, 3] : [0, 2, 1, 0, 3, 2]).map(i => first + i));
    }
  }
  return { corners: new Float32Array(corners), sides: new Uint8Array(sides), indices: new Uint16Array(indices) };
}

/** roundGeometry returns the unit ball of so many parts around and from pole to pole, an even number. Its first side says to which end of a capsule a corner belongs. */
function roundGeometry(around, rings) {
  const corners = [], sides = [], indices = [], row = around + 1;
  for (const top of [1, 0]) { // the equator is in both halves
    const from = top ? 0 : rings / 2;
    for (let i = from; i <= from + rings / 2; i++) {
      for (let k = 0; k <= around; k++) {
        const a = Math.PI * i / rings, b = 2 * Math.PI * k / around;
        corners.push(Math.sin(a) * Math.cos(b), Math.cos(a), Math.sin(a) * Math.sin(b));
        sides.push(255 * top, 255, 255, 255);
      }
    }
  }
  for (let i = 0; i <= rings; i++) {
    for (let k = 0; k < around; k++) {
      const p = i * row + k, q = p + row;
      if (i > 0) indices.push(p, p + 1, q);
      if (i < rings) indices.push(p + 1, q + 1, q);
    }
  }
  return { corners: new Float32Array(corners), sides: new Uint8Array(sides), indices: new Uint16Array(indices) };
}

/**
 * readGeometry reads the answer to a request for a geometry, and checks it. all is the number of triangles that the shape has, which may be more.
 * @param {ArrayBuffer} buffer
 * @throws {FrameError}
 */
function readGeometry(buffer) {
  const refuse = text => { throw new FrameError("geometry: " + text); };
  if (buffer.byteLength < 8) refuse(`it has ${buffer.byteLength} bytes`);
  const [count, all] = new Uint32Array(buffer, 0, 2);
  if (count > mostTriangles || buffer.byteLength !== 8 + 40 * count) refuse(`it has ${buffer.byteLength} bytes for ${count} triangles`);
  const corners = new Float32Array(buffer, 8, 9 * count), edges = new Uint32Array(buffer, 8 + 36 * count, count), sides = new Uint8Array(12 * count).fill(255);
  for (let i = 0; i < corners.length; i++) if (corners[i] - corners[i] !== 0) refuse(`corners[${i}] is ${corners[i]}`);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 3; k++) { // the edge from corner k to the next one is where the weight of the third corner is 0
      if (!(edges[i] >> k & 1)) continue;
      sides[12 * i + 4 * k + k] = sides[12 * i + 4 * ((k + 1) % 3) + k] = 0;
    }
  }
  return { corners, sides, indices: null, all };
}
