// A client of docs/replica-wire.md for browsers and node, without dependencies and without a build.
//
//	const client = new Client({ onState: (s) => draw(s.count, s.values('position.x')) });
//	client.connect('wss://example.org/world');
//
// Ids and hashes are BigInts, all else numbers: ticks of states up to 2^53 - 1, times and sequence numbers rounded above that.

import { FrameError, Reader, Writer } from './wire.js';
import { ORIGIN_UNIT, State, readSchema } from './state.js';
import { Clock } from './clock.js';

export { FrameError, State };

const HELLO = 1, WELCOME = 2, KEYFRAME = 3, UPDATE = 4, SNAPSHOT = 5, INPUTS = 6, PONG = 7, ERROR = 8, INPUT = 16, ACK = 17, LOOK = 18, PING = 19, RESYNC = 20;
const MAGIC = new TextEncoder().encode('evrp'), VERSION = 3, NO_BYTES = new Uint8Array(0);
const BATCH = 64, FRAME_BYTES = 48 << 10; // most inputs in a frame, and bytes of their data
const WAITING = 1024, INPUT_BYTES = 32 << 10; // most inputs that wait, and bytes of data of one
const AGAIN_BYTES = 1 << 10; // bytes of data that a frame repeats on a connection without order
const IDLE = 8; // frames of the server after which a connection without order sends the inputs that wait again
const QUEUE = 64 << 10; // bytes that may wait in a WebSocket
const STATES = 32; // that a connection without order keeps
const MISSED = 4; // frames in a row without their base, after which a connection without order asks for a Keyframe
const AGAIN = 16; // ignored frames after which it is asked for again
const PINGS = 16; // whose answers are awaited
const FIRST_SPECTATOR = 0xf0000000; // least number of a session that only watches
const FINAL = [2, 3, 8]; // codes of errors after which connecting again is useless

