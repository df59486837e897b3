/* The points of sixteen slots or of what is left of them; x is NULL if they do not
 * ascend from next on, below the limit. */
HELPER(LEVEL) group V(checked_group)(const columns *c, const uint32_t *slots, int64_t left, uint32_t next, et_block *room) {
	if (left >= ET_BLOCK) {
		int run = slots[0] >= next && (uint64_t)slots[0] + ET_BLOCK <= c->limit;
		for (int i = 0; i < ET_BLOCK; i += V(LANES))
			run &= V(is_run)(slots + i, slots[0] + (uint32_t)i);
		if (run)
			return group_at(c, slots[0]);
		left = ET_BLOCK;
	}
	if (!ascend(slots, left, next, c->limit))
		return (group){NULL, NULL, NULL};
	return gather(c, slots, left, room);
}

/* The same for slots that ascend. */
HELPER(LEVEL) group V(known_group)(const columns *c, const uint32_t *slots, int64_t left, et_block *room) {
	if (left >= ET_BLOCK && slots[ET_BLOCK - 1] - slots[0] == ET_BLOCK - 1)
		return group_at(c, slots[0]);
	return gather(c, slots, left < ET_BLOCK ? left : ET_BLOCK, room);
}

KERNEL(LEVEL) int32_t CAT(measure_, LEVEL)(const columns *c, const uint32_t *slots, int64_t n, float *box) {
	V(f) lo[3], hi[3];
	int nan = 0;
	uint32_t next = 0;
	for (int a = 0; a < 3; a++) {
		lo[a] = V(set1)(3.40282347e+38f);
		hi[a] = V(set1)(-3.40282347e+38f);
	}
	for (int64_t i = 0; i < n; i += ET_BLOCK) {
		et_block room;
		const int64_t last = n - i < ET_BLOCK ? n - 1 : i + ET_BLOCK - 1;
		const group g = V(checked_group)(c, slots + i, n - i, next, &room);
		if (!g.x)
			return 0;
		next = slots[last] + 1;
		for (int l = 0; l < ET_BLOCK; l += V(LANES)) {
			const V(f) x = V(load)(g.x + l), y = V(load)(g.y + l), z = V(load)(g.z + l);
			nan |= V(either_nan)(x, y) | V(either_nan)(z, z);
			lo[0] = V(lesser)(x, lo[0]);
			lo[1] = V(lesser)(y, lo[1]);
			lo[2] = V(lesser)(z, lo[2]);
			hi[0] = V(greater)(x, hi[0]);
			hi[1] = V(greater)(y, hi[1]);
			hi[2] = V(greater)(z, hi[2]);
		}
	}
	int finite = !nan;
	for (int a = 0; a < 3; a++) {
		float lows[V(LANES)], highs[V(LANES)];
		V(store)(lows, lo[a]);
		V(store)(highs, hi[a]);
		float low = lows[0], high = highs[0];
		for (int l = 1; l < V(LANES); l++) {
			low = lows[l] < low ? lows[l] : low;
			high = highs[l] > high ? highs[l] : high;
		}
		finite &= low >= -3.40282347e+38f && high <= 3.40282347e+38f;
		box[a] = low + 0.0f; /* makes -0 into +0 */
		box[3 + a] = high + 0.0f;
	}
	return finite;
}

/* The numbers of the cells, as native.Grid.Number gives them: a t that is not
 * positive, or NaN, is in cell 0, and one beyond the grid in the last. */
