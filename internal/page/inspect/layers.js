// What the graphics device draws: the programs, and the buffers with the arrays of a frame.
//
// Positions are float32, as in the frame. The shaders subtract the centre of the view in two parts, so that
// the picture is as exact as the positions: 1,000 km from the origin these are multiples of 6 cm.

// The colours of a value between its least (0) and its greatest (1): viridis, which those who see few colours
// can read too. A theme takes the part of it that stands out from its background.
const scaleStops = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];

const shaderHead = `#version 300 es
precision highp float;
precision highp int;
uniform vec2 high, low; // their sum is the centre of the view, in metres
uniform vec2 toClip;    // clip coordinates per metre
uniform float pixel;    // metres per pixel of the device
uniform float ratio;    // pixels of the device per CSS pixel
`;

const vertexHead = shaderHead + `
vec4 place(vec2 p) { return vec4(((p - high) - low) * toClip, 0, 1); }
vec4 unpack(uint c) { return vec4(c >> 24, c >> 16 & 255u, c >> 8 & 255u, c & 255u) / 255.0; } // of 0xRRGGBBAA
vec2 corner() { return vec2(gl_VertexID & 1, gl_VertexID >> 1); }
`;

// d is the distance to the edge of a shape in pixels, negative inside.
const shapeHead = shaderHead + `
uniform float fill;
out vec4 result;
float stroke(float d) { return clamp(0.75 * ratio + 0.5 - abs(d), 0.0, 1.0); }
void paint(vec4 colour, float d, float mark) {
  float alpha = colour.a * max(max(fill * clamp(0.5 - d, 0.0, 1.0), stroke(d)), mark);
  if (alpha == 0.0) discard;
  result = vec4(colour.rgb * alpha, alpha);
}
`;

const pointRows = 11; // a row of the texture of points has 1 << pointRows texels

