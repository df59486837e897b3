// The state of a client by docs/replica-wire.md: schema, Keyframe and Update. It needs a little-endian machine, as all browsers do.

const PREDICTED = 1, PARTIAL = 2, APPLIED = 4, JUMPED = 8, OWN = 16, CHECK = 32, ORIGIN = 64;
const EXACT = 1, QUANTISED = 2, ANGLE = 3, PLANAR = 4, QUAT = 5, TAGS = 6;
const NUMBERS = [, Int8Array, Int16Array, Int32Array, BigInt64Array, Uint8Array, Uint16Array, Uint32Array, BigUint64Array, Float32Array, Float64Array];
const AXES = ['position.x', 'position.y', 'position.z'];
/** Metres of which every shift of the origin is a multiple. */
export const ORIGIN_UNIT = 1024;
const SLOTS = 2 ** 24, NONE = new Uint32Array(0), NO_LANE = new Int32Array(0);

/** Bits of the lanes of a field. */
function lanesOf(r, { name, codec, kind, components, bits, step }) {
	const each = (n, b) => Array(n).fill(b), upTo = (most) => r.between('bits', bits, 2, most);
	if (codec !== QUANTISED && !Object.is(step, 0)) r.fail('step', `${step} is not 0`);
	if (codec === EXACT) r.between('kind', kind, 1, 10);
	else r.between('kind', kind, codec === TAGS ? 7 : 9, codec === TAGS ? 7 : 9);
	if ((name === '') !== (codec === TAGS)) r.fail('name', `"${name}" with codec ${codec}`);
	if ((codec === PLANAR || codec === QUAT) && name !== 'rotation') r.fail('name', `"${name}" is not "rotation"`);
	if (codec === TAGS || codec === PLANAR || codec === QUAT) r.between('components', components, codec === TAGS ? 1 : 4, codec === TAGS ? 1 : 4);
	if (codec === TAGS) return [r.between('bits', bits, 32, 32)];
	if (codec === ANGLE) return each(components, upTo(16));
	if (codec === PLANAR) return [upTo(16)];
	if (codec === QUAT) return [2, ...each(3, upTo(16))];
	if (codec === QUANTISED) return step > 0 && step < Infinity ? each(components, upTo(25)) : r.fail('step', `${step} is not positive and finite`);
	const size = 8 * NUMBERS[kind].BYTES_PER_ELEMENT, b = Math.min(size, 32);
	return each(components * size / b, r.between('bits', bits, b, b));
}

/**
 * A field is state.lanes[first] and as many lanes from there. `sum` is of the bits of all public lanes, and of those of the owner.
 * @typedef {{name: string, codec: number, kind: number, components: number, bits: number, step: number, owner: boolean, first: number, lanes: number}} Field
 * @typedef {{groups: {owner: boolean, predicted: boolean, first: number, end: number, quats: Field[]}[], fields: Map<string, Field>, tags: string[], bits: number[], publics: number, sum: number[], positions: Map<number, {axis: number, step: number}>}} Schema
 * @returns {Schema}
 */
export function readSchema(r) {
	const s = { groups: [], fields: new Map(), tags: [], bits: [], publics: 0, sum: [0, 0], positions: new Map() };
	for (let n = r.count('groups', 256, 2); n > 0; n--) {
		const flags = r.u8('flags of a group', 2), owner = flags === 1, first = s.bits.length, quats = [];
		if (!owner && s.groups.at(-1)?.owner) r.fail('groups', 'a public group after one of the owner');
		for (let k = r.count('fields', 8, 9); k > 0; k--) {
			const f = { name: r.text('name', 255), codec: r.u8('codec', 6, 1), kind: r.u8('kind', 10), components: r.u8('components', 8, 1), bits: r.u8('bits'), owner, first: s.bits.length };
			f.step = r.view.getFloat32(r.skip('step', 4), true);
			const bits = lanesOf(r, f);
			f.lanes = bits.length;
			if (f.codec === QUAT) quats.push(f);
			if (AXES.includes(f.name) && f.codec === QUANTISED && f.components === 1) s.positions.set(f.first, { axis: AXES.indexOf(f.name), step: f.step });
			s.bits.push(...bits);
			s.fields.set(f.name, f);
			for (const b of bits) s.sum[+owner] += b;
		}
		r.between('lanes of a group', s.bits.length - first, 1, 8);
		if (!owner) s.publics = s.bits.length;
		s.groups.push({ owner, predicted: flags === 2, first, end: s.bits.length, quats: flags === 2 ? quats : [] });
	}
	for (let n = r.count('tags', 32); n > 0; n--) s.tags.push(r.text('tag', 255));
	r.close();
	return s;
}

