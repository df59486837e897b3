// What the graphics device draws in space: the programs, the geometries, which instances share, and the buffers with the arrays of a frame.
//
// Positions are float32, as in the frame. The shaders subtract the eye in two parts, so that the picture is as exact as the positions.

const shaderHead3 = `#version 300 es
precision highp float;
precision highp int;
uniform mat4 matrix;    // from the eye to clip coordinates
uniform vec3 high, low; // their sum is the eye, in metres
vec3 fromEye(vec3 p) { return (p - high) - low; }
`;

const chosenColour = [1, 0.76, 0.16]; // of the selected body, in both themes: no state has it
const instanceFloats = 10; // position, rotation, size

const programs3 = {
  solids: {
    vertex: shaderHead3 + `
in vec3 corner;
in vec4 sides;
in vec3 position;
in vec4 rotation;
in vec3 size;
in vec4 colour;
uniform bool round_;
out vec3 at;     // from the eye
out vec3 normal; // of a round solid
out vec3 local;
out vec4 side;
flat out vec4 tone;
vec3 rotate(vec4 q, vec3 v) { vec3 t = 2.0 * cross(q.xyz, v); return v + q.w * t + cross(q.xyz, t); }
void main() {
  vec3 p = round_ ? corner * size.x + vec3(0, (sides.x * 2.0 - 1.0) * size.y, 0) : corner * size;
  normal = rotate(rotation, corner);
  local = corner;
  side = sides;
  tone = colour;
  at = fromEye(position) + rotate(rotation, p);
  gl_Position = matrix * vec4(at, 1);
}`,
    fragment: `#version 300 es
precision highp float;
in vec3 at, normal, local;
in vec4 side;
flat in vec4 tone;
uniform bool round_;
uniform vec3 light, up, accent;
uniform float chosen; // share of the accent
uniform float ink;    // of edges
out vec4 result;
void main() {
  vec3 n = normalize(round_ ? normal : cross(dFdx(at), dFdy(at)));
  if (dot(n, at) > 0.0) n = -n;
  float shade = 0.6 + 0.12 * dot(n, up) + 0.36 * max(dot(n, light), 0.0);
  if (round_) { // a pattern, so that a turn is seen
    vec3 s = local / max(fwidth(local), vec3(1e-6));
    s = clamp(s, -1.0, 1.0);
    shade *= 0.93 + 0.07 * s.x * s.y * s.z;
  } else {
    vec4 wide = fwidth(side);
    float far = min(min(side.x / max(wide.x, 1e-6), side.y / max(wide.y, 1e-6)), min(side.z / max(wide.z, 1e-6), side.w / max(wide.w, 1e-6)));
    float seen = 1.0 - smoothstep(0.12, 0.45, max(max(wide.x, wide.y), max(wide.z, wide.w))); // not where edges would be everything
    shade *= 1.0 - ink * seen * (1.0 - clamp(far - 0.4, 0.0, 1.0));
  }
  vec3 seen = mix(tone.rgb, accent, chosen) * shade;
  result = vec4(seen * tone.a, tone.a);
}`,
    attributes: { position: [3, 0], rotation: [4, 12], size: [3, 28] },
  },
  // A line is two triangles of a width in pixels, cut off before the eye.
  lines: {
    vertex: shaderHead3 + `
in vec3 from, to;
in vec4 colour;
uniform vec2 pixels; // of the picture
uniform float width, near, fade; // fade: the distance from the centre at which a line ends
uniform vec3 centre;
out vec4 tone;
void main() {
  vec4 a = matrix * vec4(fromEye(from), 1), b = matrix * vec4(fromEye(to), 1);
  int c = gl_VertexID % 6;
  if (c > 2) c -= 2; // 0 1 2, 1 2 3
  bool end = (c & 1) == 1;
  vec4 p = end ? b : a, q = end ? a : b;
  float part = 0.0;
  if (p.w < near) {
    part = q.w > near ? (near - p.w) / (q.w - p.w) : 0.0;
    p = mix(p, q, part);
  }
  if (q.w < near) q = p.w > near ? mix(q, p, (near - q.w) / (p.w - q.w)) : q;
  vec2 along = (q.xy / max(q.w, near) - p.xy / max(p.w, near)) * pixels;
  float length_ = length(along);
  vec2 across = length_ > 0.0 ? vec2(-along.y, along.x) / length_ : vec2(0, 1);
  if (end) across = -across;
  p.xy += across * (c < 2 ? 1.0 : -1.0) * width / pixels * p.w;
  gl_Position = p.w < near ? vec4(2, 2, 2, 1) : p;
  tone = colour;
  if (fade > 0.0) gl_Position.z += 2e-5 * gl_Position.w; // a floor at the same height hides it
  if (fade > 0.0) tone.a *= clamp(1.6 - 1.6 * distance(end ? to : from, centre) / fade, 0.0, 1.0);
}`,
    fragment: `#version 300 es
precision highp float;
in vec4 tone;
out vec4 result;
void main() { result = vec4(tone.rgb * tone.a, tone.a); }`,
    attributes: { from: [3, 0], to: [3, 12] },
  },
  points: {
    vertex: shaderHead3 + `
in vec3 position;
in vec4 colour;
uniform float size;
flat out vec4 tone;
void main() {
  gl_Position = matrix * vec4(fromEye(position), 1);
  gl_PointSize = size;
  tone = colour;
}`,
    fragment: `#version 300 es
precision highp float;
flat in vec4 tone;
uniform float size;
uniform bool ring;
out vec4 result;
void main() {
  float d = length((gl_PointCoord - 0.5) * size), alpha = tone.a * clamp(size / 2.0 - d, 0.0, 1.0);
  if (ring) alpha *= clamp(d - size / 2.0 + size / 8.0 + 0.5, 0.0, 1.0);
  if (alpha == 0.0) discard;
  result = vec4(tone.rgb * alpha, alpha);
}`,
    attributes: { position: [3, 0] },
  },
};

