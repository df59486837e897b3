// An encoder of Welcome, Keyframe and Update for the tests and the measurement. It is written from docs/replica-wire.md, and chooses
// by chance among the forms that the page allows. Plain arrays and BigInts, without a line of the decoder.

/** Numbers from a seed: the same on every machine (xorshift of 32 bits). */
export function random(seed) {
	let x = seed * 2654435761 >>> 0 || 1;
	const next = () => {
		x ^= x << 13;
		x ^= x >>> 17;
		return (x ^= x << 5) >>> 0;
	};
	const below = (n) => next() % n;
	return { below, chance: (one) => below(one) === 0, signed: (bits) => next() << (32 - bits) >> (32 - bits), big: () => BigInt(next()) << 32n | BigInt(next()) };
}

export class Bytes {
	list = [];
	u8(...v) {
		for (const b of v) this.list.push(b & 255);
		return this;
	}
	u32(v) { return this.u8(v, v >>> 8, v >>> 16, v >>> 24); }
	u64(v) { return this.u32(Number(v & 0xffffffffn)).u32(Number(v >> 32n & 0xffffffffn)); }
	f32(v) { return this.u8(...new Uint8Array(Float32Array.of(v).buffer)); }
	uv(v) {
		for (v = BigInt(v); v > 127n; v >>= 7n) this.u8(Number(v & 127n) | 128);
		return this.u8(Number(v));
	}
	sv(v) { return this.uv(v >= 0 ? BigInt(v) * 2n : -BigInt(v) * 2n - 1n); }
	text(v) { return this.bytes(new TextEncoder().encode(v)); }
	bytes(v) { return this.uv(v.length).u8(...v); }
	places(list, each = () => {}) {
		list.forEach((v, i) => each(i, this.uv(v - (i ? list[i - 1] + 1 : 0))));
		return this;
	}
	/** Fields of [value, width], as a bit stream. */
	bits(fields) {
		let byte = 0, n = 0;
		for (const [v, width] of fields)
			for (let k = 0; k < width; k++) {
				byte |= (v >>> k & 1) << n++;
				if (n === 8) {
					this.u8(byte);
					byte = n = 0;
				}
			}
		return n ? this.u8(byte) : this;
	}
	frame() { return Uint8Array.from(this.list); }
}

/** Groups of {flags, fields: [{name, codec, kind, components, bits, step}]}. */
export function schemaBytes(groups, tags = []) {
	const b = new Bytes().uv(groups.length);
	for (const g of groups) {
		b.u8(g.flags).uv(g.fields.length);
		for (const f of g.fields) b.text(f.name).u8(f.codec, f.kind, f.components, f.bits).f32(f.step);
	}
	b.uv(tags.length);
	for (const t of tags) b.text(t);
	return b.list;
}

export function welcome(schema, { session = 7, resumed = false, token = [1, 2, 3], received = 0, tick = 5 } = {}) {
	return new Bytes().u8(2).u32(session).u8(resumed).bytes(token).uv(received).uv(tick).uv(60).uv(1).uv(3).u64(11n).u32(2).text('park').bytes(schema).frame();
}

const wrap = (bits, v) => Number(BigInt.asIntN(bits, BigInt(v)));
/** The least width in two's complement. */
const widthOf = (v) => (v === 0 ? 0 : 33 - Math.clz32(v < 0 ? ~v : v));

/** The state of a model: entities {slot, id, q: public lanes, v: what the last frame added, own: owner lanes or null}, in order of slots. */
export const empty = () => ({ tick: 0, partial: false, origin: [0, 0, 0], entities: [] });

/**
 * The frame from base to next, of which it computes v, and the lanes of entities that a Partial frame leaves out.
 * publics and owners are groups {predicted, bits}. Chosen by chance: refreshes, Partial, modes, widths, wide parts, Own.
 */
