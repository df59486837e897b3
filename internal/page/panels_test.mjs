// Tests of the texts and the sums of the panels, run by node: `node internal/page/panels_test.mjs`.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** The page's scripts share one scope: load returns some of its names. */
function load(names) {
	const scripts = ['base/base.js', 'inspect/text.js', 'inspect/timeline.js'].map(read).join('\n');
	return new Function('document', `"use strict";${scripts}\nreturn {${names}};`)({ getElementById: () => null });
}

const p = load('seconds, bytesText, percent, valueText, numeric, clean, errorText, stateWords, filterWords, whereParts, componentsOf, nameInWhere, rowsInView, scrollToRow, newSeeker, timeText');

test('spans of time', () => {
	assert.equal(p.seconds(0), '0.0 s');
	assert.equal(p.seconds(3210), '3.2 s');
	assert.equal(p.seconds(59_949), '59.9 s');
	assert.equal(p.seconds(59_950), '1 min 00 s');
	assert.equal(p.seconds(245_000), '4 min 05 s');
	assert.equal(p.timeText(1234, 5678, 1 / 60), 'tick 1,234 of 5,678 · 20.6 s');
	assert.equal(p.timeText(7, -1, 0), 'tick 7');
	assert.equal(p.timeText(-1, -1, 0), 'no tick yet');
});

test('values', () => {
	assert.equal(p.valueText(0.1), '0.1');
	assert.equal(p.valueText(1 / 3), '0.333333');
	assert.equal(p.valueText(16777217), '16777217');
	assert.equal(p.valueText(-0.00000012345678), '-1.23457e-7');
	assert.equal(p.valueText('9007199254740993'), '9007199254740993');
	assert.equal(p.valueText('NaN'), 'NaN');
	assert.equal(p.valueText(null), '—');
	assert.equal(p.valueText(undefined), '—');
	assert.equal(p.numeric('-Inf'), -Infinity);
	assert.equal(p.numeric('+Inf'), Infinity);
	assert.ok(Number.isNaN(p.numeric('NaN')));
	assert.equal(p.bytesText(999), '999 B');
	assert.equal(p.bytesText(120_000), '120.0 kB');
	assert.equal(p.percent(0.0449), '4.5 %');
	assert.equal(p.percent(0.2), '20 %');
});

test('texts of others are cut, and turn nothing around them', () => {
	assert.equal(p.clean('x'.repeat(10_000)).length, 201);
	assert.equal(p.clean('a\u202eb\u2067c\u0000d\ne'), 'a\ufffdb\ufffdc\ufffdd\ufffde');
	assert.equal(p.clean('שלום <b>'), 'שלום <b>');
	const cut = p.clean('x'.repeat(199) + '😀😀'); // the cut would part a pair of surrogates
	assert.equal(cut, 'x'.repeat(199) + '…');
});

test('errors read without the package and the class', () => {
	assert.equal(p.errorText('inspector: where[0] = "hp >": out of range: no number after >'), 'where[0] = "hp >": no number after >');
	assert.equal(p.errorText('inspector: tick = 7: out of range'), 'tick = 7: out of range');
	assert.equal(p.errorText('replay: tick 3: the log is torn'), 'tick 3: the log is torn');
	assert.equal(p.errorText('The server answers with status 500.'), 'The server answers with status 500.');
});

test('states', () => {
	const words = (status, link = 'connected', lost = 0) => p.stateWords(status, link, lost);
	assert.deepEqual(words({ state: 'running' }), { kind: 'good', text: 'running' });
	assert.deepEqual(words({ state: 'stalled', age_ms: 3210 }), { kind: 'warn', text: 'stalled: no tick for 3.2 s' });
	assert.deepEqual(words({ state: 'failed', error: 'x' }), { kind: 'bad', text: 'failed' });
	assert.deepEqual(words({ state: 'paused' }), { kind: 'soft', text: 'paused' });
	assert.deepEqual(words({ state: 'ended' }), { kind: 'soft', text: 'ended' });
	assert.deepEqual(words({ state: 'running' }, 'reconnecting', 900), { kind: 'warn', text: 'reconnecting' });
	assert.deepEqual(words({ state: 'running' }, 'gone', 65_000), { kind: 'bad', text: 'gone: no answer for 1 min 05 s' });
	assert.equal(words(null, 'connecting').text, 'connecting');
	assert.equal(words({ state: '<script>' }).text, '<script>'); // a text, as always
});

test('filters', () => {
	assert.deepEqual(p.whereParts(' hp > 3 and vel[1] is nan;x<2 && y == 1 '), ['hp > 3', 'vel[1] is nan', 'x<2', 'y == 1']);
	assert.deepEqual(p.whereParts('  '), []);
	assert.deepEqual(p.whereParts('band > 3 and sand < 2'), ['band > 3', 'sand < 2']);
	assert.equal(p.filterWords(100, 100, [], [], []), '100 entities');
	assert.equal(p.filterWords(1, 1, [], [], []), '1 entity');
	assert.equal(p.filterWords(3, 1000, ['a', 'b'], ['c', 'd'], []), '3 of 1,000 entities with a and b, without c or d');
	assert.equal(p.filterWords(3, 1000, [], [], ['hp > 3', 'x < 2']), '3 of 1,000 entities where hp > 3, x < 2');
});

