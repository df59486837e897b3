// Tests of the view in space, run by node: `node internal/page/space_test.mjs`, with -short for fewer random cases. EVERTICK_SEED repeats a run.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const short = process.argv.includes('-short');
const names = ['frame', 'matrix', 'camera', 'orbit', 'solids'];
const source = names.map((n) => readFileSync(new URL(`inspect/${n}.js`, import.meta.url), 'utf8')).join('\n');
const { readFrame, FrameError, newOrbit, axesOf, eyeOf, orbitBy, panOrbit, zoomOrbit, fitOrbit, rayOf, projectPoint, orbitView, transformVector, rotateVector, crossVectors, dotVectors, subtractVectors,
	addVectors, scaleVector, boxGeometry, roundGeometry, readGeometry, metresPerPixel } = new Function(`"use strict";${source}
return { readFrame, FrameError, newOrbit, axesOf, eyeOf, orbitBy, panOrbit, zoomOrbit, fitOrbit, rayOf, projectPoint, orbitView, transformVector, rotateVector, crossVectors, dotVectors, subtractVectors,
	addVectors, scaleVector, boxGeometry, roundGeometry, readGeometry, metresPerPixel };`)();

const seed = +(process.env.EVERTICK_SEED ?? Math.floor(Math.random() * 2 ** 31)) || 1;
let state = seed;
const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0, state / 2 ** 32);
const between = (a, b) => a + (b - a) * random();
const near = (a, b, by, why = '') => assert.ok(Math.abs(a - b) <= by, `${a} is not ${b} ${why}; EVERTICK_SEED=${seed}`);
const nearVector = (a, b, by, why) => a.forEach((v, k) => near(v, b[k], by, `at ${k} of ${a}, ${b}: ${why ?? ''}`));
const ups = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];

function randomCamera() {
	return { ...newOrbit(), target: [between(-100, 100), between(-100, 100), between(-100, 100)], up: ups[Math.floor(6 * random())], yaw: between(-7, 7), pitch: between(-1.5, 1.5), distance: 10 ** between(-1, 3), width: Math.round(between(100, 1500)), height: Math.round(between(100, 900)) };
}

test('a quaternion rotates a vector', () => {
	const h = Math.SQRT1_2;
	nearVector(rotateVector([0, 0, h, h], [1, 0, 0]), [0, 1, 0], 1e-12);
	nearVector(rotateVector([h, 0, 0, h], [0, 1, 0]), [0, 0, 1], 1e-12);
	nearVector(rotateVector([0, h, 0, h], [0, 0, 1]), [1, 0, 0], 1e-12);
});

test('the axes of a camera are a right-handed frame in which up is up', () => {
	for (let i = 0; i < (short ? 100 : 1000); i++) {
		const c = randomCamera(), { right, up, back } = axesOf(c);
		for (const v of [right, up, back]) near(dotVectors(v, v), 1, 1e-9);
		nearVector(crossVectors(right, up), back, 1e-9);
		near(dotVectors(right, c.up), 0, 1e-9);
		assert.ok(dotVectors(up, c.up) > 0);
		near(dotVectors(back, c.up), Math.sin(c.pitch), 1e-9);
	}
});

test('a ray goes through what is drawn at its pixel, as the shader draws it', () => {
	for (let i = 0; i < (short ? 100 : 1000); i++) {
		const c = randomCamera(), px = between(0, c.width), py = between(0, c.height), { origin, direction } = rayOf(c, px, py);
		const t = c.distance * between(0.1, 5), p = addVectors(origin, scaleVector(direction, t)), [x, y, depth] = projectPoint(c, p);
		nearVector([x, y], [px, py], 1e-6 * c.width);
		assert.ok(depth > 0 && depth <= t * 1.0001);
		const { matrix, high, low } = orbitView(c), clip = transformVector(matrix, subtractVectors(subtractVectors(p, high), low));
		nearVector([(clip[0] / clip[3] + 1) * c.width / 2, (1 - clip[1] / clip[3]) * c.height / 2], [px, py], 0.01);
		assert.ok(Math.abs(clip[2] / clip[3]) < 1, 'between the planes');
		near(clip[3], depth, 1e-4 * depth);
		near(projectPoint(c, addVectors(origin, scaleVector(direction, -1)))[2], -depth / t, 1e-6);
	}
});