/**
 * What a client knows after a frame. Each entity has a place from 0 to count - 1, by ascending slots, which is its index in all columns.
 * Columns may be longer than count. The client uses the memory again: read a state before the next frame arrives, and keep none of its columns.
 */
export class State {
	tick = 0;
	/** From the start of the server to the end of the tick, in µs. */
	at = 0;
	/**
	 * The origin of the positions, in metres, which the server moves now and then: it and a position have the same sum in all states for an entity that stands still.
	 * A program that draws between two states adds the difference of their origins to the positions of one.
	 * @type {[number, number, number]}
	 */
	origin = [0, 0, 0];
	/** Whether some entities have values of an older tick. */
	partial = false;
	/** The highest sequence number of an own input that a tick applied, and how long that input waited, in µs, if the frame says so. @type {{sequence: number, waited: number} | null} */
	applied = null;
	count = 0;
	slots = NONE;
	ids = new BigUint64Array(0);
	/** Places of the entities that the session owns, which are the rows of owner lanes. */
	own = NONE;
	/** Places of entities that the base of the frame did not have. On an ordered connection the base is the state before. */
	entered = NONE;
	/** Places of entities that teleported since the base. */
	jumped = NONE;
	/** Entities of the base that left the view, or died. @type {{slot: number, id: bigint, dead: boolean}[]} */
	left = [];

