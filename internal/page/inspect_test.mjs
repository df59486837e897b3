// Tests of the data path of the page of inspect, run by node: `node internal/page/inspect_test.mjs`, with -short for
// fewer random cases. EVERTICK_SEED repeats a run.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const short = process.argv.includes('-short');
const read = (name) => readFileSync(new URL(`inspect/${name}.js`, import.meta.url), 'utf8');

/** The page's scripts share one scope: load returns some of the names in that of these files, with other globals. */
function load(files, names, globals = {}) {
	return new Function(...Object.keys(globals), `"use strict";${files.map(read).join('\n')}\nreturn {${names}};`)(...Object.values(globals));
}

const { readFrame, FrameError, maxVertices } = load(['frame'], 'readFrame, FrameError, maxVertices');

const types = new Map([[Float32Array, 'f32'], [Uint32Array, 'u32'], [Uint8Array, 'u8'], [BigUint64Array, 'u64']]);
const up8 = (n) => Math.ceil(n / 8) * 8;

/** encode writes a frame as the simulation does. edit changes the head before it is written. */
function encode(head, arrays, edit = () => {}) {
	let at = 1 << 12; // room for the head
	const sections = Object.entries(arrays).map(([name, data]) => {
		const section = { name, type: types.get(data.constructor), count: data.length, at };
		at = up8(at + data.byteLength);
		return section;
	});
	const out = new Uint8Array(at), full = { seq: 1, run: 'a', entities: 0, ...head, sections: structuredClone(sections) };
	edit(full);
	const text = new TextEncoder().encode(JSON.stringify(full));
	assert.ok(text.length < (1 << 12) - 4);
	out.fill(32, 4, 1 << 12);
	out.set(text, 4);
	new DataView(out.buffer).setUint32(0, (1 << 12) - 4, true);
	for (const [i, data] of Object.values(arrays).entries()) out.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), sections[i].at);
	return out.buffer;
}

/** A frame with every section. */
const arrays = () => ({
	slots: Uint32Array.of(1, 4, 9), x: Float32Array.of(1, 2, NaN), y: Float32Array.of(0, -1, 5), by: Float32Array.of(7, NaN, Infinity),
	circles: Float32Array.of(0, 0, 1, 1, 0), circle_colours: Uint32Array.of(0x2f80e0ff),
	polygons: Uint32Array.of(0, 4, 4, 2), polygon_radius: Float32Array.of(0, 0.5), polygon_colours: Uint32Array.of(1, 2),
	points: Float32Array.of(0, 0, 1, 0, 1, 1, 0, 1, 3, 3, 4, 4),
	lines: Float32Array.of(0, 0, 1, 1), line_colours: Uint32Array.of(3), extent: Float32Array.of(-1, -1, 5, 5),
});
const whole = (edit) => encode({ entities: 3, tick: 7, slots_version: 2 }, arrays(), edit);

/** Asserts what a page relies on: all views lie in the buffer, and all indices in their arrays. */
function valid(buffer) {
	const { head, sections: s } = readFrame(buffer);
	for (const view of Object.values(s)) {
		assert.ok(view.buffer === buffer && view.byteOffset + view.byteLength <= buffer.byteLength);
	}
	for (const name of ['slots', 'x', 'y', 'by']) assert.ok(!s[name] || s[name].length === head.entities, name);
	assert.ok(head.entities === 0 || s.x && s.y);
	for (let i = 0; i < (s.polygons?.length ?? 0); i += 2) assert.ok(s.polygons[i + 1] <= maxVertices && 2 * (s.polygons[i] + s.polygons[i + 1]) <= s.points.length);
	for (const [part, by] of [['circle_colours', 'circles'], ['polygon_colours', 'polygons'], ['line_colours', 'lines']]) {
		assert.equal((s[by]?.length ?? 0) / { circles: 5, polygons: 2, lines: 4 }[by], s[part]?.length ?? 0);
	}
}