/**
 * @typedef {object} Options
 * @property {0 | 1} [mode] 0 to view, 1 to simulate
 * @property {number} [simVersion] 0: unknown
 * @property {bigint} [schema] hash of the schema that the program was written for, 0n: any
 * @property {Uint8Array} [credentials] at most 4,096 bytes
 * @property {boolean} [ordered] the transport delivers all frames once and in order; true by default, as WebSocket does
 * @property {boolean} [reliable] without order: sends each input until it is reported as applied; while 64 of them or 48 KiB wait, later ones are not sent
 * @property {(frame: Uint8Array) => void | boolean} [send] for a transport of your own, false if it does not take the frame; connect sets it
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

const nanoseconds = (ms) => BigInt(Math.round(ms * 1e6));

export class Client {
	/** The newest state, null before the first. @type {State | null} */
	state = null;
	/** @type {Welcome | null} */
	welcome = null;
	#reader = new Reader();
	#held = []; // states by arrival
	#spare = []; // states to write into
	#live = false; // there was a Welcome on this connection
	#lost = false; // a check has differed, so the server has another base: only a Keyframe helps
	#missed = 0; // frames in a row whose base is gone
	#asked = 0; // frames that were ignored since a Keyframe was asked for
	#schema = NO_BYTES;
	#tick = 0; // in mode simulate: of the state held
	#former = NO_BYTES; // token of the Welcome before
	#next = 1; // sequence number
	#waiting = []; // inputs that no frame has reported as applied
	#sent = 0; // sequence number of the last one that was sent on this connection, or that the server has
	#idle = 0; // frames since an input was sent
	#clock = new Clock();
	#pings = []; // times of those without an answer

	/** @param {Options} options */
	constructor(options = {}) {
		this.options = { mode: 0, simVersion: 0, schema: 0n, credentials: NO_BYTES, ordered: true, now: () => performance.now(), ...options };
		if (this.options.credentials.length > 4096) throw new RangeError(`replica: credentials of ${this.options.credentials.length} bytes, at most 4096`);
	}
	/** ms to add to the client's clock for the time since the server began; NaN before the first Pong of a connection. */
	get offset() { return this.#clock.offset; }
	/** ms of the round trip with which the offset was measured: its error is at most half. If a clock has jumped, that holds again after two pings. */
	get roundTrip() { return this.#clock.roundTrip; }
	/** ms since the server began, NaN before the first Pong of a connection. */
	serverTime() {
		return this.options.now() + this.offset;
	}
	/** Number of inputs that no frame has reported as applied. */
	get waiting() { return this.#waiting.length; }

	/** Sends the first frame of a connection. It asks to resume the session of the last Welcome, if there was one. */
	hello() {
		const { mode, simVersion, schema, credentials } = this.options;
		const held = mode ? this.#tick : this.#held.at(-1)?.tick ?? 0;
		this.#live = false;
		return this.#send(new Writer(HELLO).raw(MAGIC).u8(VERSION).u8(mode).u32(simVersion).u64(schema).blob(credentials).blob(this.welcome?.token ?? NO_BYTES).uv(this.#lost ? 0 : held));
	}
	/**
	 * Sends an input for a tick, 0: as soon as possible, and returns its sequence number. What a connection does not take, or loses, is sent
	 * again: the client keeps an input until a frame says that it, or a later one, was applied. If a session could not be resumed, its inputs are dropped.
	 * A session that only watches has no inputs. A RangeError if 1,024 inputs wait, or for more than 32 KiB of data.
	 * @param {number} kind @param {Uint8Array} data @param {number} tick
	 */
	input(kind, data = NO_BYTES, tick = 0) {
		if (!this.welcome) throw new Error('replica: an input before the Welcome');
		if (this.welcome.spectates) throw new Error('replica: an input of a session that only watches');
		if (this.#waiting.length === WAITING) throw new RangeError(`replica: ${WAITING} inputs wait`);
		if (data.length > INPUT_BYTES) throw new RangeError(`replica: an input of ${data.length} bytes, at most ${INPUT_BYTES}`);
		if (kind >= 2 ** 32) throw new RangeError(`replica: kind ${kind}, at most ${2 ** 32 - 1}`);
		const body = new Writer().uv(this.#next).uv(tick).uv(kind).blob(data).bytes;
		this.#waiting.push({ sequence: this.#next, size: data.length, body });
		const sequence = this.#next++;
		this.#flush();
		return sequence;
	}
	/** Sends the inputs that were not sent yet, or that may be lost. */
	#flush() {
		const list = this.#waiting, { ordered, reliable } = this.options;
		if (!ordered && this.#idle >= IDLE && list.length) this.#sent = Math.min(this.#sent, list[0].sequence - 1);
		while (this.#live) {
			let from = list.findIndex((i) => i.sequence > this.#sent), to = from, bytes = 0;
			if (from < 0) return;
			const fresh = from;
			if (reliable && !ordered) from = to = 0; // none arrives without those before it
			while (to < list.length && to - from < BATCH && (to === from || bytes + list[to].size <= FRAME_BYTES)) bytes += list[to++].size;
			if (to <= fresh) return;
			for (let again = 0; !ordered && from > 0 && to - from < BATCH && (again += list[from - 1].size) <= AGAIN_BYTES;) from--;
			const frame = new Writer(INPUT).uv(to - from);
			for (const i of list.slice(from, to)) frame.raw(i.body);
			if (!this.#send(frame)) return;
			this.#sent = list[to - 1].sequence;
			this.#idle = 0;
		}
	}
	/** Lets the view follow an entity that the session owns. @param {bigint} id */
	follow(id) { return this.#post(new Writer(LOOK).u8(0).u64(id)); }
	/** Moves the view to a point, in metres from the origin of the state, if the server allows it. */
	lookAt(x, y, z) {
		const w = new Writer(LOOK).u8(1).f32(x).f32(y).f32(z);
		for (const v of this.state?.origin ?? [0, 0, 0]) w.sv(v / ORIGIN_UNIT);
		return this.#post(w);
	}
	/** Asks for the time of the server: once a second is enough. */
	ping() {
		const now = this.options.now();
		if (!this.#post(new Writer(PING).u64(nanoseconds(now)))) return false;
		this.#pings = [...this.#pings.slice(1 - PINGS), now];
		return true;
	}
	/** Asks for a Keyframe or Snapshot. */
	resync(tick = 0) { return this.#post(new Writer(RESYNC).uv(tick)); }
	/** Sends a frame of a session. These methods return false if there is none, or the connection does not take the frame. */
	#post(writer) {
		return this.#live && this.#send(writer);
	}
	#send(writer) {
		const { send } = this.options;
		return !!send && send(Uint8Array.from(writer.bytes)) !== false;
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
		case KEYFRAME: case UPDATE: {
			const taken = this.#onState(r, kind === KEYFRAME);
			this.#idle++;
			this.#flush();
			return taken;
		}
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
		const { ordered } = this.options, repeats = (token) => !ordered && token?.length > 0 && w.token.join() === token.join();
		const same = repeats(this.welcome?.token); // the Welcome again, or the answer to a Hello on a connection that has a session
		if (this.#live && (ordered || same) || repeats(this.#former)) return false;
		w.resumed ||= same;
		this.#live = true;
		if (!w.resumed || w.tick < (this.state?.tick ?? 0) && !same || schema.join() !== this.#schema.join()) {
			this.#held = [];
			this.#spare = Array.from({ length: ordered ? 2 : STATES + 1 }, () => new State(w.schema));
			this.#lost = false;
			this.state = null;
		}
		if (!w.resumed) {
			this.#waiting = [];
			this.#next = 1;
			this.#tick = 0;
		}
		this.#next = Math.max(this.#next, w.received + 1);
		this.#sent = w.received;
		this.#schema = schema;
		this.#missed = this.#asked = 0;
		this.#clock = new Clock(); // the server may be another one
		this.#pings = [];
		if (!same) this.#former = this.welcome?.token ?? NO_BYTES;
		this.welcome = w;
		this.#flush();
		this.options.onWelcome?.(w);
		return true;
	}
	#onState(r, keyframe) {
		const { ordered } = this.options, held = this.#held, tick = r.uv('tick', undefined, 1), age = keyframe ? 0 : r.uv('age', tick - 1, 1);
		const base = keyframe ? new State(this.welcome.schema) : this.#lost ? undefined : held.find((s) => s.tick === tick - age);
		const back = tick <= (this.state?.tick ?? 0); // late, or the simulation has gone back
		if (back && !ordered) return false;
		if (!base) return ++this.#missed >= MISSED || ordered ? this.#ask(this.state?.tick ?? 0) : false;
		const next = this.#spare.at(-1), agrees = next.read(r, base, keyframe);
		if (!agrees) {
			this.#lost = ordered;
			return this.#ask(0);
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
	#ask(tick) {
		if (this.#asked % AGAIN || this.resync(tick)) this.#asked++;
		return false;
	}
	#applied(sequence) {
		this.#waiting = this.#waiting.filter((i) => i.sequence > sequence);
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
		this.#flush();
		return true;
	}
	#onPong(r) {
		const t0 = r.u64('time'), [arrived, left] = [1, 2].map(() => Number(r.u64('time')) / 1e6);
		r.close();
		const at = this.#pings.findIndex((t) => nanoseconds(t) === t0);
		if (at < 0 || left < arrived || left > 2 ** 62 / 1e6) return false;
		this.#clock.answer(this.#pings.splice(at, 1)[0], arrived, left, this.options.now());
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
	 * Connects over WebSocket, with one frame in each binary message. When the connection ends, or cannot be made, it connects again and resumes the session:
	 * after `retry` ms, doubled with each attempt up to `longest`, less a random part of up to a half. It pings every `every` ms, takes the connection for lost
	 * if a ping, or the request for the connection, has no answer of any kind for `idle` ms, and gives up after an Error that would come again.
	 * Of several URLs, those of the servers that can take over, it tries one after the other, each time that a connection ends.
	 * @param {string | string[]} url @returns {() => void} ends the connection
	 */
	connect(url, { WebSocket = globalThis.WebSocket, protocols = [], retry = 250, longest = 10_000, every = 2_000, idle = 30_000 } = {}) {
		const urls = [url].flat();
		let socket, timer, welcome, asked, attempts = 0, next = 0; // asked: since when the server owes an answer
		const again = () => {
			socket = null;
			timer = setTimeout(reopen, Math.min(longest, retry * 2 ** attempts++) * (1 - Math.random() / 2));
		};
		const leave = () => {
			if (!socket) return;
			socket.onopen = socket.onmessage = socket.onclose = null;
			socket.close();
		};
		const open = () => {
			const s = new WebSocket(urls[next++ % urls.length], protocols);
			socket = s;
			asked = this.options.now();
			s.binaryType = 'arraybuffer';
			this.options.send = (frame) => {
				if (s.readyState !== 1 || s.bufferedAmount > 0 && s.bufferedAmount + frame.length > QUEUE) return false;
				s.send(frame);
				return true;
			};
			s.onopen = () => this.hello();
			s.onmessage = ({ data }) => {
				asked = NaN;
				try {
					if (typeof data === 'string') throw new FrameError('replica: a message of text');
					if (this.receive(data)) attempts = 0;
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
			s.onerror = () => {}; // onclose follows; without a listener node would end the process
			s.onclose = again;
		};
		const reopen = () => {
			try {
				open();
			} catch (fault) { // a URL that is none
				this.options.onFault?.(fault);
				again();
			}
		};
		this.#close?.();
		this.#close = null;
		open();
		const pings = setInterval(() => {
			if (!socket) return; // it waits for the next attempt
			const now = this.options.now();
			if (now - asked >= idle) {
				leave();
				again();
				return;
			}
			this.ping();
			if (Number.isNaN(asked)) asked = now;
		}, every);
		this.#close = () => {
			leave();
			clearTimeout(timer);
			clearInterval(pings);
		};
		return this.#close;
	}
}
