// Tests of client.js, run by node: `node replica/js/client_test.mjs`, with -short for fewer random cases.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { Client, FrameError } from './client.js';
import { Clock } from './clock.js';
import { Reader } from './wire.js';
import { Bytes, empty, encode, random, schemaBytes, welcome } from './encoder.mjs';

const short = process.argv.includes('-short');
const vectors = JSON.parse(readFileSync(new URL('../testdata/vectors.json', import.meta.url), 'utf8'));
const unhex = (text) => Uint8Array.from(Buffer.from(text, 'hex'));
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const frame = (...bytes) => Uint8Array.from(bytes);

/** All that a program can see of a client. */
function seen(c) {
	const s = c.state;
	if (!s) return { welcome: c.welcome };
	const lanes = s.lanes.map((q, k) => [...q.subarray(0, k < s.schema.publics ? s.count : s.own.length)]);
	return {
		welcome: c.welcome, tick: s.tick, at: s.at, origin: [...s.origin], partial: s.partial, applied: s.applied, slots: [...s.slots.subarray(0, s.count)], ids: [...s.ids.subarray(0, s.count)], lanes,
		own: [...s.own], jumped: [...s.jumped], entered: [...s.entered], left: s.left.map((e) => ({ ...e })), offset: c.offset, roundTrip: c.roundTrip,
	};
}

/** Asserts that the client refuses a frame and stays as it was. */
function refuses(c, bytes, why) {
	const before = seen(c);
	assert.throws(() => c.receive(bytes), (err) => err instanceof FrameError && why.test(err.message), `${why} in ${hex(bytes)}`);
	assert.deepEqual(seen(c), before);
}

function joined(schema, options = {}) {
	const sent = [], c = new Client({ send: (f) => sent.push(f), ...options });
	c.receive(schema instanceof Uint8Array ? schema : welcome(schema));
	return Object.assign(c, { sent });
}

const quantised = (name, bits = 16, step = 0.5) => ({ name, codec: 2, kind: 9, components: 1, bits, step });
const angle = (name, bits = 10) => ({ name, codec: 3, kind: 9, components: 1, bits, step: 0 });
const exact = (name, kind, components = 1) => ({ name, codec: 1, kind, components, bits: [0, 8, 16, 32, 32, 8, 16, 32, 32, 32, 32][kind], step: 0 });
const one = schemaBytes([{ flags: 0, fields: [quantised('x', 8)] }]); // one lane of 8 bits

for (const sequence of vectors.Sequences)
	test(`vectors: ${sequence.Name}`, () => {
		const c = joined(unhex(sequence.Welcome), { ordered: false }), { publics } = c.welcome.schema;
		assert.ok(sequence.Refused.length > 0);
		for (const { Frame, State } of sequence.Frames) {
			// Those are spoilt copies of the last frame: a client that has its tick ignores them.
			if (State === sequence.Frames.at(-1).State) for (const { Frame, Why } of sequence.Refused) refuses(c, unhex(Frame), /./, Why);
			assert.equal(c.receive(unhex(Frame)), true);
			const s = seen(c);
			assert.deepEqual({ tick: s.tick, at: s.at, origin: s.origin, slots: s.slots, own: s.own, jumped: s.jumped, entered: s.entered },
				{ tick: +State.Tick, at: +State.At, origin: State.Origin, slots: State.Slots, own: State.Own, jumped: State.Jumped, entered: State.Entered });
			assert.deepEqual(s.ids, State.IDs.map(BigInt));
			assert.deepEqual(s.lanes, [...State.Lanes, ...State.Owned]);
			assert.equal(s.lanes.length, publics + State.Owned.length);
			assert.deepEqual(s.left, State.Left.map((e) => ({ slot: e.Slot, id: BigInt(e.ID), dead: e.Dead })));
			assert.deepEqual(s.applied, State.Applied === undefined ? null : { sequence: +State.Applied, waited: +State.ResidenceMicro });
		}
		for (const [name, columns] of Object.entries(sequence.Values)) {
			const got = c.state.values(name), rows = columns[0].length;
			assert.equal(got.length, rows * columns.length);
			columns.forEach((column, k) => column.forEach((want, i) => {
				const v = got[i * columns.length + k];
				if (want === null) assert.ok(!Number.isFinite(v), `${name}[${i}][${k}] is ${v}`);
				else if (typeof v === 'bigint') assert.equal(v, BigInt(want), name);
				else assert.ok(v === want || Math.abs(v - want) <= 2e-7 * Math.abs(want) + 2e-7 && got instanceof Float32Array, `${name}[${i}][${k}] is ${v}, not ${want}`);
			}));
		}
	});

/** The angle in degrees between two rotations, which need not have length 1. */
function degrees(a, b) {
	const unit = (q) => q.map((v) => v / Math.hypot(...q)), [x, y] = [unit(a), unit(b)];
	return 4 * Math.asin(Math.min(Math.hypot(...x.map((v, c) => v - y[c])), Math.hypot(...x.map((v, c) => v + y[c]))) / 2) * 180 / Math.PI;
}

test('vectors: rotations', () => {
	assert.ok(vectors.Rotations.length >= 30);
	let worst = 0;
	for (const { Bits, Rotation, Lanes, Value } of vectors.Rotations) {
		const c = joined(schemaBytes([{ flags: 0, fields: [{ name: 'rotation', codec: 5, kind: 9, components: 4, bits: Bits, step: 0 }] }]));
		c.receive(encode(empty(), { tick: 1, at: 0, entities: [{ slot: 0, id: 1n, q: Lanes, own: null }] }, [{ predicted: false, bits: [2, Bits, Bits, Bits] }], [], random(1), { plain: true }));
		const got = [...c.state.values('rotation')];
		got.forEach((v, k) => assert.ok(Math.abs(v - Value[k]) <= 1e-6, `${Lanes} is ${got}, not ${Value}`));
		if (Bits === 12) worst = Math.max(worst, degrees(Rotation, got));
	}
	assert.ok(worst > 0.02 && worst <= 0.1, `off by ${worst} degrees`);
});

