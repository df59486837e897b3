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

const rowBits = 11; // a row of a texture has 1 << rowBits texels: every device has as many

const vertexHead = shaderHead + `
vec4 place(vec2 p) { return vec4(((p - high) - low) * toClip, 0, 1); }
vec4 unpack(uint c) { return vec4(c >> 24, c >> 16 & 255u, c >> 8 & 255u, c & 255u) / 255.0; } // of 0xRRGGBBAA
`;

// Shapes have no attributes: their arrays are textures, and six vertices of two triangles fetch what they need.
// Instances of four vertices would take far longer where the processor draws.
const fetchHead = `
uvec4 get(highp usampler2D s, int i) { return texelFetch(s, ivec2(i & ${(1 << rowBits) - 1}, i >> ${rowBits}), 0); }
vec4 get(highp sampler2D s, int i) { return texelFetch(s, ivec2(i & ${(1 << rowBits) - 1}, i >> ${rowBits}), 0); }
`;
const quadHead = vertexHead + fetchHead + `
int item() { return gl_VertexID / 6; }
vec2 corner() {
  int c = gl_VertexID % 6;
  if (c > 2) c -= 2; // 0 1 2, 1 2 3
  return vec2(c & 1, c >> 1);
}
`;

// d is the distance to the edge of a shape in pixels, negative inside.
const shapeHead = shaderHead + `
uniform float fill, line; // opacity of the inside, width of the edge in CSS pixels
out vec4 result;
float stroke(float d) { return clamp(0.5 * line * ratio + 0.5 - abs(d), 0.0, 1.0) * min(line, 1.0); }
void paint(vec4 colour, float d, float mark) {
  float alpha = colour.a * max(max(fill * clamp(0.5 - d, 0.0, 1.0), stroke(d)), mark);
  if (alpha == 0.0) discard;
  result = vec4(colour.rgb * alpha, alpha);
}
`;