KERNEL(LEVEL) int32_t CAT(number_, LEVEL)(const et_grid *grid, const columns *c, const uint32_t *slots, int64_t n,
                                          uint32_t *counts, uint32_t *cell_of) {
	V(f) min[3], inv[3], top[3];
	const V(f) zero = V(set1)(0.0f);
	const V(u) nx = V(set1u)((uint32_t)grid->n[0]), ny = V(set1u)((uint32_t)grid->n[1]);
	uint32_t next = 0;
	for (int a = 0; a < 3; a++) {
		min[a] = V(set1)(grid->min[a]);
		inv[a] = V(set1)(grid->inv[a]);
		top[a] = V(set1)(below(grid->n[a]));
	}
	for (int64_t i = 0; i < n; i += ET_BLOCK) {
		et_block room;
		uint32_t few[ET_BLOCK];
		const int64_t left = n - i < ET_BLOCK ? n - i : ET_BLOCK;
		uint32_t *const cells = left == ET_BLOCK ? cell_of + i : few;
		const group g = V(checked_group)(c, slots + i, n - i, next, &room);
		if (!g.x)
			return 0;
		next = slots[i + left - 1] + 1;
		for (int l = 0; l < ET_BLOCK; l += V(LANES)) {
			const V(f) tx = V(mul)(V(sub)(V(load)(g.x + l), min[0]), inv[0]);
			const V(f) ty = V(mul)(V(sub)(V(load)(g.y + l), min[1]), inv[1]);
			const V(f) tz = V(mul)(V(sub)(V(load)(g.z + l), min[2]), inv[2]);
			const V(u) cx = V(cell)(V(lesser)(V(greater)(tx, zero), top[0]));
			const V(u) cy = V(cell)(V(lesser)(V(greater)(ty, zero), top[1]));
			const V(u) cz = V(cell)(V(lesser)(V(greater)(tz, zero), top[2]));
			V(storeu)(cells + l, V(flatten)(V(flatten)(cz, ny, cy), nx, cx));
		}
		for (int64_t l = 0; l < left; l++) {
			counts[cells[l]]++;
			cell_of[i + l] = cells[l];
		}
	}
	return 1;
}

/* counts[i] becomes the sum of those before it. */
KERNEL(LEVEL) void CAT(accumulate_, LEVEL)(uint32_t *counts, int64_t n) {
	V(u) carry = V(set1u)(0);
	int64_t i = 0;
	for (; i + V(LANES) <= n; i += V(LANES))
		V(storeu)(counts + i, V(scan)(V(loadu)(counts + i), &carry));
	uint32_t sums[V(LANES)];
	V(storeu)(sums, carry);
	for (; i < n; i++) {
		const uint32_t count = counts[i];
		counts[i] = sums[0];
		sums[0] += count;
	}
}

/* Each point goes to its cell as one record, which takes one store and touches
 * one cache line: four columns would take four of each. */
KERNEL(LEVEL) void CAT(scatter_, LEVEL)(const columns *c, const uint32_t *slots, int64_t n, uint32_t *cursors,
                                        const uint32_t *cell_of, record *to) {
	for (int64_t i = 0; i < n; i += ET_BLOCK) {
		et_block room;
		record woven[ET_BLOCK];
		const group g = V(known_group)(c, slots + i, n - i, &room);
		const uint32_t *const s = n - i < ET_BLOCK ? room.slot : slots + i;
		const int left = n - i < ET_BLOCK ? (int)(n - i) : ET_BLOCK;
		for (int l = 0; l < ET_BLOCK; l += V(LANES))
			V(weave)(woven + l, V(load)(g.x + l), V(load)(g.y + l), V(load)(g.z + l), V(loadu)(s + l));
		for (int l = 0; l < left; l++)
			to[cursors[cell_of[i + l]]++] = woven[l];
	}
}

/* Turns sixteen records into a block, in place. */
KERNEL(LEVEL) void CAT(transpose_, LEVEL)(et_block *blocks, int64_t n) {
	enum { PARTS = ET_BLOCK / V(LANES) };
	for (int64_t i = 0; i < n; i++) {
		const record *const from = (const record *)(const void *)(blocks + i);
		V(f) x[PARTS], y[PARTS], z[PARTS];
		V(u) slot[PARTS];
		for (int p = 0; p < PARTS; p++)
			V(unweave)(from + p * V(LANES), &x[p], &y[p], &z[p], &slot[p]);
		for (int p = 0; p < PARTS; p++) {
			V(store)(blocks[i].x + p * V(LANES), x[p]);
			V(store)(blocks[i].y + p * V(LANES), y[p]);
			V(store)(blocks[i].z + p * V(LANES), z[p]);
			V(storeu)(blocks[i].slot + p * V(LANES), slot[p]);
		}
	}
}