	/** @param {Schema} schema */
	constructor(schema) {
		this.schema = schema;
		/** By lanes of the schema. */
		this.lanes = schema.bits.map(() => NO_LANE);
		this.words = NONE; // of ids
		this.added = this.lanes.slice(); // by the last frame, in predicted groups
	}
	/** Makes room for n entities in columns with any content. */
	resize(n) {
		this.count = n;
		if (this.slots.length >= n) return;
		const size = n + (n >> 1);
		this.slots = new Uint32Array(size);
		this.ids = new BigUint64Array(size);
		this.words = new Uint32Array(this.ids.buffer);
		for (const g of this.schema.groups)
			for (let k = g.first; k < g.end && !g.owner; k++) {
				this.lanes[k] = new Int32Array(size);
				if (g.predicted) this.added[k] = new Int32Array(size);
			}
	}
	/**
	 * Becomes the state after a frame of which tick and age are read. The base of a Keyframe has no entities.
	 * @returns {boolean} whether the check of the frame, if it has one, agrees
	 */
	read(r, base, keyframe) {
		const flags = r.u8('flags', 127), predicted = (flags & PREDICTED) > 0;
		this.partial = (flags & PARTIAL) > 0;
		if (keyframe && (predicted || this.partial)) r.fail('flags', 'a Keyframe that is Predicted or Partial');
		this.at = r.uv('at');
		this.applied = flags & APPLIED ? { sequence: r.big('applied'), waited: r.big('applied') } : null;
		this.origin = flags & ORIGIN ? AXES.map(() => r.whole('origin', 2 ** 52) * ORIGIN_UNIT) : base.origin;
		const gone = keyframe ? NONE : this.#readLeaves(r, base), list = this.#readEnters(r, base, gone);
		if (keyframe) this.left = [];
		if (this.partial) {
			const some = scratch(2, list.n);
			list.n = r.pick('included', list.rows, list.n, some);
			list.rows = some;
		}
		for (const g of this.schema.groups) {
			if (g.owner) continue;
			if (g.predicted) this.#predict(g, predicted && base, list);
			const turns = predicted && g.predicted ? this.#turn(g, list) : [];
			this.#readGroup(r, g, list.rows, list.n);
			for (const t of turns) this.#finish(t);
			for (let k = g.first; g.predicted && k < g.end; k++) addAll(this.lanes[k], this.added[k], 32 - this.schema.bits[k], this.count);
		}
		this.jumped = flags & JUMPED ? r.places('jumped', this.count) : NONE;
		this.#readOwned(r, base, list.runs, (flags & OWN) > 0);
		const check = flags & CHECK ? r.u32('check') : 0;
		r.close();
		return !(flags & CHECK) || check === this.check();
	}
	#readLeaves(r, base) {
		const gone = new Uint32Array(r.count('leaves', base.count));
		let last = -1;
		this.left = Array.from(gone, (_, i) => {
			const v = r.uv('leaves', 2 * (base.count - last - 2) + 1), place = gone[i] = last += 1 + (v >> 1);
			return { slot: base.slots[place], id: base.ids[place], dead: (v & 1) === 1 };
		});
		return gone;
	}
	/** Makes the new list and its public lanes as they are before the groups. */
	#readEnters(r, base, gone) {
		const { schema } = this, sum = schema.sum[0], enters = r.count('enters', SLOTS, 2), slots = new Uint32Array(enters), words = new Uint32Array(2 * enters);
		for (let i = 0, last = -1, low = 0, high = 0; i < enters; i++) {
			slots[i] = last = r.place('slot', last, SLOTS);
			r.sv('id');
			low += r.low >>> 0;
			high = high + r.high + (low >= 2 ** 32 ? 1 : 0) >>> 0; // the carry
			words[2 * i] = low >>>= 0;
			words[2 * i + 1] = high;
		}
		let bit = r.bits('lanes of enters', enters * sum);
		const list = this.#merge(r, base, gone, slots, words);
		for (let k = 0; k < schema.publics; bit += schema.bits[k++]) {
			const by = this.#shift(k, base);
			for (const run of list.runs) {
				copy(this.lanes[k], base.lanes[k], run);
				if (by) shift(this.lanes[k], by, 32 - schema.bits[k], run.to, run.n);
			}
			this.#set(r, bit, sum, k, list.entered, enters);
		}
		return list;
	}
	/** What a shift of the origin since the base subtracts from the codes of a lane, modulo 2^32. */
	#shift(k, base) {
		const steps = (origin, step) => Math.floor(origin / step + 0.5) % 2 ** 32 | 0, at = this.schema.positions.get(k);
		return at ? steps(this.origin[at.axis], at.step) - steps(base.origin[at.axis], at.step) | 0 : 0;
	}
	/** Sets a lane of n rows from whole records, of `sum` bits each. */
	#set(r, bit, sum, k, rows, n) {
		const width = this.schema.bits[k], codes = r.fields(bit, sum, width, scratch(4, n), n), out = this.lanes[k];
		for (let i = 0; i < n; i++) out[rows[i]] = codes[i] << (32 - width) >> (32 - width);
	}
	/**
	 * Merges the base's list, without those that are gone, with the enters. Runs are what stays together in both lists: {to, from, n}. Of each
	 * stay `map` has the place in the base and `rows` the new place. `entered` has the new places of the enters, among which are refreshed entities.
	 */
	#merge(r, base, gone, slots, words) {
		const enters = slots.length, most = base.count - gone.length + enters, entered = scratch(5, enters), fresh = [], runs = [];
		this.resize(most);
		const still = !gone.length && !enters, map = still ? all(most) : scratch(0, most), rows = still ? map : scratch(1, most);
		let p = 0, b = 0, g = 0, n = 0; // places in the new list, the base, gone and rows
		const stay = (end) => {
			if (b === end) return;
			const run = { to: p, from: b, n: end - b };
			copy(this.slots, base.slots, run);
			copy(this.words, base.words, { to: 2 * p, from: 2 * b, n: 2 * run.n });
			runs.push(run);
			if (!still) for (let i = 0; i < run.n; i++) map[run.to + i] = run.from + i;
			if (!still) for (let i = 0, first = n; i < run.n; i++) rows[first + i] = run.to + i;
			b = end;
			p += run.n;
			n += run.n;
		};
		const stays = (end) => {
			for (; g < gone.length && gone[g] < end; b++) stay(gone[g++]);
			stay(end);
		};
		for (let e = 0; e < enters; e++) {
			const slot = slots[e];
			stays(search(base.slots, slot, b, base.count));
			if (b < base.count && base.slots[b] === slot && gone[g] !== b) {
				if (words[2 * e] !== base.words[2 * b] || words[2 * e + 1] !== base.words[2 * b + 1]) r.fail('id', `slot ${slot} has another`);
				runs.push({ to: p, from: b++, n: 1 });
			} else fresh.push(p);
			this.slots[p] = slot;
			this.words[2 * p] = words[2 * e];
			this.words[2 * p + 1] = words[2 * e + 1];
			entered[e] = p++;
		}
		stays(base.count);
		this.count = p;
		this.entered = Uint32Array.from(fresh);
		return { runs, map, rows, n, entered };
	}
	/** Prepares what a frame adds to a predicted group: what the base's frame added, if there is a base to predict from. */
	#predict(g, base, { runs, map, rows, n }) {
		for (let k = g.first; k < g.end; k++) {
			const added = this.added[k], before = base && base.added[k];
			if (base && n === this.count) for (const run of runs) copy(added, before, run);
			else {
				added.fill(0, 0, this.count);
				for (let j = 0; base && j < n; j++) added[rows[j]] = before[map[rows[j]]];
			}
		}
	}
	/** Predicts the rotations of a group: that they turn again as they did with the last frame. Of each, what it adds is the change of the index, and nothing else yet. */
	#turn(g, { rows, n }) {
		const turns = [];
		for (const f of g.quats) {
			const [index, a, b, c] = this.lanes.slice(f.first, f.first + 4), [di, da, db, dc] = this.added.slice(f.first, f.first + 4), limit = 2 ** (f.bits - 1) - 1, cut = 32 - f.bits;
			for (let j = 0; j < n; j++) {
				const i = rows[j];
				if (!(di[i] | da[i] | db[i] | dc[i])) continue;
				numbers(FROM, index[i] - di[i] & 3, a[i] - da[i] << cut >> cut, b[i] - db[i] << cut >> cut, c[i] - dc[i] << cut >> cut, limit);
				numbers(TO, index[i] & 3, a[i], b[i], c[i], limit);
				const r = turned(FROM, TO);
				let out = index[i] & 3;
				for (let k = 0; k < 4; k++) if (Math.abs(r[k]) > Math.abs(r[out])) out = k;
				di[i] = out - index[i] << 30 >> 30;
				da[i] = db[i] = dc[i] = 0;
				turns.push({ f, i, r });
			}
		}
		return turns;
	}
	/** Adds the codes of a predicted rotation to their differences, when the index is known. */
	#finish({ f, i, r }) {
		const index = this.lanes[f.first][i] + this.added[f.first][i] & 3, sign = r[index] < 0 ? -1 : 1, cut = 32 - f.bits;
		for (let c = 0, k = f.first + 1; c < 4; c++) {
			if (c === index) continue;
			this.added[k][i] = this.added[k][i] + sign * r[c] - this.lanes[k][i] << cut >> cut;
			k++;
		}
	}
	/** Adds the differences of a group for n rows: to its lanes, or to what the frame adds to them. */
	#readGroup(r, g, rows, n) {
		if (!n) return;
		const columns = g.predicted ? this.added : this.lanes, mode = r.u8('mode', 6), records = mode & 3, lanes = g.end - g.first, bits = this.schema.bits.slice(g.first, g.end);
		if (records === 3) r.fail('mode', '3 is not 0 to 2');
		let bitmap = 0, sum = 0;
		if (records) {
			const widths = bits.map((b) => r.u8('width', b));
			for (const w of widths) sum += w;
			r.between('widths', sum, 0, 32);
			let some = rows, m = n;
			bitmap = r.at;
			if (records === 2) m = r.pick('bitmap', rows, n, some = scratch(3, n));
			const codes = r.fields(r.bits('records', m * sum), sum, sum, scratch(4, m), m);
			let up = 32;
			for (let k = 0; k < lanes; k++) {
				if (!widths[k]) continue;
				up -= widths[k];
				add(columns[g.first + k], codes, up, 32 - widths[k], 32 - bits[k], some, m);
			}
		}
		if (mode < 4) return;
		for (let left = r.count('wide', n, 2), last = -1; left > 0; left--) {
			last = r.place('wide', last, n);
			if (records === 1 || records === 2 && r.bytes[bitmap + (last >> 3)] >> (last & 7) & 1) r.fail('wide', `place ${last} has a record`);
			const set = r.u8('lanes of wide', 2 ** lanes - 1), i = rows[last];
			for (let k = 0; k < lanes; k++) {
				if (!(set >> k & 1)) continue;
				r.sv('difference');
				if (r.high !== r.low >> 31) r.fail('difference', 'more than 32 bits');
				const column = columns[g.first + k];
				column[i] = column[i] + r.low << (32 - bits[k]) >> (32 - bits[k]);
			}
		}
	}
	/** Reads the owned entities and their lanes, or what changed in those of the base that are left. */
	#readOwned(r, base, runs, whole) {
		const { schema } = this, kept = []; // rows of the base's owner lanes
		if (whole) this.own = r.places('own', this.count);
		else {
			let i = 0;
			this.own = Uint32Array.from(runs.flatMap(({ to, from, n }) => {
				const places = [];
				for (; base.own[i] < from + n; i++) if (base.own[i] >= from) places.push(base.own[i] - from + to), kept.push(i);
				return places;
			}));
		}
		const n = this.own.length, sum = schema.sum[1];
		let bit = whole ? r.bits('lanes of own', n * sum) : 0;
		for (let k = schema.publics; k < schema.bits.length; bit += schema.bits[k++]) {
			const by = this.#shift(k, base);
			this.lanes[k] = Int32Array.from(kept, (i) => base.lanes[k][i]);
			if (by) shift(this.lanes[k], by, 32 - schema.bits[k], 0, kept.length);
			if (!whole) continue;
			this.lanes[k] = new Int32Array(n);
			this.#set(r, bit, sum, k, all(n), n);
		}
		for (const g of schema.groups) if (g.owner && !whole) this.#readGroup(r, g, all(n), n);
	}
	/**
	 * The numbers of a column, row after row, of all entities or, of an owner group, of the owned ones. They are a Float32Array for the codecs
	 * Quantised, Angle, Planar (one angle) and Quat (x, y, z, w), an array of the column's kind for Exact, a Uint32Array for the tags, named ''.
	 * A dst must be of the same type and have the room.
	 */
	values(name, dst = undefined) {
		const f = this.schema.fields.get(name);
		if (!f) throw new RangeError(`replica: the schema has no column "${name}"`);
		const { codec, kind, bits } = f, type = codec === EXACT ? NUMBERS[kind] : codec === TAGS ? Uint32Array : Float32Array;
		const n = f.owner ? this.own.length : this.count, row = codec === QUAT ? 4 : f.lanes * 4 / (type.BYTES_PER_ELEMENT > 4 ? 8 : 4);
		const out = dst ?? new type(n * row), lanes = this.lanes.slice(f.first, f.first + f.lanes);
		if (!(out instanceof type) || out.length < n * row) throw new RangeError(`replica: "${name}" needs a ${type.name} of ${n * row}`);
		if (codec === QUAT) rotations(out, lanes, n, bits);
		else if (codec === QUANTISED) scale(out, lanes, n, f.step, -(2 ** (bits - 1)));
		else if (codec === ANGLE || codec === PLANAR) scale(out, lanes, n, 2 * Math.PI / 2 ** bits, -(2 ** 31)); // no code
		else raw(kind === 9 || type.BYTES_PER_ELEMENT > 4 ? new Int32Array(out.buffer, out.byteOffset, n * f.lanes) : out, lanes, n);
		return out;
	}
	/** Reports whether the entity at a place has a tag. */
	has(tag, place) {
		const i = this.schema.tags.indexOf(tag), f = this.schema.fields.get('');
		if (i < 0 || !f) throw new RangeError(`replica: the schema has no tag "${tag}"`);
		return (this.lanes[f.first][place] >>> i & 1) === 1;
	}
	/** CRC-32C of slots, ids and public lanes. */
	check() {
		const { count, slots, words, lanes, schema } = this;
		let crc = -1;
		for (let i = 0; i < count; i++) {
			crc = crcWord(crcWord(crcWord(crc, slots[i]), words[2 * i]), words[2 * i + 1]);
			for (let k = 0; k < schema.publics; k++) crc = crcWord(crc, lanes[k][i]);
		}
		return ~crc >>> 0;
	}
}