test('vectors: messages', () => {
	const message = (name) => vectors.Messages.filter((m) => m.Name === name), sent = [];
	const [{ Frame: hello, Fields: h }] = message('Hello'), [{ Frame: hi, Fields: w }] = message('Welcome');
	const options = { mode: h.mode, simVersion: h.simVersion, schema: BigInt(h.schema), credentials: unhex(h.credentials), send: (f) => sent.push(hex(f)), ordered: false };
	let c = new Client(options);
	c.receive(welcome(one, { token: [...unhex(h.token)] }));
	c.receive(keyframe(+h.held, [3], [-5]));
	sent.length = 0;
	c.hello();
	assert.equal(sent.pop(), hello);

	c = new Client(options);
	c.receive(unhex(hi));
	const { schema, token, ...fields } = c.welcome;
	assert.deepEqual(fields, { every: w.every, rate: w.rate, received: +w.received, resumed: w.resumed, scenario: w.scenario, seed: BigInt(w.seed), session: w.session, spectates: false, simVersion: w.simVersion, tick: +w.tick });
	assert.equal(hex(token), w.token);
	assert.deepEqual([...schema.fields.keys()], ['position.x', 'position.y', 'rotation']);

	const [{ Fields: { follow }, Frame: followed }, { Fields: { point, origin }, Frame: looked }] = message('Look');
	c.receive(encode(empty(), { tick: 1, at: 0, origin: origin.map((v) => v / 1024), entities: [] }, [], [], random(1), { plain: true }));
	assert.deepEqual(c.state.origin, origin);
	sent.length = 0;
	c.follow(BigInt(follow));
	c.lookAt(...point);
	c.resync(+message('Resync')[0].Fields.tick);
	assert.deepEqual(sent.splice(0), [followed, looked, message('Resync')[0].Frame]);
	const [{ Frame: error, Fields: e }] = message('Error');
	let got;
	c.options.onError = (err) => (got = err);
	c.receive(unhex(error));
	assert.deepEqual(got, e);

	const tick = +message('Ack')[0].Fields.tick;
	c = new Client(options);
	c.receive(welcome(one));
	c.receive(keyframe(tick, [], []));
	assert.equal(sent.pop(), message('Ack')[0].Frame);
});

/** A Keyframe of the schema `one`. */
function keyframe(tick, slots, codes) {
	return new Bytes().u8(3).uv(tick).u8(0).uv(9).uv(slots.length).places(slots, (_, b) => b.sv(0)).u8(...codes).frame();
}

test('a Keyframe and an Update, byte by byte', () => {
	const c = joined(one);
	//                        tick flags at    enters  slot 2, id 5 slot 9, +1   lanes
	assert.ok(c.receive(frame(3, 7, 0, 0x90, 0x4e, 2, 2, 10, 6, 2, 0x81, 0x02)));
	assert.deepEqual(seen(c).ids, [5n, 6n]);
	assert.deepEqual(seen(c).slots, [2, 9]);
	assert.deepEqual(c.state.values('x'), Float32Array.of(-63.5, 1));
	assert.equal(c.state.at, 10_000);
	//                        tick age flags at leaves enters mode width  bits: -1, +1 in 2 bits
	assert.ok(c.receive(frame(4, 10, 3, 0, 8, 0, 0, 1, 2, 0b0111)));
	assert.deepEqual(c.state.values('x'), Float32Array.of(NaN, 1.5)); // -128 is NaN
	//                        leaves: the first, dead. enters: slot 2 anew with id 4, slot 10 with id 3. A wide part of +200, modulo 2^8
	assert.ok(c.receive(frame(4, 11, 1, 0, 8, 1, 1, 2, 2, 8, 7, 1, 7, 8, 4, 1, 0, 1, 0x90, 0x03)));
	assert.deepEqual(seen(c).ids, [4n, 6n, 3n]);
	assert.deepEqual(seen(c).lanes, [[7, 3 + 200 - 256, 8]]);
	assert.deepEqual(seen(c).left, [{ slot: 2, id: 5n, dead: true }]);
	assert.deepEqual(seen(c).entered, [0, 2]);
	//                        a refresh of slot 9, and no record for the others
	assert.ok(c.receive(frame(4, 12, 1, 0, 8, 0, 1, 9, 12, 0x55, 0)));
	assert.deepEqual(seen(c).lanes, [[7, 0x55, 8]]);
	assert.deepEqual(seen(c).entered, []);
});