export function encode(base, next, publics, owners, rng, { keyframe = base.tick === 0, plain = false, predicted = false, check = 0, shifts = () => [] } = {}) {
	const some = (one) => !plain && rng.chance(one), b = new Bytes().u8(keyframe ? 3 : 4).uv(next.tick);
	if (!keyframe) b.uv(next.tick - base.tick);
	next.origin ??= [0, 0, 0];
	const from = keyframe ? [0, 0, 0] : base.origin, moved = next.origin.some((v, k) => v !== from[k]) || some(9), widths = publics.flatMap((g) => g.bits);
	const shifted = (e) => { // a copy in the new coordinates
		const q = e.q.slice();
		for (const [k, by] of shifts(from, next.origin)) q[k] = wrap(widths[k], BigInt(q[k]) - by);
		return { ...e, q };
	};
	const before = new Map((keyframe ? [] : base.entities).map((e, i) => [e.slot, { e: shifted(e), i }]));
	const same = (e) => before.get(e.slot)?.e.id === e.id && !e.anew;
	const remain = new Set(next.entities.filter(same).map((e) => e.slot)), gone = keyframe ? [] : base.entities.filter((e) => !remain.has(e.slot));
	const enters = next.entities.filter((e) => !same(e) || some(30)), entering = new Set(enters), stays = next.entities.filter((e) => !entering.has(e));
	const guess = !keyframe && (predicted || some(2)), partial = !keyframe && some(3), included = stays.filter(() => !partial || rng.chance(2)), moving = new Set(included);
	const owned = next.entities.filter((e) => e.own), wasOwned = (e) => same(e) && before.get(e.slot).e.own;
	const own = next.entities.some((e) => !!e.own !== !!wasOwned(e)) || some(5), jumped = next.entities.map((_, i) => i).filter(() => some(9));
	const applied = some(2) ? [rng.below(1000), rng.below(1000)] : null;
	b.u8(guess + 2 * partial + (applied ? 4 : 0) + (jumped.length ? 8 : 0) + 16 * own + (check ? 32 : 0) + 64 * moved).uv(next.at);
	if (applied) b.uv(applied[0]).uv(applied[1]);
	for (const v of next.origin) if (moved) b.sv(v);
	Object.assign(next, { partial, applied, jumped, own: owned, left: gone.map((e) => ({ slot: e.slot, id: e.id, dead: some(2) })) });
	if (!keyframe) {
		b.uv(gone.length);
		let last = -1;
		gone.forEach((e, i) => {
			const { i: place } = before.get(e.slot);
			b.uv(2 * (place - last - 1) + next.left[i].dead);
			last = place;
		});
	}
	const id = (e) => e.id;
	b.uv(enters.length).places(enters.map((e) => e.slot), (i) => b.sv(BigInt.asIntN(64, id(enters[i]) - (i ? id(enters[i - 1]) : 0n))));
	const bits = widths, ownBits = owners.flatMap((g) => g.bits);
	b.bits(enters.flatMap((e) => e.q.map((v, k) => [v, bits[k]])));
	next.entered = next.entities.flatMap((e, i) => (same(e) ? [] : [i]));
	for (const e of next.entities) {
		e.v = bits.map(() => 0);
		if (!entering.has(e) && !moving.has(e)) e.q = before.get(e.slot).e.q.slice();
	}
	if (partial) b.bits(stays.map((e) => [+included.includes(e), 1]));
	let lane = 0;
	for (const g of publics) {
		const from = lane;
		lane += g.bits.length;
		group(b, g.bits, included.map((e) => g.bits.map((n, k) => {
			const was = before.get(e.slot).e, q = was.q[from + k], added = wrap(n, e.q[from + k] - q), turn = g.quat === undefined ? -1 : k - g.quat;
			if (g.predicted) e.v[from + k] = added;
			if (guess && g.predicted && turn >= 0 && turn < 4) return wrap(n, BigInt(e.q[from + k]) - turned(was, from + g.quat, n, g.bits[g.quat + 1], e.q[from + g.quat], turn));
			return wrap(n, e.q[from + k] - q - (guess && g.predicted ? was.v[from + k] : 0));
		})), rng, plain);
	}
	if (jumped.length) b.uv(jumped.length).places(jumped);
	if (own) {
		b.uv(owned.length).places(owned.map((e) => next.entities.indexOf(e)));
		b.bits(owned.flatMap((e) => e.own.map((v, k) => [v, ownBits[k]])));
	} else {
		lane = 0;
		for (const g of owners) {
			const from = lane;
			lane += g.bits.length;
			group(b, g.bits, owned.map((e) => g.bits.map((n, k) => wrap(n, e.own[from + k] - before.get(e.slot).e.own[from + k]))), rng, plain);
		}
	}
	if (check) b.u32(check(next));
	return b.frame();
}

