// The clock of the server, as a client sees it.

const ANSWERS = 16; // of which the one with the least round trip counts

/**
 * The difference of two clocks, in ms. An answer to a Ping says between which two numbers it is. If an earlier answer excludes all that the
 * newest one allows, a clock has jumped, or stood still, in between: then the earlier one no longer counts. The estimate is that of the fastest
 * answer, moved into what the last two allow, if these agree: a jump that is too small to be noticed is within that.
 */
export class Clock {
	/** To add to the client's clock for the time since the server began; NaN before the first answer. */
	offset = NaN;
	/** Of the fastest answer; more if the last two leave more open: the error of the offset is at most half of it. */
	roundTrip = NaN;
	#answers = [];

	/** Takes the times of a Ping and its Pong: the client's at which they left and came, and between them those of the server. */
	answer(sent, arrived, left, came) {
		const roundTrip = Math.max(0, came - sent - (left - arrived)), offset = (arrived + left - sent - came) / 2;
		const a = { roundTrip, offset, least: offset - roundTrip / 2, most: offset + roundTrip / 2 };
		const agrees = (b) => b.least <= a.most && b.most >= a.least, last = this.#answers.at(-1);
		let { least, most } = a;
		if (last && agrees(last)) {
			least = Math.max(least, last.least);
			most = Math.min(most, last.most);
		}
		this.#answers = [...this.#answers.filter(agrees).slice(1 - ANSWERS), a];
		const fastest = this.#answers.reduce((a, b) => (b.roundTrip < a.roundTrip ? b : a));
		this.offset = Math.max(least, Math.min(fastest.offset, most));
		this.roundTrip = Math.max(fastest.roundTrip, 2 * (this.offset - least), 2 * (most - this.offset));
	}
}