test('a zoom keeps the point under the pixel, a pan moves it with the pointer, a turn keeps the target', () => {
	for (let i = 0; i < (short ? 100 : 1000); i++) {
		const c = randomCamera(), px = between(0, c.width), py = between(0, c.height), { right, up } = axesOf(c), k = metresPerPixel(c);
		const p = addVectors(c.target, addVectors(scaleVector(right, (px - c.width / 2) * k), scaleVector(up, (c.height / 2 - py) * k)));
		const pixel = () => projectPoint(c, p).slice(0, 2), by = 1e-6 * c.width;
		nearVector(pixel(), [px, py], by);
		zoomOrbit(c, px, py, between(0.3, 3));
		nearVector(pixel(), [px, py], by);
		panOrbit(c, 13, -7);
		nearVector(pixel(), [px + 13, py - 7], by);
		const target = c.target, before = { ...c };
		orbitBy(c, between(-300, 300), between(-300, 300));
		nearVector(projectPoint(c, target).slice(0, 2), [c.width / 2, c.height / 2], by);
		near(Math.hypot(...subtractVectors(eyeOf(c), target)), before.distance, 1e-9 * before.distance);
	}
	const c = newOrbit();
	orbitBy(c, 0, 1e9);
	assert.ok(c.pitch < Math.PI / 2 && Number.isFinite(axesOf(c).right[0]));
	for (let i = 0; i < 99; i++) zoomOrbit(c, 0, 0, 1e9);
	assert.ok(c.distance > 0);
	for (let i = 0; i < 99; i++) zoomOrbit(c, 0, 0, 1e-9);
	assert.ok(Number.isFinite(c.distance));
});

test('a fit shows the whole box, and not much else', () => {
	for (let i = 0; i < (short ? 100 : 1000); i++) {
		const c = randomCamera(), low = [between(-50, 50), between(-50, 50), between(-50, 50)], high = low.map((v) => v + between(0.1, 80));
		fitOrbit(c, [...low, ...high]);
		let reach = 0;
		for (let k = 0; k < 8; k++) {
			const [x, y, depth] = projectPoint(c, low.map((v, a) => k >> a & 1 ? high[a] : v));
			assert.ok(depth > 0);
			reach = Math.max(reach, Math.abs(2 * x / c.width - 1), Math.abs(2 * y / c.height - 1));
		}
		assert.ok(reach <= 1 && reach > 0.5, `${reach} EVERTICK_SEED=${seed}`);
	}
	const c = newOrbit(), before = structuredClone(c);
	for (const bad of [[1, 0, 0, 0, 1, 1], [0, 0, 0, NaN, 1, 1], [-Infinity, 0, 0, 1, 1, 1]]) fitOrbit(c, bad);
	assert.deepEqual(c, before);
	fitOrbit(c, [3, 4, 5, 3, 4, 5]); // one point
	assert.ok(c.distance > 0 && c.target[2] === 5);
});

/** Asserts that a geometry is closed, faces outwards, and has a volume. */
function closed({ corners, sides, indices }, form, volume, by) {
	assert.equal(sides.length / 4, corners.length / 3);
	const at = (i) => form([...corners.slice(3 * i, 3 * i + 3)], sides[4 * i]), edges = new Map();
	let sum = 0;
	for (let i = 0; i < indices.length; i += 3) {
		const t = [at(indices[i]), at(indices[i + 1]), at(indices[i + 2])];
		sum += dotVectors(t[0], crossVectors(t[1], t[2])) / 6;
		for (let k = 0; k < 3; k++) {
			const [a, b] = [t[k], t[(k + 1) % 3]].map((p) => p.map((v) => Math.round(v * 1e5) + 0).join());
			if (a === b) continue;
			edges.set(`${a};${b}`, (edges.get(`${a};${b}`) ?? 0) + 1);
		}
	}
	for (const [edge, n] of edges) assert.equal(edges.get(edge.split(';').reverse().join(';')), n, `the edge ${edge} is open`);
	near(sum, volume, by);
}

test('the solids are closed and have their volumes', () => {
	closed(boxGeometry(), (p) => p, 8, 1e-9);
	closed(roundGeometry(40, 24), (p) => p, 4 / 3 * Math.PI, 0.06);
	closed(roundGeometry(40, 24), (p, top) => [p[0], p[1] + (top ? 2 : -2), p[2]], (4 / 3 + 4) * Math.PI, 0.2); // a capsule
	for (const s of [boxGeometry(), roundGeometry(10, 6), roundGeometry(20, 12)]) assert.ok(Math.max(...s.indices) < s.corners.length / 3);
});

function geometry(triangles, edges) {
	const out = new ArrayBuffer(8 + 40 * triangles.length);
	new Uint32Array(out, 0, 2).set([triangles.length, triangles.length + 5]);
	new Float32Array(out, 8, 9 * triangles.length).set(triangles.flat());
	new Uint32Array(out, 8 + 36 * triangles.length).set(edges);
	return out;
}

test('a geometry is read, with its edges', () => {
	const g = readGeometry(geometry([[0, 0, 0, 1, 0, 0, 0, 1, 0], [1, 0, 0, 1, 1, 0, 0, 1, 0]], [0b101, 0]));
	assert.deepEqual([g.corners.length, g.all, g.indices], [18, 7, null]);
	// Along the edge from corner 0 to 1 the first number of both is 0, and from 2 to 0 the third one.
	assert.deepEqual([...g.sides.slice(0, 12)], [0, 255, 0, 255, 0, 255, 255, 255, 255, 255, 0, 255]);
	assert.ok(g.sides.slice(12).every((v) => v === 255));
	assert.equal(readGeometry(geometry([], [])).corners.length, 0);
});

