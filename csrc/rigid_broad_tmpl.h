/* Appends the pairs of a box with those at places [j, end), as far as columns are
 * not above last; returns the new fill. */
HELPER(LEVEL) int64_t CAT(compare_, LEVEL)(const V(box) *p, V(u) shape, const set *t, uint32_t j, uint32_t end,
                                           uint32_t last, uint32_t *a, uint32_t *b, int64_t fill) {
	while (j < end) {
		V(mask) hit = V(overlap)((const float *)(const void *)t->columns + j, t->stride, p);
		if (__builtin_expect(end - j < V(LANES), 0))
			hit &= V(first)(end - j);
		const uint32_t n = V(count)(hit);
		const V(u) other = V(packu)(V(loadu)(t->columns + SHAPE * t->stride + j), hit);
		const V(u) low = V(minu)(shape, other), high = V(subu)(V(addu)(shape, other), low);
		V(putfew)(a + fill, b + fill, low, high, n);
		fill += n;
		j += V(LANES);
		if (j < end && t->columns[BEGIN * t->stride + j] > last)
			break;
	}
	return fill;
}

KERNEL(LEVEL) uint32_t CAT(broad_sweep_, LEVEL)(const set *given_set, const rows *r, const et_layer *given,
                                                uint32_t from, found *to) {
	const et_layer l = *given;
	const set s = *given_set;
	const float *const bounds = (const float *)(const void *)s.columns;
	const uint32_t *const begin = s.columns + BEGIN * s.stride, *const until = s.columns + UNTIL * s.stride;
	uint32_t *const a = to->a, *const b = to->b;
	int64_t fill = to->fill;
	uint32_t row = row_of_place(r, &l, from), i = from;
	uint32_t end = r->start[row + 1], after = end, after_end = next_row(r, &l, row);
	for (; i < l.last && fill <= to->room; i++) {
		if (i == end) {
			end = r->start[++row + 1];
			after = end;
			after_end = next_row(r, &l, row);
		}
		const V(box) p = V(boxat)(bounds + i, s.stride);
		const V(u) shape = V(set1u)(s.columns[SHAPE * s.stride + i]);
		const uint32_t first = begin[i], last = until[i];
		fill = CAT(compare_, LEVEL)(&p, shape, &s, i + 1, end, last, a, b, fill);
		while (after + SKIP(V(LANES)) < after_end && begin[after + SKIP(V(LANES)) - 1] + l.span_x < first)
			after += SKIP(V(LANES));
		fill = CAT(compare_, LEVEL)(&p, shape, &s, after, after_end, last, a, b, fill);
		if (l.span_y <= 1)
			continue;
		const uint32_t above = row_of(&l, bounds[3 * s.stride + i]);
		for (uint32_t k = row + 1 + (after_end > end); k < l.row_last && r->number[k] <= above; k++)
			fill = CAT(compare_, LEVEL)(&p, shape, &s, r->start[k], r->start[k + 1], last, a, b, fill);
	}
	to->fill = fill;
	return i;
}

KERNEL(LEVEL) uint32_t CAT(broad_span_, LEVEL)(const set *s, const set *given, const rows *r, const et_layer *l,
                                               const et_layer *k, uint32_t from, found *to) {
	const set t = *given;
	const float *const bounds = (const float *)(const void *)s->columns;
	uint32_t *const a = to->a, *const b = to->b;
	int64_t fill = to->fill;
	uint32_t i = from;
	for (; i < l->last && fill <= to->room; i++) {
		const V(box) p = V(boxat)(bounds + i, s->stride);
		const V(u) shape = V(set1u)(s->columns[SHAPE * s->stride + i]);
		uint32_t j, end, last = UINT32_MAX;
		if (k->rows == 1) {
			const uint32_t first = column_of(k, bounds[i]);
			j = column_from(t.columns + BEGIN * t.stride, k, first - (first < k->span_x ? first : k->span_x));
			end = k->last;
			last = column_of(k, bounds[2 * s->stride + i]);
		} else {
			const row_range reached = rows_of(k, bounds[s->stride + i], bounds[3 * s->stride + i]);
			j = r->start[row_from(r, k, reached.first)];
			end = r->start[row_from(r, k, reached.last + 1)];
		}
		fill = CAT(compare_, LEVEL)(&p, shape, &t, j, end, last, a, b, fill);
	}
	to->fill = fill;
	return i;
}

KERNEL(LEVEL) uint32_t CAT(broad_cross_, LEVEL)(const set *s, const set *given, const rows *r, const uint32_t *directory,
                                                const et_layer *l, const et_layer *given_layer, uint32_t from,
                                                found *to) {
	const et_layer k = *given_layer;
	const set t = *given;
	const float *const bounds = (const float *)(const void *)s->columns;
	const uint32_t *const row_start = r->start, *const number = r->number, last_place = l->last;
	uint32_t *const a = to->a, *const b = to->b;
	int64_t fill = to->fill;
	uint32_t i = from;
	for (; i < last_place && fill <= to->room; i++) {
		const V(box) p = V(boxat)(bounds + i, s->stride);
		const V(u) shape = V(set1u)(s->columns[SHAPE * s->stride + i]);
		const row_range reached = rows_of(&k, bounds[s->stride + i], bounds[3 * s->stride + i]);
		const uint32_t begin = column_of(&k, bounds[i]), last = column_of(&k, bounds[2 * s->stride + i]);
		const uint32_t first = begin - (begin < k.span_x ? begin : k.span_x);
		const uint32_t *const places = directory + k.fine + (first >> k.column_shift);
		uint32_t row = directory[k.rough + (reached.first >> k.row_shift)];
		for (; row < k.row_last && number[row] <= reached.last; row++) {
			if (number[row] < reached.first)
				continue;
			const uint32_t j = places[(row - k.row_first) * k.width];
			fill = CAT(compare_, LEVEL)(&p, shape, &t, j, row_start[row + 1], last, a, b, fill);
		}
	}
	to->fill = fill;
	return i;
}