// Names that hold what conditions use as signs, and parts of each other.
const hostile = ['hp', 'hp,max', '-hp', '!hp', 'hp[0]', 'hp[0][0]', 'vel', 'vel[1]', 'a[b', 'rock and roll', 'hp > 3', 'x is nan', 'a;b', 'a && b', '"', '"hp"', '\\', '\\"', ' hp', 'hp ', ' ', '\n', '\u0000', '\u202eneg', '\u00a0x', '__proto__', 'ü', '漢字', '😀', '[1]', '[', 'and'];

test('conditions name any column', () => {
	assert.equal(p.nameInWhere('hp'), 'hp');
	assert.equal(p.nameInWhere('position.x'), 'position.x');
	assert.equal(p.nameInWhere('vel[1]'), 'vel[1]');
	assert.equal(p.nameInWhere('rock and roll'), '"rock and roll"');
	assert.equal(p.nameInWhere('a b[1]'), '"a b"[1]');
	assert.equal(p.nameInWhere('\u202e"'), '"\\u202e\\""');
	for (const a of hostile) {
		for (const b of hostile) {
			for (const [x, y] of [[a, b], [`${a}[1]`, `${b}[0]`]]) {
				const parts = [`${p.nameInWhere(x)} > 3`, `${p.nameInWhere(y)} is nan`];
				for (const between of [' and ', '; ', ' && ', ' AND ']) assert.deepEqual(p.whereParts(parts.join(between)), parts, parts.join(between));
			}
		}
	}
	assert.deepEqual(p.whereParts('5" gun > 3 and hp > 2'), ['5" gun > 3', 'hp > 2']); // a quote within a name is a part of it
	assert.deepEqual(p.whereParts('"no end and hp > 2'), ['"no end', 'hp > 2']);
});

test('each component of a column has a name of its own', () => {
	const seen = new Map();
	for (const name of hostile) for (const components of [1, 2, 3]) {
		const names = p.componentsOf({ name, components });
		assert.equal(names.length, components);
		for (const n of names) {
			const of = /^(.*)\[(\d+)\]$/s.exec(n)?.slice(1) ?? [n, '0'];
			if (/\[\d+\]$/.test(n)) assert.deepEqual(of, [name, String(names.indexOf(n))], n); // the last index is that of the component
			else assert.equal(n, name);
			if (components === 2) {
				assert.ok(!seen.has(n), n);
				seen.set(n, name);
			}
		}
	}
});

const row = 27;

test('rows in view', () => {
	assert.deepEqual(p.rowsInView(0, 400, 0, row), { height: 0, first: 0, count: 0, offset: 0 });
	assert.deepEqual(p.rowsInView(0, 400, 3, row), { height: 81, first: 0, count: 3, offset: 0 });
	assert.deepEqual(p.rowsInView(270, 400, 1000, row), { height: 27_000, first: 10, count: 16, offset: 270 });
	for (const total of [1, 14, 15, 1000, 296_296, 1_000_000, 100_000_000]) {
		const { height } = p.rowsInView(0, 400, total, row), room = Math.max(0, height - 400);
		assert.ok(height <= 8e6);
		let last = 0;
		for (let i = 0; i <= 1000; i++) { // from the top to the end: no row is left out, and what is drawn covers the view
			const scroll = Math.min(room, room * i / 1000), seen = p.rowsInView(scroll, 400, total, row);
			assert.ok(seen.first >= last && seen.first + seen.count <= total, `${total} rows, ${scroll} px`);
			assert.ok(seen.offset <= scroll + 1e-6 && seen.offset > scroll - row - 1e-6);
			assert.ok(seen.first + seen.count === total || seen.offset + seen.count * row >= scroll + 400 - 1e-6);
			last = seen.first;
		}
		const end = p.rowsInView(room, 400, total, row);
		assert.equal(end.first + end.count, total);
		assert.ok(end.offset + end.count * row <= height + 1e-3 || height <= 400, 'the last row ends within the list');
	}
});

test('the scroll bar moves as little as a row needs', () => {
	for (const total of [5, 1000, 1_000_000]) {
		const { height } = p.rowsInView(0, 400, total, row), room = Math.max(0, height - 400);
		let scroll = 0;
		for (const index of [0, 1, 13, 14, 15, total - 1, total - 2, Math.floor(total / 2), 0]) {
			if (index >= total) continue;
			scroll = p.scrollToRow(index, scroll, 400, total, row);
			assert.ok(scroll >= 0 && scroll <= room + 1e-6);
			const seen = p.rowsInView(scroll, 400, total, row), top = seen.offset + (index - seen.first) * row - scroll;
			assert.ok(top >= -1e-3 && top + row <= 400 + 1e-3, `row ${index} of ${total} is at ${top}`);
			assert.equal(p.scrollToRow(index, scroll, 400, total, row), scroll);
		}
	}
});

test('of seeks that come while one is sent, the last is sent next', async () => {
	const sent = [];
	const seek = p.newSeeker(async (to) => {
		sent.push(to);
		await new Promise((done) => setTimeout(done, 5));
	}, 1);
	const first = seek(1);
	for (let to = 2; to <= 50; to++) seek(to);
	await first;
	assert.deepEqual(sent, [1, 50]);
	await seek(7);
	assert.deepEqual(sent, [1, 50, 7]);
});
