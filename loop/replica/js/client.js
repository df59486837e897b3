// A client of docs/replica-wire.md for browsers and node, without dependencies and without a build.
//
//	const client = new Client({ onState: (s) => draw(s.count, s.values('position.x')) });
//	client.connect('wss://example.org/world');
//
// Ids and hashes are BigInts, all else numbers: ticks of states up to 2^53 - 1, times and sequence numbers rounded above that.

import { FrameError, Reader, Writer } from './wire.js';
import { State, readSchema } from './state.js';

export { FrameError, State };

const HELLO = 1, WELCOME = 2, KEYFRAME = 3, UPDATE = 4, SNAPSHOT = 5, INPUTS = 6, PONG = 7, ERROR = 8, INPUT = 16, ACK = 17, LOOK = 18, PING = 19, RESYNC = 20;
const MAGIC = new TextEncoder().encode('evrp'), VERSION = 1, NO_BYTES = new Uint8Array(0);
const BATCH = 64; // inputs in a frame
const STATES = 32; // that a connection without order keeps
const MISSED = 4; // frames in a row without their base, after which a connection without order asks for a Keyframe
const AGAIN = 16; // ignored frames after which it is asked for again
const PINGS = 16; // of which the fastest gives the offset of the clocks
const FIRST_SPECTATOR = 0xf0000000; // least number of a session that only watches
const FINAL = [2, 3, 8]; // codes of errors after which connecting again is useless

/**
 * @typedef {object} Options
 * @property {0 | 1} [mode] 0 to view, 1 to simulate
 * @property {number} [simVersion] 0: unknown
 * @property {bigint} [schema] hash of the schema that the program was written for, 0n: any
 * @property {Uint8Array} [credentials] at most 4,096 bytes
 * @property {boolean} [ordered] the transport delivers all frames once and in order; true by default, as WebSocket does
 * @property {(frame: Uint8Array) => void} [send] for a transport of your own; connect sets it
 * @property {() => number} [now] time in ms that never steps back; performance.now by default
 * @property {(welcome: Welcome) => void} [onWelcome]
 * @property {(state: State) => void} [onState] after a Keyframe or Update that is the newest
 * @property {(snapshot: {tick: number, hash: bigint, state: Uint8Array}) => void} [onSnapshot]
 * @property {(inputs: {tick: number, hash: bigint, at: number, inputs: RemoteInput[]}) => void} [onInputs]
 * @property {(error: {code: number, text: string}) => void} [onError] the server has sent an Error
 * @property {(fault: Error) => void} [onFault] connect has ended the connection because of a malformed frame
 *
 * @typedef {{session: number, spectates: boolean, resumed: boolean, token: Uint8Array, received: number, tick: number, rate: [number, number], every: number, seed: bigint,
 *   simVersion: number, scenario: string, schema: import('./state.js').Schema}} Welcome
 * @typedef {{source: number, sequence: number, tick: number, at: number, fraction: number, kind: number, data: Uint8Array}} RemoteInput
 */

export class Client {
	/** The newest state, null before the first. @type {State | null} */
	state = null;
	/** @type {Welcome | null} */
	welcome = null;
	/** ms to add to the client's clock for the time since the server began; NaN before the first Pong. */
	offset = NaN;
	/** ms of the fastest of the last pings. */
	roundTrip = NaN;

	#reader = new Reader();
	#held = []; // states by arrival
	#spare = []; // states to write into
	#live = false; // there was a Welcome on this connection
	#lost = false; // a check has differed, so the server has another base: only a Keyframe helps
	#missed = 0; // frames in a row whose base is gone
	#asked = 0; // frames that were ignored since a Keyframe was asked for
	#schema = NO_BYTES;
	#tick = 0; // in mode simulate: of the state held
	#next = 1; // sequence number
	#pending = []; // inputs that are not known to be applied
	#pings = [];

	/** @param {Options} options */
	constructor(options = {}) {
		this.options = { mode: 0, simVersion: 0, schema: 0n, credentials: NO_BYTES, ordered: true, now: () => performance.now(), ...options };
		if (this.options.credentials.length > 4096) throw new RangeError(`replica: credentials of ${this.options.credentials.length} bytes, at most 4096`);
	}
	/** ms since the server began, NaN before the first Pong. */
	serverTime() {
		return this.options.now() + this.offset;
	}