/** Memory that is used within a frame, by purpose. */
const memory = Array.from({ length: 6 }, () => NO_LANE);
const scratch = (i, n) => (memory[i].length < n ? (memory[i] = new Int32Array(2 * n)) : memory[i]);

let identity = new Int32Array(0);
/** The places 0, 1, 2, …, at least n of them. */
const all = (n) => (identity.length < n ? (identity = new Int32Array(2 * n).map((_, i) => i)) : identity);

/** Copies a run of rows. */
function copy(out, old, { to, from, n }) {
	if (n > 32) out.set(old.subarray(from, from + n), to);
	else for (let i = 0; i < n; i++) out[to + i] = old[from + i];
}

/** Subtracts from n rows of a lane of 32 - cut bits. */
function shift(lane, by, cut, from, n) {
	for (let i = from; i < from + n; i++) lane[i] = lane[i] - by << cut >> cut;
}

/** The first place from lo to hi at which there is the slot or a higher one. */
function search(slots, slot, lo, hi) {
	while (lo < hi) {
		const mid = lo + hi >> 1;
		if (slots[mid] < slot) lo = mid + 1;
		else hi = mid;
	}
	return lo;
}

/** Adds what a frame adds to n rows of a lane. */
function addAll(out, added, cut, n) {
	for (let i = 0; i < n; i++) out[i] = out[i] + added[i] << cut >> cut;
}

