// Follows what clients in Go were sent by a server, for TestJavaScriptFollows: a JSON object a line on stdin. Frames have hexadecimal digits.

import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { Client, FrameError } from './client.js';

const clients = new Map();
let frames = 0, taken = 0, refused = 0, line = 0;

/** The state of a client as the Go test writes it. */
function text(c) {
	const s = c.state;
	if (!s) return 'none';
	const list = (v) => [...v].join(' '), lanes = s.lanes.map((q, k) => list(q.subarray(0, k < s.schema.publics ? s.count : s.own.length)));
	const left = s.left.map((e) => `${e.slot} ${e.id} ${e.dead}`);
	return [s.tick, s.at, list(s.slots.subarray(0, s.count)), list(s.ids.subarray(0, s.count)), ...lanes, list(s.own), list(s.jumped), list(s.entered), left.join(', ')].join('; ');
}

/** Takes a frame, and returns 'taken', 'ignored' or 'refused'. */
function receive(c, frame) {
	try {
		const taken = c.receive(Uint8Array.from(Buffer.from(frame, 'hex')));
		return taken && !frame.startsWith('07') ? 'taken' : 'ignored'; // a Pong leads to no state
	} catch (err) {
		assert.ok(err instanceof FrameError, err.stack);
		return 'refused';
	}
}

for await (const input of createInterface({ input: process.stdin })) {
	const { Client: number, Ordered: ordered, Connect: connect, Frame: frame, Result: result, State: state } = JSON.parse(input);
	line++;
	if (!clients.has(number)) clients.set(number, new Client({ ordered, send: () => {} }));
	const c = clients.get(number);
	if (connect) {
		c.hello();
		continue;
	}
	const got = receive(c, frame), where = `line ${line}, client ${number}, ordered ${ordered}, frame ${frame}`;
	if (got === 'taken' || result === 'taken') assert.equal(got, result, where); // a malformed frame may be ignored before its fault is found
	assert.equal(text(c), state, where);
	frames++;
	taken += got === 'taken';
	refused += got === 'refused';
}
console.log(JSON.stringify({ Frames: frames, Taken: taken, Refused: refused }));