KERNEL(LEVEL) void CAT(broad_measure_, LEVEL)(const boxes *given, int64_t lo, int64_t n, const uint64_t *which,
                                              uint32_t *ids, et_summary *sum) {
	const boxes b = *given;
	const V(f) zero = V(set1)(0), inf = V(set1)(INF), minus_inf = V(set1)(-INF);
	V(f) min_x = inf, min_y = inf, max_x = minus_inf, max_y = minus_inf, smallest = inf;
	V(f) width = zero, height = zero, largest = zero;
	uint32_t count = 0;
	for (int64_t i = lo; i < n; i += V(LANES)) {
		V(f) x0, y0, x1, y1;
		if (n - i >= V(LANES)) {
			x0 = V(load)(b.x0 + i), y0 = V(load)(b.y0 + i), x1 = V(load)(b.x1 + i), y1 = V(load)(b.y1 + i);
		} else {
			float part[4][V(LANES)];
			for (int64_t k = 0; k < V(LANES); k++) {
				const int64_t at = i + k < n ? i + k : n - 1;
				part[0][k] = b.x0[at], part[1][k] = b.y0[at], part[2][k] = b.x1[at], part[3][k] = b.y1[at];
			}
			x0 = V(load)(part[0]), y0 = V(load)(part[1]), x1 = V(load)(part[2]), y1 = V(load)(part[3]);
		}
		const V(mask) in = V(proper)(x0, y0, x1, y1) & (V(mask))(which[i / 64] >> i % 64) & V(first)((uint32_t)(n - i));
		const V(f) w = V(sub)(x1, x0), h = V(sub)(y1, y0), size = V(max)(w, h);
		V(storeu)(ids + count, V(packu)(V(ramp)((uint32_t)i), in));
		count += V(count)(in);
		min_x = V(select)(in, V(min)(x0, min_x), min_x);
		min_y = V(select)(in, V(min)(y0, min_y), min_y);
		max_x = V(select)(in, V(max)(x1, max_x), max_x);
		max_y = V(select)(in, V(max)(y1, max_y), max_y);
		width = V(select)(in, V(max)(w, width), width);
		height = V(select)(in, V(max)(h, height), height);
		largest = V(select)(in, V(max)(size, largest), largest);
		smallest = V(select)(in, V(min)(size, smallest), smallest);
	}
	float lanes[8][V(LANES)];
	V(store)(lanes[0], min_x), V(store)(lanes[1], min_y), V(store)(lanes[2], max_x), V(store)(lanes[3], max_y);
	V(store)(lanes[4], width), V(store)(lanes[5], height), V(store)(lanes[6], smallest), V(store)(lanes[7], largest);
	*sum = (et_summary){count, 0, least_of(lanes[0], V(LANES)), least_of(lanes[1], V(LANES)), most_of(lanes[2], V(LANES)),
	                    most_of(lanes[3], V(LANES)), most_of(lanes[4], V(LANES)), most_of(lanes[5], V(LANES)),
	                    least_of(lanes[6], V(LANES)), most_of(lanes[7], V(LANES))};
}

KERNEL(LEVEL) int64_t CAT(broad_crowd_, LEVEL)(uint32_t *columns, int64_t stride, int64_t n, int64_t i,
                                               const uint64_t *agree, uint32_t most, uint32_t most_still,
                                               uint32_t *to) {
	const float *const x0 = (const float *)(const void *)columns;
	const V(box) p = V(boxat)(x0 + i, stride);
	const uint32_t *const shape = columns + SHAPE * stride, *const body = columns + BODY * stride;
	const uint32_t *const moves = columns + MOVES * stride, *const kind = columns + KIND * stride;
	uint32_t *const met = columns + (moves[i] ? MET_MOVING : MET_STILL) * stride;
	const V(u) own = V(set1u)(body[i]), own_moves = V(set1u)(moves[i]), one = V(set1u)(1);
	int64_t kept = 0;
	/* How many more pairs with boxes that move, and others, are kept, however many the other box has met. */
	uint32_t left = most, left_still = most_still;
	for (int64_t j = i + 1; j < n; j += V(LANES)) {
		V(mask) hit = V(overlap)(x0 + j, stride, &p) & V(first)((uint32_t)(n - j));
		if (!hit)
			continue;
		const V(u) others = V(loadu)(moves + j);
		hit &= V(nequ)(V(loadu)(body + j), own) & V(anyu)(V(oru)(others, own_moves), one);
		hit &= V(member)(agree + kind[i], V(keepu)(V(loadu)(kind + j), hit));
		const V(u) before = V(loadu)(met + j);
		const V(mask) moving = moves[i] ? hit & V(anyu)(others, one) : 0, still = hit & (V(mask))~moving;
		const V(mask) free = moving & (V(mask))lowest(moving, left);
		const V(mask) free_still = still & (V(mask))lowest(still, left_still);
		const V(mask) keep = free | free_still | (moving & V(gtu)(V(set1u)(most), before)) |
		                     (still & V(gtu)(V(set1u)(most_still), before));
		left -= V(count)(free);
		left_still -= V(count)(free_still);
		V(storeu)(met + j, V(addu)(before, V(keepu)(one, hit)));
		V(storeu)(to + kept, V(packu)(V(loadu)(shape + j), keep));
		kept += V(count)(keep);
	}
	return kept;
}