/** Adds a field of records to n rows of a lane: the bits that remain after a shift up and a shift down. The sum has 32 - cut bits. */
function add(out, records, up, down, cut, rows, n) {
	if (rows === identity) { // faster by a third
		for (let i = 0; i < n; i++) out[i] = out[i] + (records[i] << up >> down) << cut >> cut;
		return;
	}
	for (let i = 0; i < n; i++) {
		const row = rows[i];
		out[row] = out[row] + (records[i] << up >> down) << cut >> cut;
	}
}

// Four bytes at a time: one table for each number of bytes that follow.
const [T0, T1, T2, T3] = [8, 16, 24, 32].map((shifts) => Uint32Array.from({ length: 256 }, (_, c) => {
	for (let k = 0; k < shifts; k++) c = c >>> 1 ^ -(c & 1) & 0x82f63b78;
	return c;
}));
function crcWord(crc, word) {
	crc ^= word;
	return T3[crc & 255] ^ T2[crc >>> 8 & 255] ^ T1[crc >>> 16 & 255] ^ T0[crc >>> 24];
}

/** Codes times step. The code `hole` is NaN. */
function scale(out, lanes, n, step, hole) {
	lanes.forEach((q, k) => {
		for (let i = 0, at = k; i < n; i++, at += lanes.length) out[at] = q[i] === hole ? NaN : q[i] * step;
	});
}