test('an Update that is refused', () => {
	const c = joined(one);
	c.receive(frame(3, 7, 0, 8, 2, 2, 10, 6, 2, 1, 2));
	for (const [why, ...bytes] of [
		[/kind: 0/, 0], [/kind: 16/, 16], [/kind: 1 /, 1], [/kind/], [/tick: 1 bytes expected/, 4],
		[/tick: .*not the shortest/, 4, 0x8a, 0, 3, 0, 8, 0, 0, 0],
		[/tick: more than 64 bits/, 4, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2, 1],
		[/tick: 18446744073709552000/, 4, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1],
		[/tick: 0 /, 3, 0, 0, 8, 0],
		[/age: 0 /, 4, 10, 0, 0, 8, 0, 0, 0], [/age: 10 /, 4, 10, 10, 0, 8, 0, 0, 0],
		[/flags: 128 /, 4, 10, 3, 128, 8, 0, 0, 0], [/origin: 1 bytes/, 4, 10, 3, 64, 8, 0, 0],
		[/origin: 4503599627370497 /, 4, 10, 3, 64, 8, 0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0], [/origin: -4503599627370497 /, 4, 10, 3, 64, 8, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0], [/flags: a Keyframe/, 3, 10, 1, 8, 0], [/flags: a Keyframe/, 3, 10, 2, 8, 0],
		[/leaves: 3 /, 4, 10, 3, 0, 8, 3, 0, 0, 0, 0], [/leaves: 4 /, 4, 10, 3, 0, 8, 1, 4, 0, 0], [/leaves: 0 is not 0 to -1/, 4, 10, 3, 0, 8, 2, 2, 0, 0],
		[/enters: 2 need/, 4, 10, 3, 0, 8, 0, 2, 0, 0], [/enters: 16777217 /, 4, 10, 3, 0, 8, 0, 0x81, 0x80, 0x80, 8],
		[/slot: 16777216 /, 3, 10, 0, 8, 1, 0x80, 0x80, 0x80, 8, 0, 0], [/slot: 0 is not 0 to -1/, 3, 10, 0, 8, 2, 255, 255, 255, 7, 0, 0, 0, 0, 0],
		[/id: slot 2 has another/, 4, 10, 3, 0, 8, 0, 1, 2, 12, 0, 0], [/lanes of enters: 1 bytes/, 4, 10, 3, 0, 8, 0, 1, 2, 10],
		[/included: an unused bit/, 4, 10, 3, 2, 8, 0, 0, 4, 0], [/included: 1 bytes/, 4, 10, 3, 2, 8, 0, 0],
		[/mode: 3 /, 4, 10, 3, 0, 8, 0, 0, 3, 0], [/mode: 8 /, 4, 10, 3, 0, 8, 0, 0, 8], [/mode: 7 /, 4, 10, 3, 0, 8, 0, 0, 7],
		[/width: 9 /, 4, 10, 3, 0, 8, 0, 0, 1, 9, 0, 0, 0], [/records: an unused bit/, 4, 10, 3, 0, 8, 0, 0, 1, 2, 0x10],
		[/bitmap: an unused bit/, 4, 10, 3, 0, 8, 0, 0, 2, 2, 4, 0], [/records: 1 bytes/, 4, 10, 3, 0, 8, 0, 0, 2, 2, 1],
		[/wide: 3 /, 4, 10, 3, 0, 8, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0], [/wide: 2 /, 4, 10, 3, 0, 8, 0, 0, 4, 1, 2, 0], [/lanes of wide: 2 /, 4, 10, 3, 0, 8, 0, 0, 4, 1, 0, 2],
		[/wide: place 1 has a record/, 4, 10, 3, 0, 8, 0, 0, 6, 1, 2, 0, 1, 1, 0], [/wide: place 0 has a record/, 4, 10, 3, 0, 8, 0, 0, 5, 1, 0, 1, 0, 0],
		[/difference: more than 32 bits/, 4, 10, 3, 0, 8, 0, 0, 4, 1, 0, 1, 0x80, 0x80, 0x80, 0x80, 0x10],
		[/jumped: 2 /, 4, 10, 3, 8, 8, 0, 0, 0, 1, 2], [/jumped: 3 /, 4, 10, 3, 8, 8, 0, 0, 0, 3, 0, 0, 0], [/own: 2 /, 4, 10, 3, 16, 8, 0, 0, 0, 1, 2],
		[/check: 4 bytes/, 4, 10, 3, 32, 8, 0, 0, 0, 1, 2, 3], [/frame: 1 bytes left over/, 4, 10, 3, 0, 8, 0, 0, 0, 0],
	]) refuses(c, frame(...bytes), why);
});

test('a Welcome that is refused', () => {
	const c = new Client(), group = (flags, ...fields) => ({ flags, fields });
	assert.equal(c.receive(keyframe(3, [], [])), false, 'a frame that has overtaken the Welcome');
	assert.equal(c.state, null);
	for (const [why, groups, tags] of [
		[/flags of a group: 3 /, [group(3, quantised('x'))]], [/flags of a group: 4/, [group(4, quantised('x'))]],
		[/a public group after/, [group(1, quantised('x')), group(0, quantised('y'))]],
		[/lanes of a group: 0 /, [group(0)]], [/components: 9 /, [group(0, exact('x', 1, 9))]], [/lanes of a group: 9 /, [group(0, exact('x', 1, 8), exact('y', 1))]], [/lanes of a group: 10 /, [group(0, exact('x', 4, 5))]],
		[/bits: 1 /, [group(0, quantised('x', 1))]], [/bits: 26 /, [group(0, quantised('x', 26))]], [/bits: 17 /, [group(0, angle('x', 17))]],
		[/bits: 1 /, [group(0, { ...angle('rotation', 1), codec: 5, components: 4 })]], [/bits: 17 /, [group(0, { ...angle('rotation', 17), codec: 4, components: 4 })]],
		[/components: 1 is not 4/, [group(0, { ...angle('rotation'), codec: 5 })]], [/"x" is not "rotation"/, [group(0, { ...angle('x'), codec: 4, components: 4 })]], [/name: ""/, [group(0, angle(''))]],
		[/kind: 3 is not 9/, [group(0, { ...angle('x'), kind: 3 })]], [/kind: 9 is not 7/, [group(0, { ...exact('', 9), codec: 6, bits: 32 })]],
		[/step: 0 /, [group(0, quantised('x', 8, 0))]], [/step: NaN/, [group(0, quantised('x', 8, NaN))]], [/step: Infinity/, [group(0, quantised('x', 8, Infinity))]],
		[/step: -1/, [group(0, quantised('x', 8, -1))]], [/step: 1 is not 0/, [group(0, { ...angle('x'), step: 1 })]],
		[/codec: 0 /, [group(0, { ...angle('x'), codec: 0 })]], [/codec: 7 /, [group(0, { ...angle('x'), codec: 7 })]],
		[/bits: 8 is not 16 to 16/, [group(0, { ...exact('x', 2), bits: 8 })]], [/bits: 64 is not 32/, [group(0, { ...exact('x', 4), bits: 64 })]], [/components: 0 /, [group(0, exact('x', 2, 0))]], [/kind: 0 /, [group(0, exact('x', 0))]], [/kind: 11 /, [group(0, exact('x', 11))]], [/tags: 33 /, [], Array(33).fill('t')],
	]) refuses(c, welcome(schemaBytes(groups, tags)), why);
	const good = welcome(one);
	refuses(c, frame(...good, 0), /1 bytes left over/);
	refuses(c, frame(...good.subarray(0, -1)), /schema: .* more bytes/);
	for (const [at, value, why] of [[5, 2, /flags: 2/], [6, 255, /token/], [13, 0, /rate: 0/], [12, 0, /rate: 0/], [14, 0, /every: 0/], [30, 255, /scenario: not UTF-8/]]) {
		const bad = good.slice();
		bad[at] = value;
		refuses(c, bad, why);
	}
	refuses(c, welcome([]), /groups: 1 bytes/);
	refuses(c, welcome([0x80, 0x80, 0x80, 8]), /groups: 16777216 is not 0 to 256/);
});