const layerSpecs = {
  entities: {
    arrays: { x: [["x", 1, "f32"]], y: [["y", 1, "f32"]], by: [["by", 1, "f32"]] },
    instanced: false,
    vertex: vertexHead + `
in float x, y, by;
uniform float size, least, perUnit;
uniform bool coloured, crosses, ring;
uniform vec3 stops[9];
uniform vec3 plain, missing;
flat out vec3 colour;
flat out float extent;
flat out int kind; // 0: dot, 1: cross, for a value that is not a number, 2: ring
bool nan(float v) { return (floatBitsToUint(v) & 0x7fffffffu) > 0x7f800000u; }
bool finite(float v) { return (floatBitsToUint(v) & 0x7f800000u) != 0x7f800000u; }
void main() {
  kind = ring ? 2 : coloured && nan(by) ? 1 : 0;
  extent = kind == 1 ? max(size, 9.0 * ratio) : size;
  gl_PointSize = extent;
  gl_Position = finite(x) && finite(y) && crosses == (kind == 1) ? place(vec2(x, y)) : vec4(2, 2, 2, 1);
  colour = kind == 1 ? missing : plain;
  if (coloured && kind == 0) {
    float at = clamp((by - least) * perUnit, 0.0, 1.0) * 8.0;
    int i = min(int(at), 7);
    colour = mix(stops[i], stops[i + 1], at - float(i));
  }
}`,
    fragment: shaderHead + `
flat in vec3 colour;
flat in float extent;
flat in int kind;
out vec4 result;
void main() {
  vec2 p = (gl_PointCoord - 0.5) * extent;
  float alpha = 1.0;
  if (kind == 1) alpha = clamp(ratio + 0.5 - abs(abs(p.x) - abs(p.y)) * 0.707, 0.0, 1.0);
  else if (kind == 2) alpha = clamp(ratio + 0.5 - abs(length(p) - extent / 2.0 + 2.0 * ratio), 0.0, 1.0);
  else if (extent > 3.0) alpha = clamp(extent / 2.0 - length(p), 0.0, 1.0);
  if (alpha == 0.0) discard;
  result = vec4(colour * alpha, alpha);
}`,
  },
  circles: {
    arrays: { circles: [["disc", 3, "f32"], ["axis", 2, "f32"]], circle_colours: [["packed", 1, "u32"]] },
    instanced: true,
    vertex: vertexHead + `
in vec3 disc;
in vec2 axis;
in uint packed;
flat out vec4 colour;
flat out vec2 along;
flat out float radius;
out vec2 at; // from the centre, in metres
void main() {
  colour = unpack(packed);
  along = axis;
  radius = disc.z;
  at = (corner() * 2.0 - 1.0) * (radius + 2.0 * ratio * pixel);
  gl_Position = place(disc.xy) + vec4(at * toClip, 0, 0);
}`,
    fragment: shapeHead + `
flat in vec4 colour;
flat in vec2 along;
flat in float radius;
in vec2 at;
void main() {
  float mark = 0.0, ahead = dot(at, along);
  if (along != vec2(0) && ahead >= 0.0 && ahead <= radius) mark = stroke((at.x * along.y - at.y * along.x) / pixel);
  paint(colour, (length(at) - radius) / pixel, mark);
}`,
  },
  // A polygon is a rectangle along its first edge, in which the fragment shader computes the distance to the
  // polygon from its vertices: no triangles, and round corners, capsules and segments without more ado.
  polygons: {
    arrays: { polygons: [["span", 2, "u32"]], polygon_radius: [["rounding", 1, "f32"]], polygon_colours: [["packed", 1, "u32"]] },
    instanced: true,
    vertex: vertexHead + `
in uvec2 span;
in float rounding;
in uint packed;
uniform highp sampler2D points;
flat out vec4 colour;
flat out uvec2 part;
flat out float radius;
out vec2 at; // from the first vertex, in metres
vec2 point(uint i) { return texelFetch(points, ivec2(i & ${(1 << pointRows) - 1}u, i >> ${pointRows}), 0).xy; }
void main() {
  colour = unpack(packed);
  part = span;
  radius = rounding;
  vec2 first = point(span.x), u = vec2(1, 0), least = vec2(0), greatest = vec2(0);
  if (span.y > 1u) u = point(span.x + 1u) - first;
  float size = length(u);
  u = size > 0.0 ? u / size : vec2(1, 0);
  for (uint i = 1u; i < span.y; i++) {
    vec2 p = point(span.x + i) - first, q = vec2(dot(p, u), dot(p, vec2(-u.y, u.x)));
    least = min(least, q);
    greatest = max(greatest, q);
  }
  float margin = radius + 2.0 * ratio * pixel;
  vec2 q = mix(least - margin, greatest + margin, corner());
  at = q.x * u + q.y * vec2(-u.y, u.x);
  gl_Position = place(first) + vec4(at * toClip, 0, 0);
}`,
    fragment: shapeHead + `
uniform highp sampler2D points;
flat in vec4 colour;
flat in uvec2 part;
flat in float radius;
in vec2 at;
vec2 point(uint i) { return texelFetch(points, ivec2(i & ${(1 << pointRows) - 1}u, i >> ${pointRows}), 0).xy; }
void main() {
  vec2 first = point(part.x), a = point(part.x + part.y - 1u) - first;
  float nearest = dot(at, at);
  bool left = true, right = true; // of each edge
  for (uint i = 0u; i < part.y; i++) {
    vec2 b = point(part.x + i) - first, e = b - a, w = at - a;
    vec2 off = w - e * clamp(dot(w, e) / max(dot(e, e), 1e-30), 0.0, 1.0);
    nearest = min(nearest, dot(off, off));
    float side = e.x * w.y - e.y * w.x;
    left = left && side >= 0.0;
    right = right && side <= 0.0;
    a = b;
  }
  float d = sqrt(nearest);
  paint(colour, ((part.y > 2u && (left || right) ? -d : d) - radius) / pixel, 0.0);
}`,
  },
  lines: {
    arrays: { lines: [["ends", 4, "f32"]], line_colours: [["packed", 1, "u32"]] },
    instanced: true,
    vertex: vertexHead + `
in vec4 ends;
in uint packed;
uniform float width;
flat out vec4 colour;
out float across;
void main() {
  colour = unpack(packed);
  vec2 e = ends.zw - ends.xy, c = corner();
  float size = length(e), half_ = width / 2.0 + 1.0;
  vec2 u = size > 0.0 ? e / size : vec2(1, 0);
  across = (c.y * 2.0 - 1.0) * half_;
  vec2 from = c.x == 0.0 ? ends.xy : ends.zw;
  gl_Position = place(from) + vec4(vec2(-u.y, u.x) * across * pixel * toClip, 0, 0);
}`,
    fragment: shaderHead + `
flat in vec4 colour;
in float across;
uniform float width;
out vec4 result;
void main() {
  float alpha = colour.a * clamp(width / 2.0 + 0.5 - abs(across), 0.0, 1.0);
  result = vec4(colour.rgb * alpha, alpha);
}`,
  },
};