/** The low bits of codes, as many as a number of out has. */
function raw(out, lanes, n) {
	lanes.forEach((q, k) => {
		for (let i = 0, at = k; i < n; i++, at += lanes.length) out[at] = q[i];
	});
}

const FROM = new Float64Array(4), TO = new Float64Array(4); // of one rotation at a time

/** Writes the components of a rotation in units of 1 / (√2 · limit), which are whole numbers. */
function numbers(out, index, x, y, z, limit) {
	const rest = Math.floor(Math.sqrt(Math.max(2 * limit * limit - (x * x + y * y + z * z), 0)) + 0.5);
	out[0] = index === 0 ? rest : x;
	out[1] = index === 1 ? rest : index === 0 ? x : y;
	out[2] = index === 2 ? rest : index === 3 ? z : y;
	out[3] = index === 3 ? rest : z;
}

/** The rotation after the turn from p to q is made again: 2(p·q)q / (q·q) - p on the shorter way, in whole numbers. */
function turned(p, q) {
	const dot = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3], square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
	const twice = 2 * Math.abs(dot), sign = dot < 0 ? -1 : 1, one = (k) => Math.floor(twice * q[k] / square + 0.5) - sign * p[k];
	return [one(0), one(1), one(2), one(3)];
}

/** Quaternions: the component that is left out follows from the others. */
function rotations(out, [index, ...rest], n, bits) {
	const step = 1 / (Math.SQRT2 * (2 ** (bits - 1) - 1));
	for (let i = 0; i < n; i++) {
		const missing = index[i] & 3;
		let k = 0, squares = 0;
		for (let c = 0; c < 4; c++) {
			if (c === missing) continue;
			const v = out[4 * i + c] = rest[k++][i] * step;
			squares += v * v;
		}
		out[4 * i + missing] = Math.sqrt(Math.max(0, 1 - squares));
	}
}