	/** Sends the first frame of a connection. It asks to resume the session of the last Welcome, if there was one. */
	hello() {
		const { mode, simVersion, schema, credentials } = this.options;
		const held = mode ? this.#tick : this.#held.at(-1)?.tick ?? 0;
		this.#live = false;
		this.#send(new Writer(HELLO).raw(MAGIC).u8(VERSION).u8(mode).u32(simVersion).u64(schema).blob(credentials).blob(this.welcome?.token ?? NO_BYTES).uv(this.#lost ? 0 : held));
	}
	/**
	 * Sends an input for a tick, 0: as soon as possible, and returns its sequence number. What a connection loses is sent again.
	 * A session that only watches has no inputs.
	 * @param {number} kind @param {Uint8Array} data @param {number} tick
	 */
	input(kind, data = NO_BYTES, tick = 0) {
		if (!this.welcome) throw new Error('replica: an input before the Welcome');
		if (this.welcome.spectates) throw new Error('replica: an input of a session that only watches');
		const body = new Writer().uv(this.#next).uv(tick).uv(kind).blob(data).bytes;
		this.#pending.push({ sequence: this.#next, body });
		if (this.#pending.length > BATCH) this.#pending.shift();
		this.#sendInputs(this.options.ordered ? this.#next : 0);
		return this.#next++;
	}
	#sendInputs(first) {
		const inputs = this.#pending.filter((i) => i.sequence >= first), frame = new Writer(INPUT).uv(inputs.length);
		for (const i of inputs) frame.raw(i.body);
		if (inputs.length) this.#send(frame);
	}
	/** Lets the view follow an entity that the session owns. @param {bigint} id */
	follow(id) { this.#send(new Writer(LOOK).u8(0).u64(id)); }
	/** Moves the view to a point, if the server allows it. */
	lookAt(x, y, z) { this.#send(new Writer(LOOK).u8(1).f32(x).f32(y).f32(z)); }
	/** Asks for the time of the server. */
	ping() { this.#send(new Writer(PING).u64(BigInt(Math.round(this.options.now() * 1e6)))); }
	/** Asks for a Keyframe or Snapshot. */
	resync(tick = 0) { this.#send(new Writer(RESYNC).uv(tick)); }
	#send(writer) {
		this.options.send?.(Uint8Array.from(writer.bytes));
	}

	/**
	 * Takes a frame of the server. A frame that is refused changes nothing and throws a FrameError; the transport should then end the connection.
	 * @param {Uint8Array | ArrayBuffer} frame
	 * @returns {boolean} false if the frame was ignored: its tick is not newer, its base is no longer held, its check differs, it came before the Welcome, or it is a second Welcome or an unexpected Pong
	 */
	receive(frame) {
		const r = this.#reader.load(frame instanceof Uint8Array ? frame : new Uint8Array(frame)), kind = r.u8('kind');
		switch (kind) {
		case WELCOME: return this.#onWelcome(r);
		case ERROR: return this.#onError(r);
		case KEYFRAME: case UPDATE: case SNAPSHOT: case INPUTS: case PONG: if (!this.#live) return false; // it has overtaken the Welcome
		}
		if ((kind === SNAPSHOT || kind === INPUTS) !== (this.options.mode === 1) && kind <= INPUTS) r.fail('kind', `${kind} is of the other mode`);
		switch (kind) {
		case KEYFRAME: case UPDATE: return this.#onState(r, kind === KEYFRAME);
		case SNAPSHOT: return this.#onSnapshot(r);
		case INPUTS: return this.#onInputs(r);
		case PONG: return this.#onPong(r);
		}
		return r.fail('kind', `${kind} is none of the server's`);
	}
	#onWelcome(r) {
		const w = {
			session: r.between('session', r.u32('session'), 1, 2 ** 32), resumed: r.u8('flags', 1) === 1, token: r.blob('token', 256), received: r.big('received'), tick: r.big('tick'),
			rate: [r.uv('rate', 1e8, 1), r.uv('rate', 1e8, 1)], every: r.uv('every', 65_536, 1), seed: r.u64('seed'), simVersion: r.u32('sim version'),
			scenario: r.text('scenario', 255),
		};
		w.spectates = w.session >= FIRST_SPECTATOR;
		const schema = r.blob('schema');
		r.close();
		w.schema = readSchema(new Reader().load(schema));
		if (this.#live) return false; // the same again
		this.#live = true;
		if (!w.resumed || w.tick < (this.state?.tick ?? 0) || schema.join() !== this.#schema.join()) {
			this.#held = [];
			this.#spare = Array.from({ length: this.options.ordered ? 2 : STATES + 1 }, () => new State(w.schema));
			this.#lost = false;
			this.state = null;
		}
		if (!w.resumed) {
			this.#pending = [];
			this.#next = w.received + 1;
			this.#tick = 0;
		}
		this.#schema = schema;
		this.#missed = this.#asked = 0;
		this.#pings = [];
		this.welcome = w;
		this.#applied(w.received);
		this.#sendInputs(0);
		this.options.onWelcome?.(w);
		return true;
	}
	#onState(r, keyframe) {
		const { ordered } = this.options, held = this.#held, tick = r.uv('tick', undefined, 1), age = keyframe ? 0 : r.uv('age', tick - 1, 1);
		const base = keyframe ? new State(this.welcome.schema) : this.#lost ? undefined : held.find((s) => s.tick === tick - age);
		const back = tick <= (this.state?.tick ?? 0); // late, or the simulation has gone back
		if (back && !ordered) return false;
		if (!base) return ++this.#missed >= MISSED || ordered ? this.#ask() : false;
		const next = this.#spare.at(-1), agrees = next.read(r, base, keyframe);
		if (!agrees) {
			this.#lost = ordered;
			return this.#ask();
		}
		if (back) this.#spare.unshift(...held.splice(0));
		next.tick = tick;
		held.push(this.#spare.pop());
		if (!this.#spare.length) this.#spare.push(held.shift());
		this.#lost = false;
		this.#missed = this.#asked = 0;
		if (next.applied) this.#applied(next.applied.sequence);
		if (!ordered) this.#send(new Writer(ACK).uv(tick));
		this.state = next;
		this.options.onState?.(next);
		return true;
	}
	/** Asks for a Keyframe. Servers end connections that ask too often. */
	#ask() {
		if (this.#asked++ % AGAIN === 0) this.resync();
		return false;
	}
	#applied(sequence) {
		this.#pending = this.#pending.filter((i) => i.sequence > sequence);
	}
	#onSnapshot(r) {
		const tick = r.uv('tick'), hash = r.u64('hash'), at = r.skip('state', r.end - r.at);
		this.options.onSnapshot?.({ tick, hash, state: r.bytes.slice(at, r.end) });
		this.#tick = tick;
		return true;
	}
	#onInputs(r) {
		const f = { tick: r.uv('tick'), hash: r.u64('hash'), at: r.big('at'), inputs: [] };
		let kind = 0;
		for (let n = r.count('inputs', undefined, 4); n > 0; n--) {
			const flags = r.u8('flags of an input', 14), source = r.uv('source', 2 ** 32 - 1), sequence = r.big('sequence'), which = flags & 3;
			const tick = which === 0 ? f.tick : which === 1 ? 0 : which === 2 ? r.difference('tick', f.tick) : r.fail('flags of an input', '3 is not 0 to 2');
			const other = flags & 4 ? r.uv('kind', 2 ** 32 - 1) : kind, at = flags & 8 ? r.big('at') : 0, fraction = flags & 8 ? r.uv('fraction', 2 ** 32 - 1) : 0;
			if (which > 0 && tick === f.tick || which === 2 && tick === 0 || flags & 4 && other === kind || flags & 8 && !at && !fraction) r.fail('flags of an input', 'not the only encoding');
			f.inputs.push({ source, sequence, tick, at, fraction, kind: kind = other, data: r.blob('data') });
		}
		r.close();
		this.options.onInputs?.(f);
		for (const i of f.inputs) if (i.source === this.welcome?.session) this.#applied(i.sequence);
		this.#tick = f.tick + 1;
		return true;
	}
	#onPong(r) {
		const [sent, arrived, left] = [1, 2, 3].map(() => Number(r.u64('time')) / 1e6), now = this.options.now();
		r.close();
		if (sent > now + 1) return false; // no answer to a Ping
		this.#pings.push({ roundTrip: Math.max(0, now - sent - (left - arrived)), offset: (arrived + left - sent - now) / 2 });
		if (this.#pings.length > PINGS) this.#pings.shift();
		({ roundTrip: this.roundTrip, offset: this.offset } = this.#pings.reduce((a, b) => (b.roundTrip < a.roundTrip ? b : a)));
		return true;
	}
	#onError(r) {
		const error = { code: r.u8('code', 255, 1), text: r.text('text', 256) };
		r.close();
		this.#live = false;
		if (FINAL.includes(error.code)) this.#close?.();
		this.options.onError?.(error);
		return true;
	}

	#close;
	/**
	 * Connects over WebSocket, with one frame in each binary message. When the connection ends, it connects again and resumes the session: after `retry` ms,
	 * doubled with each attempt up to `longest`, less a random part of up to a half. It pings every `every` ms, and gives up after an Error that would come again.
	 * Of several URLs, those of the servers that can take over, it tries one after the other, each time that a connection ends.
	 * @param {string | string[]} url @returns {() => void} ends the connection
	 */
	connect(url, { WebSocket = globalThis.WebSocket, protocols = [], retry = 250, longest = 10_000, every = 2_000 } = {}) {
		const urls = [url].flat();
		let socket, timer, pings, welcome, attempts = 0, next = 0;
		const open = () => {
			const s = socket = new WebSocket(urls[next++ % urls.length], protocols);
			s.binaryType = 'arraybuffer';
			this.options.send = (frame) => s.readyState === 1 && s.send(frame);
			s.onopen = () => this.hello();
			s.onmessage = ({ data }) => {
				try {
					if (typeof data === 'string') throw new FrameError('replica: a message of text');
					if (s === socket && this.receive(data)) attempts = 0;
					if (welcome !== this.welcome) this.ping();
					welcome = this.welcome;
				} catch (fault) {
					if (!(fault instanceof FrameError)) throw fault;
					const text = new TextEncoder().encode(fault.message).subarray(0, 256);
					this.#lost = true; // the next connection begins with a Keyframe
					this.#send(new Writer(ERROR).u8(1).blob(text));
					s.close();
					this.options.onFault?.(fault);
				}
			};
			s.onclose = () => {
				if (s === socket) timer = setTimeout(open, Math.min(longest, retry * 2 ** attempts++) * (1 - Math.random() / 2));
			};
		};
		this.#close?.();
		this.#close = () => {
			const s = socket;
			socket = null;
			clearTimeout(timer);
			clearInterval(pings);
			s?.close();
		};
		pings = setInterval(() => this.welcome && this.ping(), every);
		open();
		return this.#close;
	}
}