test('a frame is read in place', () => {
	const buffer = whole(), { head, sections, decodeMs } = readFrame(buffer);
	assert.deepEqual([head.seq, head.tick, head.slots_version, Object.keys(sections).length], [1, 7, 2, 13]);
	assert.ok(decodeMs >= 0);
	for (const [name, data] of Object.entries(arrays())) assert.deepEqual(sections[name], data, name);
	valid(buffer);
	valid(encode({}, {}));
	valid(encode({ entities: 1 }, { x: Float32Array.of(1), y: Float32Array.of(1), later: Uint8Array.of(1, 2, 3), wide: BigUint64Array.of(9n) }));
});

for (const [why, edit] of [
	[/has no seq/, (h) => { delete h.seq; }],
	[/number of entities/, (h) => { h.entities = -1; }],
	[/no sections/, (h) => { h.sections = {}; }],
	[/sections\[1\] has no name/, (h) => { h.sections[1] = null; }],
	[/sections\[1\] \(x\) has the unknown type f64/, (h) => { h.sections[1].type = 'f64'; }],
	[/unknown type toString/, (h) => { h.sections[1].type = 'toString'; }],
	[/sections\[1\] \(x\) has 3 values at byte 4100 of /, (h) => { h.sections[1].at = 4100; }],
	[/values at byte 8 of/, (h) => { h.sections[1].at = 8; }],
	[/values at byte 1e\+300 of/, (h) => { h.sections[1].at = 1e300; }],
	[/has 100000 values at byte/, (h) => { h.sections[1].count = 100000; }],
	[/has 1.5 values at byte/, (h) => { h.sections[1].count = 1.5; }],
	[/sections\[2\] \(x\) occurs twice/, (h) => { h.sections[2].name = 'x'; }],
	[/\(x\) has 3 values of type f32, not 4 of type f32/, (h) => { h.entities = 4; h.sections.shift(); }],
	[/\(slots\) has 3 values of type f32, not 3 of type u32/, (h) => { h.sections[0].type = 'f32'; }],
	[/\(circles\) has 4 values/, (h) => { h.sections[4].count = 4; }],
	[/section circle_colours is missing/, (h) => { h.sections[5].name = 'other'; }],
	[/section y is missing/, (h) => { h.sections[2].name = 'other'; }],
	[/polygon 0 has 4 of 0 points/, (h) => { h.sections[9].name = 'other'; }],
	[/polygon 1 has 2 of 5 points, from 4/, (h) => { h.sections[9].count = 10; }],
	[/\(extent\) has 3 values/, (h) => { h.sections[12].count = 3; }],
]) test(`refused: ${why}`, () => assert.throws(() => readFrame(whole(edit)), (err) => err instanceof FrameError && why.test(err.message) || assert.fail(err)));

test('values that do not fit are refused', () => {
	const refuses = (name, values, why) => assert.throws(() => readFrame(encode({ entities: 3 }, { ...arrays(), [name]: values })), (err) => err instanceof FrameError && why.test(err.message) || assert.fail(err));
	refuses('slots', Uint32Array.of(1, 9, 9), /slots\[2\] is 9 after 9/);
	refuses('polygons', Uint32Array.of(0, 0, 4, 2), /polygon 0 has 0 of 6 points/);
	refuses('polygons', Uint32Array.of(0, 4, 0xffffffff, 2), /polygon 1 has 2 of 6 points, from 4294967295/);
	refuses('points', new Float32Array(7), /points\) has 7 values, not a multiple of 2/);
	const many = { ...arrays(), polygons: Uint32Array.of(0, 4, 4, maxVertices + 1), points: new Float32Array(400) };
	assert.throws(() => readFrame(encode({ entities: 3 }, many)), /polygon 1 has 65 of 200 points/);
});

test('every truncation is refused', () => {
	const buffer = whole();
	for (let n = 0; n < buffer.byteLength; n++) {
		// What follows the last section is padding, which may be cut.
		if (n >= buffer.byteLength - 8 && n >= readFrame(buffer).sections.extent.byteOffset + 16) continue;
		assert.throws(() => readFrame(buffer.slice(0, n)), FrameError, `${n} bytes`);
	}
});