/** Two predicted lanes, another group, owner lanes. */
const fields = [
	{ flags: 2, fields: [quantised('position.y', 17), angle('turn')] }, { flags: 0, fields: [exact('health', 6), { name: '', codec: 6, kind: 7, components: 1, bits: 32, step: 0 }] },
	{ flags: 2, fields: [exact('n', 3)] }, { flags: 2, fields: [quantised('spin', 3), { name: 'rotation', codec: 5, kind: 9, components: 4, bits: 9, step: 0 }] }, { flags: 1, fields: [exact('ammo', 1), exact('gold', 8)] }, { flags: 1, fields: [quantised('heat', 9)] },
];
const publics = [{ predicted: true, bits: [17, 10] }, { bits: [16, 32] }, { predicted: true, bits: [32] }, { predicted: true, bits: [3, 2, 9, 9, 9], quat: 1 }], owners = [{ bits: [8, 32, 32] }, { bits: [9] }];
/** What a shift of the origin subtracts from each public lane. */
const shifts = (from, to) => [[0, BigInt(to[1] - from[1]) * 2048n]]; // lane 0 is position.y in steps of 0.5
const crc32c = (bytes) => {
	let crc = -1;
	for (const b of bytes) {
		crc ^= b;
		for (let k = 0; k < 8; k++) crc = crc >>> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc >>> 0;
};
const checkOf = (s) => {
	const b = new Bytes();
	for (const e of s.entities) {
		b.u32(e.slot).u64(e.id);
		for (const q of e.q) b.u32(q);
	}
	return crc32c(b.list);
};
assert.equal(crc32c(new TextEncoder().encode('123456789')), 0xe3069283);

/** A later state of the model: entities move, come and go. */
function later(base, rng) {
	const bits = publics.flatMap((g) => g.bits), ownBits = owners.flatMap((g) => g.bits);
	const cut = (k, v) => Number(BigInt.asIntN(bits[k], BigInt(v)));
	const fresh = (slot) => ({ slot, id: rng.big(), q: bits.map((b) => rng.signed(b)), own: rng.chance(4) ? ownBits.map((b) => rng.signed(b)) : null, anew: true });
	const entities = [], changes = rng.below(8), quiet = rng.chance(3);
	for (let slot = 0, old = new Map(base.entities.map((e) => [e.slot, e])); slot < 60; slot++) {
		const e = old.get(slot);
		if (!e ? rng.below(30) < changes : rng.below(50) < changes) {
			if (!e || rng.chance(2)) entities.push(rng.chance(3) && e ? { ...fresh(slot), id: e.id } : fresh(slot));
		} else if (e) {
			const move = (q, k) => cut(k, quiet || rng.chance(3) ? q : rng.chance(9) ? rng.signed(32) : q + (e.v?.[k] ?? 0) + rng.signed(1 + rng.below(5)));
			const own = rng.chance(40) ? (e.own ? null : ownBits.map((b) => rng.signed(b))) : e.own?.map((v, k) => (rng.chance(2) ? v : rng.signed(ownBits[k])));
			entities.push({ ...e, q: e.q.map(move), own: own ?? null, anew: false });
		}
	}
	const s = { tick: base.tick + 1 + rng.below(300), at: rng.below(1e9), origin: base.origin.slice(), entities };
	if (rng.chance(4)) { // the origin moves, and what stands still with it
		s.origin[rng.below(3)] += rng.chance(9) ? rng.signed(32) * 2 ** 18 : rng.below(9) - 4;
		for (const e of entities) for (const [k, by] of shifts(base.origin, s.origin)) if (!e.anew) e.q[k] = cut(k, BigInt(e.q[k]) - by);
	}
	return s;
}

/** Asserts that a client has the state of the model. */
function agrees(c, s) {
	const at = (e) => s.entities.indexOf(e), columns = (rows, n) => Array.from({ length: n }, (_, k) => rows.map((r) => r[k]));
	const { welcome: _, offset, roundTrip, ...got } = seen(c);
	assert.deepEqual(got, {
		tick: s.tick, at: s.at, origin: s.origin.map((v) => v * 1024), partial: s.partial, applied: s.applied && { sequence: s.applied[0], waited: s.applied[1] }, slots: s.entities.map((e) => e.slot), ids: s.entities.map((e) => e.id),
		lanes: [...columns(s.entities.map((e) => e.q), 10), ...columns(s.own.map((e) => e.own), 4)], own: s.own.map(at), jumped: s.jumped, entered: s.entered, left: s.left,
	});
	for (const [i, e] of s.entities.entries()) for (const k of [0, 1, 4, 5, 6, 7, 8, 9]) assert.equal(c.state.added[k][i], e.v[k]);
}

test('random worlds over an ordered connection', () => {
	for (let seed = 1; seed <= (short ? 4 : 100); seed++) {
		const rng = random(seed), c = joined(schemaBytes(fields, ['hot']));
		for (let s = empty(), step = 0; step < 30; step++) {
			const next = later(s, rng), check = rng.chance(2) ? checkOf : 0;
			const bytes = encode(s, next, publics, owners, rng, { keyframe: s.tick === 0 || rng.chance(15), check, shifts });
			try {
				assert.equal(c.receive(bytes), true);
				agrees(c, next);
			} catch (err) {
				err.message = `seed ${seed}, step ${step}: ${err.message}`;
				throw err;
			}
			assert.deepEqual(c.sent, []);
			s = next;
		}
	}
});

test('random worlds over a connection that loses, repeats and reorders frames', () => {
	for (let seed = 1; seed <= (short ? 2 : 50); seed++) {
		const rng = random(seed), c = joined(schemaBytes(fields), { ordered: false }), sent = [empty()], flying = [], arrived = new Set();
		for (let step = 0; step < 80; step++) {
			const acked = sent.filter((s) => arrived.has(s.tick)).slice(-8), base = acked.length ? acked[rng.below(acked.length)] : sent[0];
			const next = later(base, rng);
			next.tick = sent.at(-1).tick + 1;
			const bytes = encode(base, next, publics, owners, rng, { shifts });
			sent.push(next);
			for (let n = rng.below(3); n > 0; n--) flying.push({ bytes, next, base });
			while (flying.length && rng.chance(2)) {
				const [{ bytes: got, next: s, base }] = flying.splice(rng.below(flying.length), 1), newest = c.state?.tick ?? 0;
				if (base.tick && ![...arrived].slice(-32).includes(base.tick)) continue; // delayed for too long
				const late = s.tick <= newest;
				assert.equal(c.receive(got), !late, `seed ${seed}, step ${step}`);
				if (late) {
					assert.equal(c.state.tick, newest);
					continue;
				}
				assert.equal(hex(c.sent.pop()), hex(new Bytes().u8(17).uv(s.tick).frame()));
				arrived.add(s.tick);
				agrees(c, s);
			}
		}
	}
});

test('states that are kept', () => {
	for (const [ordered, kept] of [[true, 1], [false, 32]]) {
		const c = joined(one, { ordered });
		for (let tick = 1; tick <= 40; tick++) c.receive(keyframe(tick, [1], [tick]));
		c.sent.length = 0;
		const update = (tick, base) => c.receive(new Bytes().u8(4).uv(tick).uv(tick - base).u8(0).uv(8).uv(0).uv(0).u8(0).frame());
		for (let n = 0; n < 40; n++) assert.equal(update(41, 40 - kept), false);
		assert.deepEqual(c.sent.map(hex), ['1428', '1428', '1428'], 'a Resync now and then');
		assert.equal(update(42, 40), true, 'a frame whose base is there');
		assert.equal(c.receive(keyframe(43, [1], [5])), true);
		if (!ordered) {
			assert.equal(update(44, 40 - kept + 3), true); // 42 and the Keyframe replaced two
			assert.deepEqual(seen(c).lanes, [[40 - kept + 3]]);
		}
		assert.equal(update(45, 43), true);
		assert.equal(update(45, 43), false, 'a frame again');
		assert.equal(update(42, 40), false, 'an older frame');
		const at = (tick, us) => c.receive(new Bytes().u8(3).uv(tick).u8(0).uv(us).uv(0).frame());
		c.sent.length = 0;
		assert.equal(at(20, 101), ordered, 'a Keyframe, late or of a simulation that has gone back');
		assert.equal(c.state.tick, ordered ? 20 : 45);
		assert.equal(update(46, 45), !ordered, 'the states before are forgotten');
		c.receive(welcome(one, { resumed: true }));
		assert.equal(c.state.tick, ordered ? 20 : 46, 'the same Welcome again');
		c.hello();
		assert.equal(c.receive(keyframe(50, [], [])), false, 'before the Welcome');
		c.receive(welcome(one, { resumed: true, tick: 60 }));
		assert.equal(c.state.tick, ordered ? 20 : 46);
		c.hello();
		c.receive(welcome(one, { resumed: true, tick: 19, token: [9] }));
		assert.equal(c.state, null, 'the simulation has gone back');
		assert.equal(c.receive(keyframe(20, [1], [5])), true);
	}
});

test('a check that differs', () => {
	const c = joined(one), check = (s) => new Bytes().u32(s).list, good = crc32c(new Bytes().u32(1).u64(0n).u32(7).list);
	assert.ok(c.receive(frame(...keyframe(5, [1], [6]))));
	const before = seen(c);
	assert.equal(c.receive(frame(4, 6, 1, 32, 8, 0, 0, 1, 2, 1, ...check(good ^ 1))), false);
	assert.deepEqual(seen(c), before);
	assert.deepEqual(c.sent.map(hex), ['1400']);
	assert.equal(c.receive(frame(4, 6, 1, 32, 8, 0, 0, 1, 2, 1, ...check(good))), false, 'only a Keyframe helps');
	assert.equal(c.receive(frame(...keyframe(6, [1], [6]))), true);
	assert.equal(c.receive(frame(4, 7, 1, 32, 8, 0, 0, 1, 2, 1, ...check(good))), true);
	assert.equal(c.sent.length, 1);
});

test('every truncation and every flipped bit of the vectors', () => {
	let refused = 0, taken = 0;
	for (const sequence of vectors.Sequences) {
		const frames = sequence.Frames.map((f) => unhex(f.Frame)), rng = random(1);
		const bases = (i) => (i < 0 ? [] : [...bases(sequence.Frames[i].Base), frames[i]]);
		/** A client that has the base of a frame, and nothing before the Welcome. */
		const ready = (i) => {
			if (i < 0) return new Client();
			const c = joined(unhex(sequence.Welcome), { ordered: false });
			for (const f of bases(sequence.Frames[i].Base)) c.receive(f);
			return c;
		};
		const attempt = (c, bytes) => {
			const before = c.state?.tick;
			try {
				return c.receive(bytes) ? ++taken : 0;
			} catch (err) {
				assert.ok(err instanceof FrameError, `${hex(bytes)}: ${err.stack}`);
				assert.equal(c.state?.tick, before);
				return refused++ && 0;
			}
		};
		[unhex(sequence.Welcome), ...frames].forEach((bytes, n) => {
			let c = ready(n - 1);
			const tick = c.state?.tick;
			for (let length = 0; length < bytes.length; length++) {
				if (short && !rng.chance(20)) continue;
				assert.equal(attempt(c, bytes.subarray(0, length)), 0, `${length} bytes of ${hex(bytes)}`);
			}
			for (let bit = 0; bit < 8 * bytes.length; bit++) {
				if (short && !rng.chance(80)) continue;
				const flipped = bytes.slice();
				flipped[bit >> 3] ^= 1 << (bit & 7);
				attempt(c, flipped);
				if (c.state?.tick !== tick || n === 0 && c.welcome || c.sent?.some((f) => f[0] === 20)) c = ready(n - 1);
			}
			assert.equal(attempt(c, bytes), taken);
		});
	}
	assert.ok(refused > (short ? 400 : 1000) && taken > 50, `${refused} refused, ${taken} taken`);
});

test('hostile lengths take no memory', () => {
	const c = joined(schemaBytes(fields)), huge = [255, 255, 255, 7], before = process.memoryUsage();
	c.receive(frame(3, 6, 0, 8, 0));
	for (const bytes of [
		[3, 7, 0, 8, ...huge], [4, 7, 1, 0, 8, ...huge], [3, 7, 8, 8, 0, ...huge], [3, 7, 16, 8, 0, ...huge], [2, 0, 0, 0, 0, 0, ...huge], [8, 1, ...huge],
		[6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...huge],
	]) for (let n = 0; n < 1000; n++) assert.throws(() => c.receive(frame(...bytes)), FrameError);
	assert.ok(process.memoryUsage().arrayBuffers - before.arrayBuffers < 4 << 20);
});

test('values', () => {
	const c = joined(schemaBytes([{ flags: 0, fields: [{ ...angle('rotation'), codec: 5, bits: 9, components: 4 }, exact('id', 8, 1), exact('f', 9)] },
		{ flags: 0, fields: [{ name: '', codec: 6, kind: 7, components: 1, bits: 32, step: 0 }, angle('r')] }], ['a', 'b']));
	const b = new Bytes().u8(3, 7, 0, 8, 2).places([1, 4], (_, b) => b.sv(0));
	const q = [[-2, 2], [255, 9], [0, 9], [-5, 9], [-1, 32], [0, 32], [0x40490fdb, 32], [-(2 ** 31), 32], [-512, 10]];
	b.bits([...q, ...q.map(([v, n], k) => [k === 8 ? 256 : k === 7 ? 2 : 0, n])]);
	c.receive(b.frame());
	const s = c.state, unit = 1 / Math.SQRT2, small = -5 / 255 / Math.SQRT2;
	assert.deepEqual(s.values('rotation'), Float32Array.of(unit, 0, Math.sqrt(1 - (unit * unit + small * small)), small, 1, 0, 0, 0));
	assert.deepEqual(s.values('id'), BigUint64Array.of(0xffffffffn, 0n));
	assert.deepEqual(s.values('f'), Float32Array.of(3.1415927410125732, 0));
	assert.deepEqual(s.values(''), Uint32Array.of(2 ** 31, 2));
	assert.deepEqual(s.values('r'), Float32Array.of(-Math.PI, Math.PI / 2));
	assert.deepEqual([s.has('a', 0), s.has('b', 0), s.has('a', 1), s.has('b', 1)], [false, false, false, true]);
	const own = new Float32Array(3);
	assert.equal(s.values('r', own.subarray(1)).buffer, own.buffer);
	assert.deepEqual(own, Float32Array.of(0, -Math.PI, Math.PI / 2));
	assert.throws(() => s.values('r', new Float32Array(1)), RangeError);
	assert.throws(() => s.values('r', new Float64Array(2)), RangeError);
	assert.throws(() => s.values('s'), RangeError);
	assert.throws(() => s.has('c', 0), RangeError);
});

test('frames for a client that simulates', () => {
	const got = [], c = joined(one, { mode: 1, simVersion: 2, onSnapshot: (s) => got.push(s), onInputs: (i) => got.push(i) });
	c.receive(frame(5, 9, 1, 0, 0, 0, 0, 0, 0, 128, 7, 8));
	assert.deepEqual(got.pop(), { tick: 9, hash: 2n ** 63n + 1n, state: frame(7, 8) });
	const inputs = [6, 9, 2, 0, 0, 0, 0, 0, 0, 0, 100], stamped = [12, 7, 3, 5, 99, 128, 128, 128, 128, 8, 2, 1, 2]; // TestInputsFrameBytes has the same
	c.receive(frame(...inputs, 3, ...stamped, 1, 1, 4, 0, 6, 128, 1, 5, 1, 0, 1, 9));
	assert.deepEqual(got.pop(), {
		tick: 9, hash: 2n, at: 100, inputs: [
			{ source: 7, sequence: 3, tick: 9, at: 99, fraction: 2 ** 31, kind: 5, data: frame(1, 2) },
			{ source: 1, sequence: 4, tick: 0, at: 0, fraction: 0, kind: 5, data: frame() },
			{ source: 128, sequence: 5, tick: 8, at: 0, fraction: 0, kind: 0, data: frame(9) },
		],
	});
	c.hello();
	assert.equal(hex(c.sent.pop()), '65767270'.replace(/^/, '01') + '03' + '01' + '02000000' + '0000000000000000' + '00' + '03010203' + '0a');
	c.receive(welcome(one, { resumed: true }));
	refuses(c, keyframe(11, [], []), /other mode/);
	refuses(c, frame(...inputs, 0, 0), /left over/);
	for (const bad of [[3, 1, 4, 0], [16, 1, 4, 0], [2, 1, 4, 0, 0], [2, 1, 4, 17, 0], [4, 1, 4, 0, 0], [8, 1, 4, 0, 0, 0], [0, 128, 128, 128, 128, 16, 4, 0]]) refuses(c, frame(...inputs, 1, ...bad), /input|source/);
});

test('inputs until they are applied', () => {
	const c = joined(one, { ordered: false });
	assert.equal(c.input(5), 1);
	assert.equal(hex(c.sent.pop()), '100101000500');
	assert.equal(c.input(0xffffffff, frame(1, 2), 300), 2);
	assert.equal(hex(c.sent.pop()), '1002' + '01000500' + '02ac02ffffffff0f020102');
	c.receive(frame(3, 7, 4, 8, 1, 9, 0)); // the first was applied
	c.sent.length = 0;
	c.input(6);
	assert.equal(hex(c.sent.pop()), '1002' + '02ac02ffffffff0f020102' + '03000600');
	c.hello();
	c.receive(welcome(one, { resumed: true, received: 2 }));
	assert.equal(hex(c.sent.pop()), '1002' + '02ac02ffffffff0f020102' + '03000600');
	c.hello();
	c.sent.length = 0;
	c.receive(welcome(one, { token: [9] }));
	assert.equal(c.sent.length, 0);
	assert.equal(c.input(7), 1);
	for (let n = 0; n < 70; n++) c.input(7);
	assert.equal(c.sent.pop()[1], 64);
	assert.throws(() => new Client().input(1), /before the Welcome/);
	assert.throws(() => c.input(-1), RangeError);
	const ordered = joined(one);
	ordered.input(1);
	ordered.input(2);
	assert.deepEqual(ordered.sent.map(hex), ['100101000100', '100102000200']);
});

test('the offset of the clocks is that of the fastest ping', () => {
	let now = 1000;
	const c = joined(one, { now: () => now }), ms = (b, v) => b.u64(BigInt(v * 1e6));
	assert.ok(Number.isNaN(c.serverTime()));
	for (const [sent, there, back, arrived] of [[1000, 5100, 5101, 1200], [2000, 6010, 6011, 2021], [3000, 7500, 7501, 3600]]) {
		now = sent;
		c.ping();
		assert.deepEqual(c.sent.pop(), ms(new Bytes().u8(19), sent).frame());
		now = arrived;
		c.receive(ms(ms(ms(new Bytes().u8(7), sent), there), back).frame());
	}
	assert.equal(c.roundTrip, 20);
	assert.equal(c.offset, 4000);
	assert.equal(c.serverTime(), 7600);
	refuses(c, frame(7, 0), /time: 8 bytes/);
	refuses(c, frame(8, 0, 0), /code: 0 /);
	refuses(c, frame(8, 1, 0x81, 2), /text: 257 /);
});

const cases = JSON.parse(readFileSync(new URL('../testdata/client_cases.json', import.meta.url), 'utf8'));

/** What a frame of a client says, as the cases have it. */
function said(f) {
	const r = new Reader().load(f), kind = r.u8('kind');
	switch (kind) {
	case 1: {
		r.skip('fixed', 4 + 1 + 1 + 4 + 8);
		r.blob('credentials');
		return `hello token=${Buffer.from(r.blob('token'))} held=${r.uv('held')}`;
	}
	case 16: {
		const list = Array.from({ length: r.uv('inputs') }, () => [r.uv('sequence'), r.uv('tick'), r.uv('kind'), r.blob('data')][0]);
		list.forEach((n, i) => assert.equal(n, list[0] + i));
		return list.length > 1 ? `input ${list[0]}..${list.at(-1)}` : `input ${list[0]}`;
	}
	case 17: return `ack ${r.uv('tick')}`;
	case 19: return `ping ${Number(r.u64('t0')) / 1e6}`;
	case 20: return `resync ${r.uv('tick')}`;
	}
	return `kind ${kind}`;
}

// TestClientCases has the client in Go do the same.
for (const { Name: name, Ordered: ordered, Reliable: reliable, Steps: steps } of cases)
	test(`cases of both clients: ${name}`, () => {
		let now = 0, full = false, sent = [];
		const c = new Client({ ordered, reliable, now: () => now, send: (f) => !full && !!sent.push(said(f)) }), ms = (b, v) => b.u64(BigInt(v) * 1_000_000n);
		const state = (b, s) => {
			b.u8(s.Applied === undefined ? 0 : 4).uv(8);
			if (s.Applied !== undefined) b.uv(s.Applied).uv(0);
			return b;
		};
		const acts = {
			connect: () => c.hello() || assert.fail('refused'),
			welcome: (s) => c.receive(welcome(schemaBytes([]), { session: s.Session ?? 7, resumed: s.Resumed ?? false, token: [...Buffer.from(s.Token)], received: s.Received ?? 0, tick: s.Tick ?? 5 })),
			keyframe: (s) => c.receive(state(new Bytes().u8(3).uv(s.Tick), s).uv(0).frame()),
			update: (s) => c.receive(state(new Bytes().u8(4).uv(s.Tick).uv(s.Tick - s.Base), s).uv(0).uv(0).frame()),
			input: (s) => { for (let n = s.Times ?? 1; n > 0; n--) c.input(1, new Uint8Array(s.Bytes ?? 0)); },
			full: (s) => (full = s.Full ?? false),
			now: (s) => (now = s.Ms),
			ping: () => c.ping(),
			pong: (s) => c.receive(ms(ms(ms(new Bytes().u8(7), s.Sent), s.Arrived), s.Left).frame()),
			offset: (s) => assert.deepEqual(Number.isNaN(c.offset) ? null : [c.offset, c.roundTrip], s.Offset),
			error: (s) => c.receive(new Bytes().u8(8, s.Code, 0).frame()),
		};
		steps.forEach((s, i) => {
			const where = `step ${i}, ${JSON.stringify(s)}`;
			sent = [];
			if (s.Error) assert.throws(() => acts[s.Do](s), undefined, where);
			else acts[s.Do](s);
			if (s.Sends) assert.deepEqual(sent, s.Sends, where);
			if (s.Waiting !== undefined) assert.equal(c.waiting, s.Waiting, where);
			if (s.State !== undefined) assert.equal(c.state?.tick ?? 0, s.State, where);
		});
	});

// TestOffsetAfterJumps has the client in Go do the same.
test('the error of the offset is at most half the round trip, and again after two pings if a clock has jumped', () => {
	for (let seed = 1; seed <= (short ? 30 : 300); seed++) {
		const rng = random(seed), clock = new Clock(), part = () => rng.below(1e6) / 1e6, least = 100 * part(), jitter = [0, 1, 200][rng.below(3)];
		let offset = rng.below(1e6), now = 0;
		for (let step = 0, since = 2, jumps = 0; step < 80; step++) {
			const jump = rng.chance(12) ? 1e4 ** part() * (rng.chance(2) ? 1 : -1) : 0, within = rng.chance(2);
			if (jump) since = 0, jumps++;
			if (!within) offset += jump;
			const [out, back, inside] = [least / 2 + jitter * part(), least / 2 + jitter * part(), part()], arrived = now + offset + out;
			if (within) offset += jump;
			clock.answer(now, arrived, arrived + inside, now + out + inside + back);
			if (!within || !jump) since++;
			const error = Math.abs(clock.offset - offset);
			assert.ok(since < 2 || error <= clock.roundTrip / 2 + 1e-6, `seed ${seed}, step ${step}: the offset is wrong by ${error} ms, and the round trip ${clock.roundTrip}`);
			assert.ok(jitter || jumps || clock.roundTrip <= least + 1e-6);
			now += 1000;
		}
	}
});

/** A WebSocket without a network: the test is the server. */
class Socket {
	static open = [];
	sent = [];
	readyState = 0;
	constructor(url) {
		this.url = url;
		Socket.open.push(this);
	}
	send(f) { this.sent.push(hex(f)); }
	close() {
		if (this.readyState === 3) return;
		this.readyState = 3;
		this.onclose?.({});
	}
	accept(...frames) {
		this.readyState = 1;
		this.onopen({});
		for (const f of frames) this.deliver(f);
	}
	deliver(f) { this.onmessage({ data: f.slice().buffer }); }
}

/** Timers that run when the test says so. */
function fakeTimers(t) {
	const due = new Map(), real = { setTimeout, setInterval, clearTimeout, clearInterval };
	let now = 0, last = 0;
	const set = (f, ms, every = 0) => due.set(++last, { f, at: now + ms, every }) && last, clear = (id) => due.delete(id);
	Object.assign(globalThis, { setTimeout: set, setInterval: (f, ms) => set(f, ms, ms), clearTimeout: clear, clearInterval: clear });
	t.after(() => Object.assign(globalThis, real));
	return (ms) => {
		for (const end = now + ms; now < end; now++)
			for (const [id, e] of due) {
				if (e.at > now + 1) continue;
				if (e.every) e.at += e.every;
				else due.delete(id);
				e.f();
			}
	};
}

test('connect resumes the session, waits longer each time, and stops after a final Error', (t) => {
	const pass = fakeTimers(t);
	const faults = [], c = new Client({ onFault: (f) => faults.push(f) }), end = c.connect('ws://host/world', { WebSocket: Socket, retry: 100, longest: 400, every: 50 });
	const socket = () => Socket.open.at(-1), begin = '0165767270' + '03' + '00' + '00000000' + '0000000000000000' + '00';
	socket().accept(welcome(one), keyframe(200, [4], [5]));
	assert.equal(socket().sent.length, 2);
	assert.equal(socket().sent[0], begin + '00' + '00');
	assert.match(socket().sent[1], /^13/);
	pass(50);
	assert.equal(socket().sent.length, 3);
	assert.match(socket().sent[2], /^13/);
	c.input(9);
	socket().close();
	for (const longest of [100, 200, 400, 400]) {
		const n = Socket.open.length;
		pass(longest / 2 - 1);
		assert.equal(Socket.open.length, n);
		pass(longest / 2 + 1);
		assert.equal(Socket.open.length, n + 1);
		if (longest < 400 || n < 4) socket().close();
	}
	c.input(10); // not connected: it is sent after the Welcome
	socket().accept(welcome(one, { resumed: true, received: 1, token: [9], tick: 300 }));
	assert.deepEqual(socket().sent, [begin + '03010203' + 'c801', '10010200' + '0a00', socket().sent[2]]);
	assert.equal(c.state.tick, 200);

	const bad = socket();
	bad.deliver(frame(4, 0xc9, 1, 1, 128)); // refused: the session goes on with a Keyframe
	assert.match(faults.pop().message, /flags: 128/);
	assert.match(bad.sent.at(-1), /^0801/);
	pass(100);
	socket().accept();
	assert.deepEqual(socket().sent, [begin + '0109' + '00']);
	socket().deliver(frame(8, 3, 0));
	const n = Socket.open.length;
	pass(10_000);
	assert.equal(Socket.open.length, n);
	assert.equal(socket().readyState, 3);
	end();
});

test('connect tries several servers in turn, and a session that only watches has no inputs', (t) => {
	const pass = fakeTimers(t);
	const c = new Client(), end = c.connect(['ws://a', 'ws://b'], { WebSocket: Socket, retry: 100 });
	const socket = () => Socket.open.at(-1);
	assert.equal(socket().url, 'ws://a');
	socket().accept(welcome(one, { session: 0xefffffff }), keyframe(200, [4], [5]));
	assert.equal(c.welcome.spectates, false);
	for (const url of ['ws://b', 'ws://a', 'ws://b']) {
		socket().close();
		pass(1000);
		assert.equal(socket().url, url);
	}
	socket().accept(welcome(one, { session: 0xf0000000, token: [9], tick: 150 }));
	assert.equal(c.welcome.spectates, true);
	assert.equal(c.state, null);
	assert.throws(() => c.input(1), /only watches/);
	end();
});

test('connect leaves a server that does not answer, and one that cannot be reached, and tries again', (t) => {
	const pass = fakeTimers(t);
	let now = 0;
	const c = new Client({ now: () => now }), end = c.connect('ws://host', { WebSocket: Socket, retry: 100, every: 1000, idle: 5000 });
	const socket = () => Socket.open.at(-1), seconds = (n) => {
		for (; n > 0; n--) {
			now += 1000;
			pass(1000);
		}
	};
	const lasts = (first, n) => {
		seconds(n - 1);
		assert.equal(socket(), first);
		seconds(2);
		assert.notEqual(socket(), first);
		assert.equal(first.readyState, 3);
	};
	lasts(socket(), 5); // the request has no answer
	let s = socket();
	s.accept();
	lasts(s, 5); // nor has the Hello
	s = socket();
	s.accept(welcome(one), keyframe(200, [4], [5]));
	for (let n = 0; n < 20; n++) {
		seconds(1);
		if (n % 4 === 3) s.deliver(keyframe(201 + n, [4], [5])); // anything is an answer
	}
	assert.equal(socket(), s);
	seconds(1);
	lasts(s, 5);
	now += 60_000; // timers were stopped for a minute, such as those of a page in the background: it pings, and waits for the answer
	s = socket();
	s.accept(welcome(one, { resumed: true, token: [8] }));
	s.deliver(keyframe(300, [4], [5]));
	now += 60_000;
	seconds(1);
	assert.equal(socket(), s);
	s.onerror(new Error('a network that fails')); // without a listener it would end the process
	s.close();
	seconds(1);
	assert.notEqual(socket(), s);
	end();
	const n = Socket.open.length;
	seconds(60);
	assert.equal(Socket.open.length, n);

	const faults = [], broken = class extends Socket {
		constructor(url) {
			if (url === 'no URL') throw new SyntaxError(url);
			super(url);
		}
	};
	const d = new Client({ onFault: (f) => faults.push(f.message) });
	assert.throws(() => d.connect('no URL', { WebSocket: broken }), SyntaxError);
	const stop = d.connect(['ws://a', 'no URL'], { WebSocket: broken, retry: 100 });
	socket().close();
	seconds(2);
	assert.deepEqual(faults, ['no URL']);
	assert.equal(socket().readyState, 0);
	assert.equal(socket().url, 'ws://a');
	stop();
});

test('a WebSocket that is full takes no inputs, and gets them later', (t) => {
	fakeTimers(t);
	const c = new Client(), end = c.connect('ws://host', { WebSocket: Socket }), s = Socket.open.at(-1);
	s.accept(welcome(one));
	s.sent.length = 0;
	s.bufferedAmount = 65_536;
	for (let n = 0; n < 3; n++) c.input(n + 1);
	assert.deepEqual(s.sent, []);
	s.bufferedAmount = 0;
	s.deliver(keyframe(200, [4], [5]));
	assert.deepEqual(s.sent, ['1003' + '01000100' + '02000200' + '03000300']);
	end();
});