/** newLayers3 returns what draws frames in space on a context of WebGL 2. */
function newLayers3(gl) {
  const programs = {};
  for (const [name, { vertex, fragment }] of Object.entries(programs3)) {
    const p = compile(gl, vertex, fragment);
    p.at = name => gl.getAttribLocation(p.program, name);
    programs[name] = p;
  }
  const newTarget = () => ({ buffer: gl.createBuffer(), room: 0 });
  const instances = newTarget(), colours = newTarget();
  const newList = () => ({ data: newTarget(), colours: newTarget(), count: 0, vao: gl.createVertexArray() });
  const lines = newList(), grid = newList(), points = newList(), ring = newList();
  const geometries = new Map(); // by name or content
  const shared = { box: boxGeometry(), fine: roundGeometry(20, 12), coarse: roundGeometry(10, 6) };
  for (const [name, g] of Object.entries(shared)) addGeometry(name, g);

  function staticBuffer(kind, data) {
    const buffer = gl.createBuffer();
    gl.bindBuffer(kind, buffer);
    gl.bufferData(kind, data, gl.STATIC_DRAW);
    return buffer;
  }

  /** addGeometry hands a geometry over, once. */
  function addGeometry(id, { corners, sides, indices }) {
    const vao = gl.createVertexArray(), { at } = programs.solids;
    gl.bindVertexArray(vao);
    const buffers = [staticBuffer(gl.ARRAY_BUFFER, corners)];
    attribute(at("corner"), 3, gl.FLOAT, 0, 0, 0);
    buffers.push(staticBuffer(gl.ARRAY_BUFFER, sides));
    attribute(at("sides"), 4, gl.UNSIGNED_BYTE, 0, 0, 0);
    if (indices) buffers.push(staticBuffer(gl.ELEMENT_ARRAY_BUFFER, indices));
    gl.bindVertexArray(null);
    geometries.set(id, { vao, buffers, indexed: Boolean(indices), count: indices ? indices.length : corners.length / 3 });
  }

  /** dropGeometries frees those of contents that a frame does not have. */
  function dropGeometries(kept) {
    for (const [id, { vao, buffers }] of geometries) {
      if (kept.has(id) || id in shared) continue;
      for (const b of buffers) gl.deleteBuffer(b);
      gl.deleteVertexArray(vao);
      geometries.delete(id);
    }
  }

  function attribute(at, width, type, stride, offset, divisor) {
    if (at < 0) return; // the compiler has left it out
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, width, type, type === gl.UNSIGNED_BYTE, stride, offset);
    gl.vertexAttribDivisor(at, divisor);
  }

  /** start makes a program the present one, for a view {matrix, high, low}. */
  function start({ program, uniforms }, view) {
    gl.useProgram(program);
    gl.uniformMatrix4fv(uniforms.matrix, false, view.matrix);
    gl.uniform3fv(uniforms.high, view.high);
    gl.uniform3fv(uniforms.low, view.low);
  }

  /** drawSolids draws instances of a geometry, from the first one on. */
  function drawSolids(geometry, first, count) {
    const { at } = programs.solids, stride = 4 * instanceFloats;
    gl.bindVertexArray(geometry.vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, instances.buffer);
    for (const [name, [width, offset]] of Object.entries(programs3.solids.attributes)) attribute(at(name), width, gl.FLOAT, stride, first * stride + offset, 1);
    gl.bindBuffer(gl.ARRAY_BUFFER, colours.buffer);
    attribute(at("colour"), 4, gl.UNSIGNED_BYTE, 4, 4 * first, 1);
    if (geometry.indexed) gl.drawElementsInstanced(gl.TRIANGLES, geometry.count, gl.UNSIGNED_SHORT, 0, count);
    else gl.drawArraysInstanced(gl.TRIANGLES, 0, geometry.count, count);
  }

  function fillList(list, program, data, packed, divisor) {
    const { at } = programs[program], { attributes } = programs3[program];
    list.count = packed.length;
    if (!list.count) return;
    const stride = data.BYTES_PER_ELEMENT * data.length / list.count;
    gl.bindVertexArray(list.vao);
    fillBuffer(gl, list.data, data);
    for (const [name, [width, offset]] of Object.entries(attributes)) attribute(at(name), width, gl.FLOAT, stride, offset, divisor);
    fillBuffer(gl, list.colours, packed);
    attribute(at("colour"), 4, gl.UNSIGNED_BYTE, 4, 0, divisor);
  }

  function drawLines(list, view, width, fade = 0) {
    if (!list.count) return;
    const { uniforms } = programs.lines;
    start(programs.lines, view);
    gl.uniform2f(uniforms.pixels, view.width, view.height);
    gl.uniform1f(uniforms.width, width * view.ratio);
    gl.uniform1f(uniforms.near, view.near);
    gl.uniform1f(uniforms.fade, fade);
    gl.uniform3fv(uniforms.centre, view.target);
    gl.bindVertexArray(list.vao);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, 6, list.count);
  }

  function drawPoints(list, view, size, isRing) {
    if (!list.count) return;
    const { uniforms } = programs.points;
    start(programs.points, view);
    gl.uniform1f(uniforms.size, size * view.ratio);
    gl.uniform1i(uniforms.ring, isRing ? 1 : 0);
    gl.bindVertexArray(list.vao);
    gl.drawArrays(gl.POINTS, 0, list.count);
  }

  const geometryOf = (b, many) => geometries.get(b.geometry ?? (b.form === "box" ? "box" : many ? "coarse" : "fine"));

  function drawBatches(batches, view, look, sensors, many) {
    const { uniforms } = programs.solids;
    start(programs.solids, view);
    gl.uniform3fv(uniforms.light, look.light);
    gl.uniform3fv(uniforms.up, look.up);
    gl.uniform3fv(uniforms.accent, chosenColour);
    gl.uniform1f(uniforms.chosen, 0);
    for (const b of batches) {
      const geometry = geometryOf(b, many);
      if (!geometry || Boolean(b.sensor) !== sensors) continue;
      gl.uniform1i(uniforms.round_, b.form === "round" ? 1 : 0);
      gl.uniform1f(uniforms.ink, b.form === "surface" ? 0.16 : 0.45);
      drawSolids(geometry, b.first, b.count);
    }
  }

  function drawChosen(batches, view, look, many, chosen) {
    const { uniforms } = programs.solids;
    gl.useProgram(programs.solids.program);
    gl.uniform1f(uniforms.chosen, 0.75);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(-1, -1);
    for (const i of chosen) {
      const b = batches.find(b => i >= b.first && i < b.first + b.count), geometry = b && geometryOf(b, many);
      if (!geometry) continue;
      gl.uniform1i(uniforms.round_, b.form === "round" ? 1 : 0);
      drawSolids(geometry, i, 1);
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  return {
    has: id => geometries.has(id),
    addGeometry, dropGeometries,
    /** loadInstances copies instances and their colours, as bytes red, green, blue, alpha. */
    loadInstances(data, packed) {
      if (!packed.length) return;
      fillBuffer(gl, instances, data);
      fillBuffer(gl, colours, packed);
    },
    loadColours: packed => packed.length && fillBuffer(gl, colours, packed),
    loadLines: (data, packed) => fillList(lines, "lines", data, packed, 1),
    loadGrid: (data, packed) => fillList(grid, "lines", data, packed, 1),
    loadPoints: (data, packed) => fillList(points, "points", data, packed, 0),

    clear(width, height, colour) {
      gl.viewport(0, 0, width, height);
      gl.clearColor(...colour, 1);
      gl.depthMask(true);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    },

    /**
     * draw draws what was loaded. look is {light, up, accent, fade, dot}; chosen are the numbers of the instances that are selected, and mark is the
     * position of the selected entity, or null.
     */
    draw(view, look, batches, chosen, mark) {
      const many = batches.reduce((n, b) => n + (b.form === "round" ? b.count : 0), 0) > 2000;
      gl.enable(gl.DEPTH_TEST);
      gl.depthFunc(gl.LEQUAL);
      gl.disable(gl.BLEND);
      drawBatches(batches, view, look, false, many);
      if (chosen.length) drawChosen(batches, view, look, many, chosen);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      drawPoints(points, view, look.dot, false);
      gl.depthMask(false);
      drawLines(grid, view, 1, look.fade);
      drawBatches(batches, view, look, true, many);
      gl.disable(gl.DEPTH_TEST); // contacts lie inside of solids
      drawLines(lines, view, 1.5);
      if (mark) {
        fillList(ring, "points", new Float32Array(mark), packColour(look.accent), 0);
        drawPoints(ring, view, 24, true);
      }
      gl.depthMask(true);
    },
  };
}

/** packColour returns a colour, from 0 to 1, as an array of one number that has the bytes red, green, blue, alpha in memory. */
function packColour([r, g, b], alpha = 1) {
  return new Uint32Array(new Uint8Array([r, g, b, alpha].map(v => Math.round(255 * v))).buffer);
}