test('spoilt frames are refused or valid', () => {
	const seed = +(process.env.EVERTICK_SEED ?? Math.floor(Math.random() * 2 ** 31)) || 1;
	let state = seed, refused = 0, read = 0;
	const random = (n) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0, Math.floor(state / 2 ** 32 * n));
	const whole_ = whole(), text = new TextDecoder().decode(new Uint8Array(whole_, 4, 4092)).trimEnd().length;
	for (let i = 0; i < (short ? 1000 : 10000); i++) {
		const bytes = new Uint8Array(whole_.slice(0));
		for (let k = random(4); k >= 0; k--) {
			// Most of a frame is values, of which any are valid: spoil above all its head, and there digits.
			let at = [random(bytes.length), random(4), 4 + random(text), bytes.length - 1 - random(300)][random(4)];
			const digit = bytes[at] >= 48 && bytes[at] <= 57;
			bytes[at] = digit && random(4) ? 48 + random(10) : random(256);
		}
		try {
			valid(bytes.buffer);
			read++;
		} catch (err) {
			assert.ok(err instanceof FrameError, `EVERTICK_SEED=${seed}, case ${i}: ${err.stack}`);
			refused++;
		}
	}
	assert.ok(refused > 20 && read > 20, `EVERTICK_SEED=${seed}: ${refused} refused, ${read} read`);
});