/** compile returns a program, its uniforms by name, and its attributes. */
function compile(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = gl.getAttachedShaders(program).map(s => gl.getShaderInfoLog(s));
    throw new Error("view: a shader is refused: " + [gl.getProgramInfoLog(program), ...logs].filter(Boolean).join("; "));
  }
  const uniforms = {};
  for (let i = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) - 1; i >= 0; i--) {
    const name = gl.getActiveUniform(program, i).name;
    uniforms[name.replace("[0]", "")] = gl.getUniformLocation(program, name);
  }
  return { program, uniforms };
}

/** newLayer returns a layer of a specification, which has one buffer per array of the frame. */
function newLayer(gl, { arrays, instanced, vertex, fragment }) {
  const { program, uniforms } = compile(gl, vertex, fragment);
  const vao = gl.createVertexArray(), buffers = {};
  gl.bindVertexArray(vao);
  for (const [name, fields] of Object.entries(arrays)) {
    buffers[name] = { buffer: gl.createBuffer(), room: 0 };
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[name].buffer);
    const stride = 4 * fields.reduce((sum, [, width]) => sum + width, 0);
    let offset = 0;
    for (const [attribute, width, type] of fields) {
      const at = gl.getAttribLocation(program, attribute);
      gl.enableVertexAttribArray(at);
      if (type === "u32") gl.vertexAttribIPointer(at, width, gl.UNSIGNED_INT, stride, offset);
      else gl.vertexAttribPointer(at, width, gl.FLOAT, false, stride, offset);
      if (instanced) gl.vertexAttribDivisor(at, 1);
      offset += 4 * width;
    }
  }
  return { program, uniforms, vao, buffers, instanced, count: 0 };
}

/** fillBuffer copies an array into a buffer, which grows to powers of two and never waits for what is drawn. */
function fillBuffer(gl, target, data) {
  gl.bindBuffer(gl.ARRAY_BUFFER, target.buffer);
  while (target.room < data.byteLength) target.room = Math.max(1024, 2 * target.room);
  gl.bufferData(gl.ARRAY_BUFFER, target.room, gl.STREAM_DRAW); // a new memory: the device may still read the old
  gl.bufferSubData(gl.ARRAY_BUFFER, 0, data);
}

/** newPoints returns the texture of the vertices of polygons: two floats a texel. */
function newPoints(gl) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  return { texture, rows: 0 };
}

/** fillPoints copies points into the texture: full rows, and then the rest. */
function fillPoints(gl, target, data) {
  const width = 1 << pointRows, count = data.length / 2, full = count >> pointRows, rest = count & (width - 1);
  const rows = full + (rest ? 1 : 0);
  if (rows > gl.getParameter(gl.MAX_TEXTURE_SIZE)) throw new Error(`view: the graphics device has no room for ${count} points of polygons`);
  gl.bindTexture(gl.TEXTURE_2D, target.texture);
  if (rows > target.rows) {
    while (target.rows < rows) target.rows = Math.max(1, 2 * target.rows);
    target.rows = Math.min(target.rows, gl.getParameter(gl.MAX_TEXTURE_SIZE));
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RG32F, width, target.rows, 0, gl.RG, gl.FLOAT, null);
  }
  if (full) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, full, gl.RG, gl.FLOAT, data);
  if (rest) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, full, rest, 1, gl.RG, gl.FLOAT, data, 2 * full * width);
}

