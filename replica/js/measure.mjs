// The time of an Update in which 10,000 entities move in x, y and angle: `node replica/js/measure.mjs`.
// Figures are CPU time, because other programs may run: the median of rounds of 100 frames.

import assert from 'node:assert/strict';
import { Client } from './client.js';
import { empty, encode, random, schemaBytes, welcome } from './encoder.mjs';

const quantised = (name) => ({ name, codec: 2, kind: 9, components: 1, bits: 20, step: 1 / 64 });
const angle = { name: 'rotation', codec: 3, kind: 9, components: 1, bits: 10, step: 0 };
const bits = [20, 20, 10];

/** µs of CPU time of a call: median and least of rounds. */
function time(calls, f, prepare = () => {}, rounds = 80) {
	const took = [];
	for (let round = 0; round < rounds; round++) {
		prepare();
		const start = process.cpuUsage();
		f();
		const { user, system } = process.cpuUsage(start);
		if (round >= rounds / 4) took.push((user + system) / calls);
	}
	took.sort((a, b) => a - b);
	return [took[took.length >> 1], took[0]].map((us) => us.toFixed(1)).join(', least ');
}

/** Of n entities `churn` leave with each Update, and as many enter. */
function measure(n, churn, predicted) {
	const rng = random(3), groups = [{ predicted, bits }], updates = 100;
	const schema = schemaBytes([{ flags: predicted ? 2 : 0, fields: [quantised('position.x'), quantised('position.y'), angle] }]);
	let s = { tick: 1, at: 0, entities: Array.from({ length: n }, (_, i) => ({ slot: 2 * i, id: BigInt(i), q: bits.map((b) => rng.signed(b)), own: null })) };
	const first = encode(empty(), s, groups, [], rng, { plain: true }), frames = [];
	const moves = (e) => e.q.map((v, l) => Number(BigInt.asIntN(bits[l], BigInt(v + rng.signed(l < 2 ? 8 : 6)))));
	for (let k = 0; k < updates; k++) {
		const entities = s.entities.map((e) => ({ ...e, q: moves(e), anew: false }));
		for (let j = 0; j < churn; j++) {
			const i = rng.below(n);
			entities[i] = { ...entities[i], slot: entities[i].slot ^ 1, id: rng.big(), anew: true };
		}
		const next = { tick: s.tick + 1, at: 0, entities };
		frames.push(encode(s, next, groups, [], rng, { plain: true, predicted }));
		s = next;
	}
	const c = new Client(), out = new Float32Array(n);
	const update = time(updates, () => {
		for (const f of frames) c.receive(f);
	}, () => {
		c.receive(welcome(schema));
		c.receive(first);
	});
	const keyframe = time(1, () => c.receive(first), () => c.receive(welcome(schema)));
	c.receive(welcome(schema));
	for (const f of [first, ...frames]) c.receive(f);
	assert.deepEqual([...c.state.lanes[1].subarray(0, n)], s.entities.map((e) => e.q[1]));
	const values = time(updates, () => {
		for (let k = 0; k < updates; k++) c.state.values('position.x', out);
	});
	const check = time(10, () => {
		for (let k = 0; k < 10; k++) c.state.check();
	});
	console.log(`${n} entities, ${churn} enter and leave${predicted ? ', predicted' : ''}: ${frames.at(-1).length} bytes, Update ${update} µs, Keyframe ${keyframe} µs, values ${values} µs, check ${check} µs`);
}

for (const churn of [0, 10, 1000]) for (const predicted of [false, true]) measure(10_000, churn, predicted);