const camera = load(['camera'], 'newCamera, toWorld, toScreen, panCamera, zoomCamera, fitCamera, niceLength, lengthText, gridLines');
const near = (a, b, by = 1e-9) => assert.ok(Math.abs(a - b) <= by * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

for (const far of [0, 1e6, -3e7]) test(`the camera at ${far} m`, () => {
	const c = { ...camera.newCamera(), x: far, y: -far, scale: 20, width: 800, height: 600 };
	assert.deepEqual(camera.toWorld(c, 400, 300), [far, -far]);
	assert.deepEqual(camera.toWorld(c, 420, 280), [far + 1, 1 - far]); // y points upwards
	for (let i = 0; i < 100; i++) { // the point under the pointer stays, whatever is done there
		const before = camera.toWorld(c, 13, 590);
		camera.zoomCamera(c, 13, 590, i % 2 ? 3 : 1 / 3.1);
		const [px, py] = camera.toScreen(c, ...before);
		near(px, 13, 1e-3);
		near(py, 590, 1e-3);
	}
	const [x, y] = camera.toWorld(c, 0, 0);
	camera.panCamera(c, 30, -40);
	const [px, py] = camera.toScreen(c, x, y);
	near(px, 30, 1e-3);
	near(py, -40, 1e-3);
});

test('a fit shows the whole box', () => {
	for (const [box, scale] of [[[0, 0, 10, 10], 54], [[1e6, -5, 1e6 + 80, 5], 9], [[2, 2, 2, 2], 50], [[-1e30, 0, 1e30, 1], null], [[0, 0, 1e-9, 1e-9], 1e6]]) {
		const c = { ...camera.newCamera(), width: 800, height: 600 };
		camera.fitCamera(c, box);
		if (scale) near(c.scale, scale);
		for (const [x, y] of [[box[0], box[1]], [box[2], box[3]]]) {
			const [px, py] = camera.toScreen(c, x, y);
			assert.ok(px >= 0 && px <= 800 && py >= 0 && py <= 600, `${box}: ${px}, ${py}`);
		}
	}
	const c = camera.newCamera();
	for (const none of [[1, 1, 0, 0], [NaN, 0, 1, 1], [0, 0, Infinity, 1]]) camera.fitCamera(c, none);
	assert.deepEqual(c, camera.newCamera());
	for (let i = 0; i < 2000; i++) camera.zoomCamera(c, 0, 0, i < 1000 ? 10 : 0.1);
	assert.ok(c.scale > 0 && Number.isFinite(c.x + c.y));
});

test('lengths are 1, 2 or 5', () => {
	const { niceLength, lengthText, gridLines } = camera;
	assert.deepEqual([0.7, 1, 1.99, 2, 4.99, 5, 9.99, 10, 123456].map((v) => +niceLength(v).toPrecision(6)), [0.5, 1, 1, 2, 2, 5, 5, 10, 100000]);
	assert.deepEqual([2e5, 1000, 500, 1, 0.5, 0.02, 0.005, 1e-5].map(lengthText), ['200 km', '1 km', '500 m', '1 m', '50 cm', '2 cm', '5 mm', '10 µm']);
	assert.deepEqual(gridLines(-3, 5, 2), [-2, 0, 2, 4]);
	assert.equal(gridLines(0, 1e9, 1).length, 256);
	assert.deepEqual(gridLines(1e6 + 0.5, 1e6 + 2.5, 1), [1e6 + 1, 1e6 + 2]);
});

const helpers = load(['frame', 'view'], 'indexOf, rangeOf, hits, slotsOf');

test('slots are found', () => {
	const slots = Uint32Array.of(2, 3, 7, 4294967295);
	assert.deepEqual([0, 2, 3, 5, 7, 8, 4294967295].map((s) => helpers.indexOf(slots, s)), [-1, 0, 1, -1, 2, -1, 3]);
	assert.equal(helpers.indexOf(new Uint32Array(0), 1), -1);
	const frame = (entities, slots) => ({ head: { entities }, sections: { slots } });
	assert.equal(helpers.slotsOf(frame(4), slots), slots);
	assert.equal(helpers.slotsOf(frame(0), slots).length, 0);
	assert.throws(() => helpers.slotsOf(frame(3), slots), /3 entities and leaves out their slots, which are 4/);
});

test('a range leaves out what is not finite', () => {
	assert.deepEqual(helpers.rangeOf(Float32Array.of(3, NaN, -2, Infinity, NaN)), { least: -2, greatest: 3, nan: 2, known: true });
	assert.deepEqual(helpers.rangeOf(Float32Array.of(NaN)), { least: 0, greatest: 0, nan: 1, known: false });
	assert.equal(helpers.rangeOf(undefined), null);
});

test('the pointer hits entities and shapes', () => {
	const s = { ...arrays(), polygon_radius: Float32Array.of(0.25, 0.5), circles: Float32Array.of(20, 0, 2, 1, 0) };
	for (const [x, y, hit] of [[1, 0.05, true], [0.5, 0.5, true], [0.5, 1.2, true], [0.5, 1.3, false], [21.9, 0, true], [22.1, 0, false], [3.5, 3.6, true], [3.5, 5, false], [NaN, 0, false]]) {
		assert.equal(helpers.hits(s, x, y, 0.1), hit, `${x}, ${y}`);
	}
	assert.equal(helpers.hits({}, 0, 0, 1), false);
});

// The source, with a page and a clock of its own.

/** newPage returns a source whose requests the test answers: take() waits for the next one. */
function newPage({ twin = false } = {}) {
	const listeners = [], asked = [], waiting = [], timers = [];
	let now = 0;
	const page = {
		document: { hidden: false, addEventListener: (_, f) => listeners.push(f) },
		inFlight: 0, most: 0, timers, now: () => now,
		hide(hidden) {
			page.document.hidden = hidden;
			for (const f of listeners) f();
		},
		take: () => asked.length ? Promise.resolve(asked.shift()) : new Promise((resolve) => waiting.push(resolve)),
		idle: async () => {
			for (let i = 0; i < 20; i++) await null;
			return asked.length === 0;
		},
		/** pass runs the earliest timer of less than ten seconds, and returns how long it waited. */
		async pass() {
			await page.idle();
			const due = timers.filter((t) => !t.off && t.at - now < 10000), t = due.reduce((a, b) => (b.at < a.at ? b : a)), waited = t.at - now;
			t.off = true;
			now = t.at;
			t.f();
			return waited;
		},
	};
	function send(method, path, body, signal) {
		page.most = Math.max(page.most, ++page.inFlight);
		return new Promise((resolve, reject) => {
			const r = { method, path, body, signal, fail: (text) => reject(new Error(text)), answer: (status, type = '', body = new ArrayBuffer(0)) => resolve({ status, type, body }) };
			r.json = (status, value) => r.answer(status, 'application/json', new TextEncoder().encode(JSON.stringify(value)).buffer);
			signal?.addEventListener('abort', () => reject(signal.reason));
			waiting.length ? waiting.shift()(r) : asked.push(r);
		}).finally(() => page.inFlight--);
	}
	const fetch = async (path, { method, body, signal }) => {
		const a = await send(method, path, body, signal);
		return { status: a.status, headers: { get: () => a.type }, arrayBuffer: async () => a.body };
	};
	const globals = {
		document: page.document, window: twin ? { evertickTwin: { request: ({ method, path, body }) => send(method, path, body) } } : {}, fetch,
		performance: { now: () => now },
		setTimeout: (f, ms) => { const t = { f, at: now + ms }; timers.push(t); return t; }, clearTimeout: (t) => { t.off = true; },
	};
	page.source = load(['source', 'frame'], 'newSource', globals).newSource();
	return page;
}
const small = (head = {}) => encode({ entities: 1, ...head }, { slots: Uint32Array.of(3), x: Float32Array.of(1), y: Float32Array.of(1) });

for (const twin of [false, true]) test(`requests ${twin ? 'to a twin' : 'to a server'}`, async () => {
	const { source, take } = newPage({ twin }), states = [];
	source.onState((s) => states.push(s));
	assert.equal(source.state, 'connecting');
	const status = source.get('status');
	(await take()).json(200, { run: 'a', tick: 3 });
	assert.deepEqual(await status, { status: 200, json: { run: 'a', tick: 3 } });
	assert.equal(source.run, 'a');
	const post = source.post('timeline', { of: 'log', seek: 5 }), r = await take();
	assert.deepEqual([r.method, r.path, r.body], ['POST', 'timeline', '{"of":"log","seek":5}']);
	r.json(403, { error: 'no' });
	assert.deepEqual(await post, { status: 403, json: { error: 'no' } });
	const bytes = source.get('frame');
	(await take()).answer(200, 'application/octet-stream', new ArrayBuffer(9));
	assert.equal((await bytes).bytes.byteLength, 9);
	const bad = source.get('world');
	(await take()).answer(200, 'application/json', new ArrayBuffer(1));
	assert.match((await bad).json.error, /answer to world is not JSON/);
	const lost = source.get('world');
	(await take()).fail('gone');
	assert.match((await lost).json.error, /no answer from the simulation: gone/);
	assert.deepEqual(states, ['connected', 'reconnecting']);
});

test('frames are asked for one at a time, and after the last was drawn', async () => {
	const page = newPage(), frames = [];
	let drawn;
	const stream = page.source.frames({ onFrame: (f) => (frames.push(f), new Promise((r) => { drawn = r; })) });
	assert.ok(await page.idle());
	stream.ask('of=live&by=hp');
	let r = await page.take();
	assert.equal(r.path, 'frame?after=0&of=live&by=hp');
	r.answer(200, '', small({ seq: 5, slots_version: 4 }));
	assert.ok(await page.idle()); // not drawn yet
	assert.equal(frames[0].by, 'hp');
	drawn();
	r = await page.take();
	assert.equal(r.path, 'frame?after=5&have=4&of=live&by=hp');
	stream.ask('of=log');
	r = await page.take();
	assert.equal(r.path, 'frame?after=0&of=log'); // slots are those of the other subject
	r.answer(204);
	await page.pass(); // it came at once
	await page.take();
	stream.ask(null);
	assert.ok(await page.idle());
	assert.equal(page.most, 1);
});

test('a hidden page asks for nothing', async () => {
	const page = newPage();
	page.source.frames({ onFrame() {} }).ask('of=live');
	const r = await page.take();
	page.hide(true);
	assert.ok(r.signal.aborted);
	assert.ok(await page.idle());
	page.hide(false);
	assert.equal((await page.take()).path, 'frame?after=0&of=live');
	assert.equal(page.source.state, 'connecting'); // a request that the page cancels is no failure
});

test('waits grow to 2 s while no answer comes, and then the page begins anew', async () => {
	const page = newPage(), waits = [], states = [], frames = [];
	page.source.onState((s) => states.push(s));
	page.source.frames({ onFrame: (f) => frames.push(f.head.seq) }).ask('of=live');
	(await page.take()).answer(200, '', small({ seq: 900, slots_version: 7 }));
	for (let i = 0; i < 16; i++) {
		(await page.take()).fail('refused');
		waits.push(await page.pass());
	}
	assert.deepEqual(waits.slice(0, 8), [100, 200, 400, 800, 1600, 2000, 2000, 2000]);
	assert.deepEqual(states, ['connected', 'reconnecting', 'gone']);
	const r = await page.take(), runs = [];
	assert.equal(r.path, 'frame?after=0&of=live');
	page.source.onRun((run, first) => runs.push([run, first]));
	r.answer(200, '', small({ seq: 1, run: 'b', slots_version: 1 }));
	assert.equal((await page.take()).path, 'frame?after=1&have=1&of=live');
	assert.deepEqual([runs, states.at(-1), frames], [[['b', false]], 'connected', [900, 1]]);
});

test('a server that no longer answers is noticed within 2 s, though its connections stay open', async () => {
	for (const twin of [false, true]) {
		const page = newPage({ twin }), states = [];
		page.source.onState((s) => states.push(s));
		page.source.get('status'); // its first answer may take as long as it likes
		const first = await page.take();
		await page.pass();
		assert.deepEqual(states, []);
		first.json(200, { run: 'a' });
		await page.idle();
		page.source.get('status');
		const slow = await page.take();
		page.source.get('world');
		await page.take();
		assert.equal(await page.pass(), 2000);
		assert.deepEqual(states, ['connected', 'reconnecting']);
		slow.json(200, { run: 'a' }); // it goes on
		await page.idle();
		assert.equal(states.at(-1), 'connected');
		await page.pass(); // the timer of world, which still waits
		for (const at of [3000, 4500, 6000]) { // while others are answered
			page.timers.push({ f() {}, at });
			while (page.now() < at) await page.pass();
			page.source.get('status');
			(await page.take()).json(200, { run: 'a' });
			await page.idle();
			assert.equal(states.at(-1), 'connected');
		}
		while (page.now() < 8000) {
			assert.equal(states.at(-1), 'connected');
			await page.pass();
		}
		assert.equal(states.at(-1), 'reconnecting');
	}
});

test('a new run without slots is asked for again', async () => {
	const page = newPage(), frames = [];
	page.source.frames({ onFrame: (f) => frames.push(f.head.run) }).ask('of=live');
	(await page.take()).answer(200, '', small({ seq: 1, slots_version: 1 }));
	(await page.take()).answer(200, '', encode({ seq: 2, run: 'b', entities: 1, slots_version: 1 }, { x: Float32Array.of(1), y: Float32Array.of(1) }));
	assert.equal((await page.take()).path, 'frame?after=0&of=live');
	assert.deepEqual(frames, ['a']);
});

test('errors and malformed frames are reported, and end', async () => {
	const page = newPage(), problems = [];
	page.source.frames({ onFrame() {}, onProblem: (p) => problems.push(p) }).ask('of=live');
	(await page.take()).json(503, { error: 'stalled', stalled: true });
	assert.equal(await page.pass(), 100);
	(await page.take()).json(400, { error: 'by: no column hp' });
	assert.equal(await page.pass(), 1000);
	(await page.take()).answer(200, '', new ArrayBuffer(3));
	assert.equal(await page.pass(), 1000);
	(await page.take()).answer(200, '', small());
	await page.take();
	assert.deepEqual(problems, ['stalled', 'by: no column hp', 'frame: it has 3 bytes', '']);
});
