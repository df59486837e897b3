// The numbers of docs/replica-wire.md, read from frames and written to them.

/** A frame that the page does not allow. It has changed nothing. */
export class FrameError extends Error {}

/** Reads fields from a copy of a frame. After it is room for reads of 5 bytes at any of its bytes. */
export class Reader {
	bytes = new Uint8Array(1024);
	load(frame) {
		this.at = 0;
		this.end = frame.length;
		if (this.end >= 2 ** 28) this.fail('frame', 'too long'); // bits are counted in 31 bits
		if (this.bytes.length < this.end + 8) this.bytes = new Uint8Array(2 * this.end + 8);
		this.bytes.set(frame);
		this.view = new DataView(this.bytes.buffer);
		return this;
	}
	fail(field, why) {
		throw new FrameError(`replica: ${field}: ${why}, before byte ${this.at} of ${this.end}`);
	}
	between(field, v, least, most) {
		return v >= least && v <= most ? v : this.fail(field, `${v} is not ${least} to ${most}`);
	}
	/** Passes n bytes and returns the offset of the first. */
	skip(field, n) {
		if (n > this.end - this.at) this.fail(field, `${n} bytes expected, ${this.end - this.at} left`);
		return (this.at = this.at + n | 0) - n | 0; // a 32-bit integer: with it the loops over bits take half the time
	}
	close() {
		if (this.at < this.end) this.fail('frame', `${this.end - this.at} bytes left over`);
	}
	u8(field, most = 255, least = 0) { return this.between(field, this.bytes[this.skip(field, 1)], least, most); }
	u32(field) { return this.view.getUint32(this.skip(field, 4), true); }
	u64(field) { return this.view.getBigUint64(this.skip(field, 8), true); }
	/** Reads a uv into low and high, of 32 bits each. */
	varint(field) {
		let low = 0, high = 0, shift = 0, byte;
		do {
			byte = this.bytes[this.skip(field, 1)];
			if (shift === 63 && byte > 1) this.fail(field, 'more than 64 bits');
			const seven = byte & 127;
			if (shift < 32) low |= seven << shift;
			if (shift === 28) high = seven >>> 4;
			if (shift > 32) high |= seven << (shift - 32);
			shift += 7;
		} while (byte > 127);
		if (byte === 0 && shift > 7) this.fail(field, 'a varint that is not the shortest');
		this.low = low;
		this.high = high;
	}
	uv(field, most = Number.MAX_SAFE_INTEGER, least = 0) {
		this.varint(field);
		return this.between(field, (this.high >>> 0) * 2 ** 32 + (this.low >>> 0), least, most);
	}
	/** A uv that is rounded above 2^53. */
	big(field, least = 0) { return this.uv(field, Infinity, least); }
	/** Reads an sv into low and high. */
	sv(field) {
		this.varint(field);
		const sign = -(this.low & 1);
		this.low = (this.low >>> 1 | this.high << 31) ^ sign;
		this.high = this.high >>> 1 ^ sign;
	}
	/** An sv from -most to most, which is at most 2^53. */
	whole(field, most) {
		this.sv(field);
		return this.between(field, this.high * 2 ** 32 + (this.low >>> 0), -most, most);
	}
	/** A number whose difference to `from` is an sv modulo 2^64. */
	difference(field, from) {
		this.sv(field);
		return Number(BigInt.asUintN(64, BigInt(from) + (BigInt(this.high) << 32n | BigInt(this.low >>> 0))));
	}
	/** A number of things that take `size` bytes each or more, which are there. */
	count(field, most = 2 ** 24, size = 1) {
		const n = this.uv(field, most);
		return n * size > this.end - this.at ? this.fail(field, `${n} need more bytes than are left`) : n;
	}
	/** A copy, because the next frame overwrites this one. */
	blob(field, most = Infinity) {
		const n = this.count(field, most), at = this.skip(field, n);
		return this.bytes.slice(at, at + n);
	}
	text(field, most = Infinity) {
		const bytes = this.blob(field, most);
		try {
			return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
		} catch {
			return this.fail(field, 'not UTF-8');
		}
	}
	/** The place below limit that follows `last`, or the first after -1. */
	place(field, last, limit) {
		return last + 1 + this.uv(field, limit - last - 2);
	}
	places(field, limit) {
		const list = new Uint32Array(this.count(field, limit));
		for (let i = 0, last = -1; i < list.length; i++) list[i] = last = this.place(field, last, limit);
		return list;
	}
	/** Passes n bits and returns the offset of the first, in bits. */
	bits(field, n) {
		const at = this.skip(field, Math.ceil(n / 8));
		if (n % 8 && this.bytes[this.at - 1] >>> n % 8) this.fail(field, 'an unused bit is set');
		return at * 8;
	}
	/** Copies those of n places that have their bit in a bitmap, and returns how many. */
	pick(field, from, n, into) {
		const at = this.bits(field, n) / 8;
		let m = 0;
		for (let i = 0; i < n; i++) if (this.bytes[at + (i >>> 3)] >>> (i & 7) & 1) into[m++] = from[i];
		return m;
	}
	/** Copies n fields of at most 32 bits, which begin at every `stride` bits. Bits above the width are any. */
	fields(bit, stride, width, into, n) {
		const { view, bytes } = this, most = 32 - width;
		for (let i = 0; i < n; i++, bit += stride) {
			const at = bit >>> 3, shift = bit & 7, low = view.getInt32(at, true) >>> shift;
			into[i] = shift > most ? low | bytes[at + 4] << (32 - shift) : low;
		}
		return into;
	}
}

/** Writes fields. */
export class Writer {
	bytes = [];
	constructor(...kind) { this.raw(kind); }
	u8(v) { return this.raw([v]); }
	u32(v) { return this.raw([v & 255, v >>> 8 & 255, v >>> 16 & 255, v >>> 24]); }
	u64(v) { return this.u32(Number(v & 0xffffffffn)).u32(Number(v >> 32n & 0xffffffffn)); }
	f32(v) { return this.raw(new Uint8Array(Float32Array.of(v).buffer)); }
	uv(v) {
		if (!Number.isSafeInteger(v) || v < 0) throw new RangeError(`replica: ${v} is not a whole number from 0 to 2^53 - 1`);
		for (; v > 127; v = Math.floor(v / 128)) this.u8(v % 128 + 128);
		return this.u8(v);
	}
	sv(v) { return this.uv(v < 0 ? -2 * v - 1 : 2 * v); }
	blob(v) { return this.uv(v.length).raw(v); }
	raw(v) {
		for (const b of v) this.bytes.push(b);
		return this;
	}
}