test('a damaged geometry is refused', () => {
	const whole = geometry([[0, 0, 0, 1, 0, 0, 0, 1, 0]], [7]);
	for (let n = 0; n < whole.byteLength; n++) assert.throws(() => readGeometry(whole.slice(0, n)), FrameError);
	const bad = (edit) => assert.throws(() => readGeometry((() => { const b = whole.slice(0); edit(b); return b; })()), FrameError);
	bad((b) => { new Uint32Array(b)[0] = 0xffffffff; });
	bad((b) => { new Uint32Array(b)[0] = 2; });
	bad((b) => { new Float32Array(b)[5] = NaN; });
	bad((b) => { new Float32Array(b)[2] = Infinity; });
});

/** frame writes a frame in space. edit changes the head before it is written. */
function frame(edit = () => {}, arrays = {}) {
	const sections = { slots: Uint32Array.of(1, 4), x: Float32Array.of(1, 2), y: Float32Array.of(3, 4), z: Float32Array.of(5, 6),
		instances: new Float32Array(30), instance_colours: Uint32Array.of(1, 2, 3), instance_rows: Uint32Array.of(0, 0xffffffff, 1),
		lines3: new Float32Array(6), line3_colours: Uint32Array.of(9), extent3: new Float32Array(6), ...arrays };
	const room = 2048, head = { seq: 1, run: 'a', entities: 2, sections: [], space: { up: [0, 1, 0], batches: [{ form: 'box', first: 0, count: 1 }, { form: 'hull', geometry: '0123456789abcdef', first: 1, count: 2 }] } };
	let at = room;
	for (const [name, data] of Object.entries(sections)) {
		head.sections.push({ name, type: data instanceof Float32Array ? 'f32' : 'u32', count: data.length, at });
		at += Math.ceil(data.byteLength / 8) * 8;
	}
	const places = head.sections.map((s) => s.at), out = new Uint8Array(at).fill(32, 4, room);
	edit(head);
	out.set(new TextEncoder().encode(JSON.stringify(head)), 4);
	new DataView(out.buffer).setUint32(0, room - 4, true);
	Object.values(sections).forEach((data, i) => out.set(new Uint8Array(data.buffer), places[i]));
	return out.buffer;
}

test('a frame in space is read', () => {
	const { head, sections } = readFrame(frame());
	assert.equal(head.space.batches.length, 2);
	assert.equal(sections.instances.length, 30);
	assert.equal(sections.z[1], 6);
});

for (const [why, edit] of [
	[/space.up is/, (h) => { h.space.up = [1, 1, 0]; }],
	[/space.up is/, (h) => { h.space.up = null; }],
	[/space.up is/, (h) => { h.space = null; }],
	[/no batches/, (h) => { delete h.space.batches; }],
	[/unknown form cone/, (h) => { h.space.batches[0].form = 'cone'; }],
	[/unknown form undefined/, (h) => { h.space.batches[0] = null; }],
	[/the geometry .*\/status/, (h) => { h.space.batches[1].geometry = '../status'; }],
	[/1e\+300 instances|has 1e300/, (h) => { h.space.batches[0].count = 1e300; }],
	[/has 0 instances/, (h) => { h.space.batches[0].count = 0; }],
	[/from 2, not from 1/, (h) => { h.space.batches[1].first = 2; }],
	[/have 1 of 3 instances/, (h) => { h.space.batches.pop(); }],
	[/section z is missing/, (h) => { h.sections[3].name = 'other'; }],
	[/instances\) has 29 values/, (h) => { h.sections[4].count = 29; }],
	[/instance_rows is missing/, (h) => { h.sections[6].name = 'other'; }],
	[/lines3\) has 5/, (h) => { h.sections[7].count = 5; }],
	[/extent3\) has 5/, (h) => { h.sections[9].count = 5; }],
]) test(`refused: ${why}`, () => assert.throws(() => readFrame(frame(edit)), (err) => err instanceof FrameError && why.test(err.message) || assert.fail(err)));

test('a row beyond the entities is refused', () => {
	assert.throws(() => readFrame(frame(() => {}, { instance_rows: Uint32Array.of(0, 2, 1) })), /instance_rows\[1\] is 2 of 2/);
});

test('spoilt frames in space are refused or valid', () => {
	const whole = frame();
	let refused = 0;
	for (let i = 0; i < (short ? 500 : 5000); i++) {
		const bytes = new Uint8Array(whole.slice(0));
		for (let k = 0; k < 3; k++) bytes[Math.floor(random() * (random() < 0.7 ? 900 : bytes.length))] ^= 1 << Math.floor(8 * random());
		try {
			const { head, sections } = readFrame(bytes.buffer);
			if (!head.space) continue;
			const n = (sections.instance_rows ?? []).length;
			assert.ok(head.space.batches.every((b) => b.first + b.count <= n));
		} catch (err) {
			assert.ok(err instanceof FrameError, `${err.stack} EVERTICK_SEED=${seed}`);
			refused++;
		}
	}
	assert.ok(refused > 50);
});
