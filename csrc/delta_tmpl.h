#include "quantise_lanes.h"
#include "replica.h"

/* What the differences of a lane are shifted by. */
typedef struct {
	V(shift) above; /* bits of an int32 above those of the lane */
	V(shift) rest;  /* above its field, if the field is shifted to the top */
	V(shift) down;  /* from the top to the place of the field */
} V(field);

typedef struct {
	const uint32_t *now, *base, *previous; /* row i of the first lane, and stride from one lane to the next */
	int64_t stride;
} V(states);

typedef struct {
	V(u) record, changed, wide; /* the last two are not 0 in lanes with the bit */
} V(difference);

/* predicted is a constant in each call: whether there is a previous state. */
HELPER(LEVEL) V(difference) differ(V(states) s, int64_t i, const V(field) *fields, int32_t lanes, int predicted) {
	const V(u) zero = V(set1u)(0);
	V(difference) all = {zero, zero, zero};
	for (int32_t l = 0; l < lanes; l++, i += s.stride) {
		const V(field) f = fields[l];
		const V(u) base = V(loadu)(s.base + i);
		V(u) d = V(subu)(V(loadu)(s.now + i), base);
		if (predicted)
			d = V(subu)(d, V(subu)(base, V(loadu)(s.previous + i)));
		d = V(sar)(V(shl)(d, f.above), f.above);
		const V(u) top = V(shl)(d, f.rest);
		all.changed = V(oru)(all.changed, d);
		all.wide = V(oru)(all.wide, V(xoru)(d, V(sar)(top, f.rest)));
		all.record = V(oru)(all.record, V(shr)(top, f.down));
	}
	return all;
}

HELPER(LEVEL) uint64_t nonzero(V(u) a) { return V(nequ)(a, V(set1u)(0)); }

/* The last rows, fewer than a vector: those after them are zeros in each state. */
HELPER(LEVEL) V(difference) differ_some(V(states) s, int64_t i, int64_t rows, const V(field) *fields, int32_t lanes, int predicted) {
	uint32_t now[8 * V(LANES)] = {0}, base[8 * V(LANES)] = {0}, previous[8 * V(LANES)] = {0};
	for (int32_t l = 0; l < lanes; l++) {
		const size_t size = (size_t)rows * sizeof *now;
		memcpy(now + l * V(LANES), s.now + i + l * s.stride, size);
		memcpy(base + l * V(LANES), s.base + i + l * s.stride, size);
		if (predicted)
			memcpy(previous + l * V(LANES), s.previous + i + l * s.stride, size);
	}
	return differ((V(states)){now, base, previous, V(LANES)}, 0, fields, lanes, predicted);
}

HELPER(LEVEL) void each_difference(V(states) s, int64_t n, const V(field) *fields, int32_t lanes, int predicted, uint32_t *records,
                                   uint64_t *changed, uint64_t *wide) {
	for (int64_t word = 0; word < (n + 63) / 64; word++) {
		const int64_t first = 64 * word, end = n - first < 64 ? n : first + 64;
		uint64_t any = 0, far = 0;
		int64_t i = first;
		for (; i + V(LANES) <= end; i += V(LANES)) {
			const V(difference) d = differ(s, i, fields, lanes, predicted);
			V(storeu)(records + i, d.record);
			any |= nonzero(d.changed) << (i - first);
			far |= nonzero(d.wide) << (i - first);
		}
		if (i < end) {
			const V(difference) d = differ_some(s, i, end - i, fields, lanes, predicted);
			uint32_t some[V(LANES)];
			V(storeu)(some, d.record);
			memcpy(records + i, some, (size_t)(end - i) * sizeof *some);
			any |= nonzero(d.changed) << (i - first);
			far |= nonzero(d.wide) << (i - first);
		}
		changed[word] = any;
		wide[word] = far;
	}
}

KERNEL(void, delta, const uint32_t *arena, et_delta_shape d, uint32_t *records, uint64_t *changed, uint64_t *wide, int64_t n) {
	V(field) fields[8];
	uint32_t to = 0;
	for (int32_t l = 0; l < d.lanes; l++) {
		to += d.width[l];
		fields[l] = (V(field)){V(shifts)(32u - d.bits[l]), V(shifts)(32u - d.width[l]), V(shifts)(32u - to)};
	}
	const V(states) s = {arena + d.now, arena + d.base, d.previous < 0 ? NULL : arena + d.previous, d.stride};
	if (s.previous)
		each_difference(s, n, fields, d.lanes, 1, records, changed, wide);
	else
		each_difference(s, n, fields, d.lanes, 0, records, changed, wide);
}

#ifdef DISPATCH
void et_delta(int32_t level, const int32_t *arena, et_delta_shape d, uint32_t *records, uint64_t *changed, uint64_t *wide, int64_t n) {
	DISPATCH(level, delta, (const uint32_t *)arena, d, records, changed, wide, n);
}
#endif