/** newLayers returns what draws frames on a context of WebGL 2. */
function newLayers(gl) {
  const layers = {};
  for (const [name, spec] of Object.entries(layerSpecs)) layers[name] = newLayer(gl, spec);
  const grid = newLayer(gl, layerSpecs.lines), points = newPoints(gl);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);

  function fill(layer, sections, count) {
    layer.count = count;
    if (!count) return;
    for (const [name, target] of Object.entries(layer.buffers)) {
      if (sections[name]) fillBuffer(gl, target, sections[name]);
    }
  }

  /** start makes a layer the present one, for a view {high, low, toClip, pixel, ratio}. */
  function start({ program, uniforms, vao }, view) {
    gl.useProgram(program);
    gl.bindVertexArray(vao);
    gl.uniform2fv(uniforms.high, view.high);
    gl.uniform2fv(uniforms.low, view.low);
    gl.uniform2fv(uniforms.toClip, view.toClip);
    gl.uniform1f(uniforms.pixel, view.pixel);
    gl.uniform1f(uniforms.ratio, view.ratio);
  }

  function quads(layer) {
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, layer.count);
  }

  return {
    /** load copies the sections of a frame to the device. */
    load({ head, sections }) {
      const by = gl.getAttribLocation(layers.entities.program, "by");
      gl.bindVertexArray(layers.entities.vao);
      if (sections.by) gl.enableVertexAttribArray(by);
      else gl.disableVertexAttribArray(by);
      fill(layers.entities, sections, head.entities);
      fill(layers.circles, sections, (sections.circle_colours ?? []).length);
      fill(layers.polygons, sections, (sections.polygon_colours ?? []).length);
      fill(layers.lines, sections, (sections.line_colours ?? []).length);
      if (layers.polygons.count) fillPoints(gl, points, sections.points);
    },

    clear(width, height, colour) {
      gl.viewport(0, 0, width, height);
      gl.clearColor(...colour, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
    },

    /** drawGrid draws lines, in metres from the centre of the view, with their colours. */
    drawGrid(view, lines, colours) {
      fill(grid, { lines, line_colours: colours }, colours.length);
      if (!grid.count) return;
      start(grid, { ...view, high: [0, 0], low: [0, 0] });
      gl.uniform1f(grid.uniforms.width, view.ratio);
      quads(grid);
    },

    drawShapes(view) {
      for (const layer of [layers.polygons, layers.circles]) {
        if (!layer.count) continue;
        start(layer, view);
        gl.bindTexture(gl.TEXTURE_2D, points.texture);
        gl.uniform1f(layer.uniforms.fill, 0.3);
        quads(layer);
      }
      if (!layers.lines.count) return;
      start(layers.lines, view);
      gl.uniform1f(layers.lines.uniforms.width, 1.5 * view.ratio);
      quads(layers.lines);
    },

    /** drawEntities draws entities of look {size, plain, missing} in pixels and colours, with a range {least, greatest} and stops by value. */
    drawEntities(view, look, range) {
      const { uniforms, count } = layers.entities;
      if (!count) return;
      start(layers.entities, view);
      const span = range ? range.greatest - range.least : 0;
      gl.uniform1f(uniforms.size, look.size * view.ratio);
      gl.uniform1i(uniforms.ring, 0);
      gl.uniform1i(uniforms.crosses, 0);
      gl.uniform1i(uniforms.coloured, range ? 1 : 0);
      gl.uniform1f(uniforms.least, range ? range.least : 0);
      gl.uniform1f(uniforms.perUnit, span > 0 ? 1 / span : 0);
      gl.uniform3fv(uniforms.stops, look.stops);
      gl.uniform3fv(uniforms.plain, look.plain);
      gl.uniform3fv(uniforms.missing, look.missing);
      gl.drawArrays(gl.POINTS, 0, count);
      if (!range?.nan) return;
      gl.uniform1i(uniforms.crosses, 1); // above the others
      gl.drawArrays(gl.POINTS, 0, count);
    },

    /** drawRing draws a ring around one entity of drawEntities. */
    drawRing(view, index, colour, size) {
      const { uniforms, count } = layers.entities;
      if (index < 0 || index >= count) return;
      start(layers.entities, view);
      gl.uniform1f(uniforms.size, size * view.ratio);
      gl.uniform1i(uniforms.ring, 1);
      gl.uniform1i(uniforms.crosses, 0);
      gl.uniform3fv(uniforms.plain, colour);
      gl.drawArrays(gl.POINTS, index, 1);
    },
  };
}