/** The prediction of lane `turn` of the rotation at a lane of an entity, where the new index is known: in BigInts, whose quotients are exact. */
function turned({ q, v }, first, n, bits, index, turn) {
	const lanes = q.slice(first, first + 4), added = v.slice(first, first + 4);
	if (added.every((a) => a === 0)) return BigInt(lanes[turn]);
	const numbers = (l) => {
		const c = l.slice(1).map(BigInt), rest = 2n * BigInt(2 ** (bits - 1) - 1) ** 2n - c.reduce((s, x) => s + x * x, 0n);
		let root = 0n; // the nearest whole number to √rest
		for (let step = 1n << 20n; rest > 0n && step > 0n; step >>= 1n) if ((2n * (root + step) - 1n) ** 2n <= 4n * rest) root += step;
		c.splice(l[0] & 3, 0, root);
		return c;
	};
	const now = numbers(lanes), before = numbers(lanes.map((x, k) => wrap(k ? bits : 2, x - added[k])));
	const dot = now.reduce((s, x, k) => s + x * before[k], 0n), square = now.reduce((s, x) => s + x * x, 0n), size = (x) => (x < 0n ? -x : x);
	const r = now.map((x, k) => {
		const up = 4n * size(dot) * x + square, down = 2n * square;
		const floor = up / down - (up < 0n && up % down !== 0n ? 1n : 0n);
		return dot < 0n ? floor + before[k] : floor - before[k];
	});
	if (turn === 0) return BigInt(r.reduce((best, x, k) => (size(x) > size(r[best]) ? k : best), lanes[0] & 3));
	const out = index & 3, codes = r.map((x) => (r[out] < 0n ? -x : x));
	codes.splice(out, 1);
	return codes[turn - 1];
}

/** A group: rows of differences. */
function group(b, bits, rows, rng, plain) {
	if (!rows.length) return;
	const widths = bits.map(() => 0), kind = rows.map((row) => (plain ? 1 : rng.below(4) < 3 || row.every((d) => d === 0) ? 1 : 2)); // record or wide
	rows.forEach((row, i) => {
		const larger = widths.map((w, k) => Math.max(w, widthOf(row[k])));
		if (larger.reduce((x, y) => x + y) > 32) kind[i] = 2;
		if (kind[i] === 1 && row.some((d) => d !== 0)) widths.splice(0, widths.length, ...larger);
		else if (kind[i] === 1 && !plain) kind[i] = rng.chance(3) ? 1 : 0;
	});
	const records = rows.filter((_, i) => kind[i] === 1), wide = rows.map((_, i) => i).filter((i) => kind[i] === 2);
	const mode = records.length === 0 ? 0 : records.length === rows.length ? 1 : 2;
	b.u8(mode | (wide.length && 4));
	if (mode) {
		b.u8(...widths);
		if (mode === 2) b.bits(kind.map((k) => [+(k === 1), 1]));
		b.bits(records.flatMap((row) => row.map((d, k) => [d, widths[k]])));
	}
	if (!wide.length) return;
	b.uv(wide.length).places(wide, (i) => {
		const row = rows[wide[i]];
		b.u8(row.reduce((m, d, k) => m | (d !== 0) << k, 0));
		for (const d of row) if (d) b.sv(d);
	});
}