const layerSpecs = {
  entities: {
    attributes: ["x", "y", "by"],
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
  extent = kind == 1 ? max(size, 10.0 * ratio) : size;
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
uniform vec3 halo;
out vec4 result;
void main() {
  vec2 p = (gl_PointCoord - 0.5) * extent;
  vec3 seen = colour;
  float alpha = 1.0, off = abs(abs(p.x) - abs(p.y)) * 0.707;
  if (kind == 1) {
    alpha = clamp(2.0 * ratio + 0.5 - off, 0.0, 1.0);
    seen = mix(halo, colour, clamp(ratio + 0.5 - off, 0.0, 1.0));
  }
  else if (kind == 2) alpha = clamp(ratio + 0.5 - abs(length(p) - extent / 2.0 + 2.0 * ratio), 0.0, 1.0);
  else if (extent > 3.0) alpha = clamp(extent / 2.0 - length(p), 0.0, 1.0);
  if (alpha == 0.0) discard;
  result = vec4(seen * alpha, alpha);
}`,
  },
  circles: {
    textures: ["circles", "circle_colours"],
    vertex: quadHead + `
uniform highp sampler2D circles;
uniform highp usampler2D circle_colours;
flat out vec4 colour;
flat out vec2 along;
flat out float radius;
out vec2 at; // from the centre, in metres
void main() {
  int i = item() * 5;
  vec2 centre = vec2(get(circles, i).x, get(circles, i + 1).x);
  radius = get(circles, i + 2).x;
  along = vec2(get(circles, i + 3).x, get(circles, i + 4).x);
  colour = unpack(get(circle_colours, item()).x);
  at = (corner() * 2.0 - 1.0) * (radius + 2.0 * ratio * pixel);
  gl_Position = place(centre) + vec4(at * toClip, 0, 0);
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
    textures: ["polygons", "polygon_radius", "polygon_colours", "points"],
    vertex: quadHead + `
uniform highp usampler2D polygons, polygon_colours;
uniform highp sampler2D polygon_radius, points;
flat out vec4 colour;
flat out ivec2 part; // first point and number
flat out vec2 second, third, fourth; // from the first vertex, as all points; zero if there are fewer
flat out float radius;
out vec2 at; // from the first vertex, in metres
vec2 vertex(int i) { return i < part.y ? get(points, part.x + i).xy : get(points, part.x).xy; }
void main() {
  part = ivec2(get(polygons, item()).xy);
  colour = unpack(get(polygon_colours, item()).x);
  radius = get(polygon_radius, item()).x;
  vec2 first = vertex(0), least = vec2(0), greatest = vec2(0);
  second = vertex(1) - first;
  third = vertex(2) - first;
  fourth = vertex(3) - first;
  float size = length(second);
  vec2 u = size > 0.0 ? second / size : vec2(1, 0);
  for (int i = 1; i < part.y; i++) {
    vec2 p = i == 1 ? second : i == 2 ? third : i == 3 ? fourth : vertex(i) - first, q = vec2(dot(p, u), dot(p, vec2(-u.y, u.x)));
    least = min(least, q);
    greatest = max(greatest, q);
  }
  float margin = radius + 2.0 * ratio * pixel;
  vec2 q = mix(least - margin, greatest + margin, corner());
  at = q.x * u + q.y * vec2(-u.y, u.x);
  gl_Position = place(first) + vec4(at * toClip, 0, 0);
}`,
    fragment: shapeHead + fetchHead + `
uniform highp sampler2D points;
flat in vec4 colour;
flat in ivec2 part;
flat in float radius;
flat in vec2 second, third, fourth;
in vec2 at;
float nearest; // square of the distance to the edges
bool left = true, right = true; // of each edge
void edge(vec2 a, vec2 b) {
  vec2 e = b - a, w = at - a, off = w - e * clamp(dot(w, e) / max(dot(e, e), 1e-30), 0.0, 1.0);
  nearest = min(nearest, dot(off, off));
  float side = e.x * w.y - e.y * w.x;
  left = left && side >= 0.0;
  right = right && side <= 0.0;
}
void main() {
  nearest = dot(at, at);
  edge(vec2(0), second);
  if (part.y > 2) edge(second, third);
  vec2 last = part.y > 3 ? fourth : third;
  if (part.y > 3) edge(third, fourth);
  if (part.y > 4) {
    vec2 first = get(points, part.x).xy;
    for (int i = 4; i < part.y; i++) {
      vec2 next = get(points, part.x + i).xy - first;
      edge(last, next);
      last = next;
    }
  }
  if (part.y > 2) edge(last, vec2(0));
  float d = sqrt(nearest);
  paint(colour, ((part.y > 2 && (left || right) ? -d : d) - radius) / pixel, 0.0);
}`,
  },
  lines: {
    textures: ["lines", "line_colours"],
    vertex: quadHead + `
uniform highp sampler2D lines;
uniform highp usampler2D line_colours;
uniform float width;
flat out vec4 colour;
out float across;
void main() {
  vec4 ends = get(lines, item());
  colour = unpack(get(line_colours, item()).x);
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

/** newLayer returns a layer of a specification, which has a buffer or a texture per array of the frame. */
function newLayer(gl, { attributes = [], textures = [], vertex, fragment }) {
  const { program, uniforms } = compile(gl, vertex, fragment);
  const vao = gl.createVertexArray(), buffers = {};
  gl.bindVertexArray(vao);
  for (const name of attributes) {
    const at = gl.getAttribLocation(program, name);
    buffers[name] = { at, buffer: gl.createBuffer(), room: 0 };
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[name].buffer);
    gl.vertexAttribPointer(at, 1, gl.FLOAT, false, 0, 0);
  }
  gl.useProgram(program);
  textures.forEach((name, unit) => gl.uniform1i(uniforms[name], unit));
  return { program, uniforms, vao, buffers, textures: textures.map(name => newTexture(gl, name)), count: 0 };
}

/** fillBuffer copies an array into a buffer, which grows to powers of two and never waits for what is drawn. */
function fillBuffer(gl, target, data) {
  gl.bindBuffer(gl.ARRAY_BUFFER, target.buffer);
  while (target.room < data.byteLength) target.room = Math.max(1024, 2 * target.room);
  gl.bufferData(gl.ARRAY_BUFFER, target.room, gl.STREAM_DRAW); // a new memory: the device may still read the old
  gl.bufferSubData(gl.ARRAY_BUFFER, 0, data);
}

/** newTexture returns the texture for a section of the frame. */
function newTexture(gl, name) {
  const texture = gl.createTexture(), [type, width] = sectionKinds[name], channels = width > 4 ? 1 : width;
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  const letters = { 1: "R", 2: "RG", 4: "RGBA" }[channels], format = { 1: "RED", 2: "RG", 4: "RGBA" }[channels];
  return type === "f32" ? { name, texture, channels, rows: 0, inner: gl[letters + "32F"], format: gl[format], type: gl.FLOAT }
    : { name, texture, channels, rows: 0, inner: gl[letters + "32UI"], format: gl[format + "_INTEGER"], type: gl.UNSIGNED_INT };
}

/** fillTexture copies an array into a texture, which grows like a buffer: full rows, and then the rest. */
function fillTexture(gl, target, data) {
  const { channels, inner, format, type } = target, width = 1 << rowBits;
  const count = data.length / channels, full = count >> rowBits, rest = count & (width - 1), rows = full + (rest ? 1 : 0);
  gl.bindTexture(gl.TEXTURE_2D, target.texture);
  if (rows > target.rows) {
    const most = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    if (rows > most) throw new Error(`view: the graphics device has no room for ${count} values of ${target.name}`);
    while (target.rows < rows) target.rows = Math.max(1, 2 * target.rows);
    target.rows = Math.min(target.rows, most);
    gl.texImage2D(gl.TEXTURE_2D, 0, inner, width, target.rows, 0, format, type, null);
  }
  if (full) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, full, format, type, data);
  if (rest) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, full, rest, 1, format, type, data, channels * full * width);
}

/** newLayers returns what draws frames on a context of WebGL 2. */
function newLayers(gl) {
  const layers = {};
  for (const [name, spec] of Object.entries(layerSpecs)) layers[name] = newLayer(gl, spec);
  const grid = newLayer(gl, layerSpecs.lines);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);

  function fill(layer, sections, count) {
    layer.count = count;
    if (!count) return;
    gl.bindVertexArray(layer.vao);
    for (const [name, target] of Object.entries(layer.buffers)) {
      if (sections[name]) {
        fillBuffer(gl, target, sections[name]);
        gl.enableVertexAttribArray(target.at);
      } else gl.disableVertexAttribArray(target.at);
    }
    for (const target of layer.textures) fillTexture(gl, target, sections[target.name]);
  }

  /** start makes a layer the present one, for a view {high, low, toClip, pixel, ratio, line}. */
  function start({ program, uniforms, vao }, view) {
    gl.useProgram(program);
    gl.bindVertexArray(vao);
    gl.uniform2fv(uniforms.high, view.high);
    gl.uniform2fv(uniforms.low, view.low);
    gl.uniform2fv(uniforms.toClip, view.toClip);
    gl.uniform1f(uniforms.pixel, view.pixel);
    gl.uniform1f(uniforms.ratio, view.ratio);
  }

  function drawQuads(layer) {
    layer.textures.forEach(({ texture }, unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
    });
    gl.activeTexture(gl.TEXTURE0);
    gl.drawArrays(gl.TRIANGLES, 0, 6 * layer.count);
  }

  return {
    /** load copies the sections of a frame to the device. */
    load({ head, sections }) {
      fill(layers.entities, sections, head.entities);
      fill(layers.circles, sections, (sections.circle_colours ?? []).length);
      fill(layers.polygons, sections, (sections.polygon_colours ?? []).length);
      fill(layers.lines, sections, (sections.line_colours ?? []).length);
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
      drawQuads(grid);
    },

    drawShapes(view) {
      for (const layer of [layers.polygons, layers.circles]) {
        if (!layer.count) continue;
        start(layer, view);
        gl.uniform1f(layer.uniforms.fill, 0.3);
        gl.uniform1f(layer.uniforms.line, view.line);
        drawQuads(layer);
      }
      if (!layers.lines.count) return;
      start(layers.lines, view);
      gl.uniform1f(layers.lines.uniforms.width, 1.5 * view.ratio);
      drawQuads(layers.lines);
    },

    /** drawEntities draws entities of look {size, plain, missing, card, stops} in pixels and colours, by value with a range {least, greatest}. */
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
      gl.uniform3fv(uniforms.halo, look.card);
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
