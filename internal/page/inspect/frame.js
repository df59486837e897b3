// A frame: one moment of the simulation as the page draws it.

// sectionKinds names the sections that the page reads: [type, values per row, section with as many rows].
// All sections with the same third word have the same number of rows.
const sectionKinds = {
  slots: ["u32", 1, "entities"], x: ["f32", 1, "entities"], y: ["f32", 1, "entities"], by: ["f32", 1, "entities"],
  circles: ["f32", 5, "circles"], circle_colours: ["u32", 1, "circles"],
  polygons: ["u32", 2, "polygons"], polygon_radius: ["f32", 1, "polygons"], polygon_colours: ["u32", 1, "polygons"],
  points: ["f32", 2, "points"],
  lines: ["f32", 4, "lines"], line_colours: ["u32", 1, "lines"],
  extent: ["f32", 4, "extent"],
  // of a picture in space
  z: ["f32", 1, "entities"],
  instances: ["f32", 10, "instances"], instance_colours: ["u32", 1, "instances"], instance_rows: ["u32", 1, "instances"],
  lines3: ["f32", 6, "lines3"], line3_colours: ["u32", 1, "lines3"],
  extent3: ["f32", 6, "extent3"],
};
const sectionsLeftOut = ["slots", "by", "extent", "z", "extent3"]; // though there are entities
const noRow = 0xffffffff; // the row of an instance without an entity
const sectionTypes = { f32: Float32Array, u32: Uint32Array, u8: Uint8Array, u64: BigUint64Array };

// The vertex limit of a polygon bounds the loop of the shader. Shapes of the simulation have up to 8.
const maxVertices = 64;

/** FrameError says why a frame cannot be read. */
class FrameError extends Error {}

/**
 * readFrame checks a frame and returns its head and its sections, which are views of buffer.
 * @param {ArrayBuffer} buffer
 * @returns {{head: object, sections: Object<string, TypedArray>, decodeMs: number}}
 * @throws {FrameError}
 */
function readFrame(buffer) {
  const start = performance.now();
  const refuse = text => { throw new FrameError("frame: " + text); };
  const { head, end } = readHead(buffer, refuse);
  const sections = Object.create(null), rows = { entities: head.entities, extent: 1, extent3: 1 };
  for (const [i, s] of head.sections.entries()) {
    const where = `sections[${i}]`;
    if (typeof s?.name !== "string") refuse(`${where} has no name`);
    if (!Object.hasOwn(sectionTypes, s.type)) refuse(`${where} (${s.name}) has the unknown type ${s.type}`);
    const View = sectionTypes[s.type], { count, at } = s;
    if (!isCount(count) || !isCount(at) || at % 8 || at < end || at + count * View.BYTES_PER_ELEMENT > buffer.byteLength) {
      refuse(`${where} (${s.name}) has ${count} values at byte ${at} of ${buffer.byteLength}`);
    }
    if (s.name in sections) refuse(`${where} (${s.name}) occurs twice`);
    if (Object.hasOwn(sectionKinds, s.name)) {
      const [type, width, group] = sectionKinds[s.name];
      if (count % width) refuse(`${where} (${s.name}) has ${count} values, not a multiple of ${width}`);
      rows[group] ??= count / width;
      if (s.type !== type || count !== rows[group] * width) refuse(`${where} (${s.name}) has ${count} values of type ${s.type}, not ${rows[group] * width} of type ${type}`);
    }
    sections[s.name] = new View(buffer, at, count);
  }
  for (const [name, [, , group]] of Object.entries(sectionKinds)) {
    if (rows[group] > 0 && !(name in sections) && !sectionsLeftOut.includes(name)) refuse(`the section ${name} is missing`);
  }
  checkSlots(sections.slots, refuse);
  checkPolygons(sections, rows.points ?? 0, refuse);
  if (head.space !== undefined) checkSpace(head, sections, refuse);
  checkForces(head.forces ?? [], refuse);
  return { head, sections, decodeMs: performance.now() - start };
}

const isCount = v => Number.isSafeInteger(v) && v >= 0;

/** readHead returns the head of a frame, and the byte at which it ends. */
function readHead(buffer, refuse) {
  if (buffer.byteLength < 4) refuse(`it has ${buffer.byteLength} bytes`);
  const end = 4 + new DataView(buffer).getUint32(0, true);
  if (end > buffer.byteLength || end % 8) refuse(`its head ends at byte ${end} of ${buffer.byteLength}`);
  let head;
  try {
    head = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(buffer, 4, end - 4)));
  } catch (err) {
    refuse(`its head is not JSON: ${err.message}`);
  }
  if (!isCount(head?.seq)) refuse("its head has no seq");
  if (!isCount(head.entities)) refuse("its head has no number of entities");
  if (!Array.isArray(head.sections)) refuse("its head has no sections");
  return { head, end };
}

/** checkSlots requires that slots ascend, so that a slot can be searched. */
function checkSlots(slots, refuse) {
  for (let i = 1; i < (slots?.length ?? 0); i++) {
    if (slots[i] <= slots[i - 1]) refuse(`slots[${i}] is ${slots[i]} after ${slots[i - 1]}`);
  }
}

/** checkPolygons requires that the vertices of each polygon are among the points. */
function checkPolygons({ polygons }, points, refuse) {
  for (let i = 0; i < (polygons?.length ?? 0); i += 2) {
    const first = polygons[i], count = polygons[i + 1];
    if (count < 1 || count > maxVertices || first + count > points) refuse(`polygon ${i / 2} has ${count} of ${points} points, from ${first}`);
  }
}

/** checkForces requires names, colours and sizes; a size that is null is not known. */
function checkForces(forces, refuse) {
  if (!Array.isArray(forces)) refuse("forces is no array");
  for (const [i, f] of forces.entries()) {
    if (typeof f?.name !== "string" || !isCount(f.colour) || f.colour > 0xffffff || !(f.n === null || Number.isFinite(f.n)) || !Number.isFinite(f.nm)) refuse(`forces[${i}] is ${JSON.stringify(f)}`);
  }
}

/** checkSpace requires that the batches of a picture in space are all its instances, one after the other, and that their rows are those of entities. */
function checkSpace({ space, entities }, { z, instance_rows: rows = [] }, refuse) {
  const { up, batches } = space ?? {};
  if (!Array.isArray(up) || up.length !== 3 || up.filter(v => v === 0).length !== 2 || up.filter(v => v === 1 || v === -1).length !== 1) refuse(`space.up is ${JSON.stringify(up)}`);
  if (entities && !z) refuse("the section z is missing");
  if (!Array.isArray(batches)) refuse("space has no batches");
  let next = 0;
  for (const [i, b] of batches.entries()) {
    const shared = ["hull", "surface"].includes(b?.form);
    if (!shared && !["box", "round"].includes(b?.form)) refuse(`space.batches[${i}] has the unknown form ${b?.form}`);
    if (shared && !/^[0-9a-f]{16}$/.test(b.geometry)) refuse(`space.batches[${i}] has the geometry ${b.geometry}`);
    if (b.first !== next || !isCount(b.count) || b.count < 1) refuse(`space.batches[${i}] has ${b.count} instances from ${b.first}, not from ${next}`);
    next += b.count;
  }
  if (next !== rows.length) refuse(`space.batches have ${next} of ${rows.length} instances`);
  for (let i = 0; i < rows.length; i++) if (rows[i] >= entities && rows[i] !== noRow) refuse(`instance_rows[${i}] is ${rows[i]} of ${entities} entities`);
}
