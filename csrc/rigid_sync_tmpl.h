/* The sign bit of each lane. */
HELPER(LEVEL) V(mask) CAT(signs_, LEVEL)(V(f) a) { return V(nequ)(V(asu)(a), V(asu)(V(abs)(a))); }

/* Whether the slots of LANES bodies do not follow each other, one by one; no slot
 * follows the last one. */
HELPER(LEVEL) V(mask) CAT(scattered_, LEVEL)(const uint32_t *slot) {
	return V(nequ)(V(loadu)(slot), V(ramp)(slot[0])) | (slot[0] > no_slot - V(LANES));
}

HELPER(LEVEL) void CAT(put_some_, LEVEL)(const syncing *s, int64_t i) {
	const V(f) c = V(load)(s->cos + i), v = V(load)(s->sin + i), one = V(set1)(1.0f);
	const V(f) root = V(sqrt)(MUL(V(set1)(0.5f), ADD(one, V(abs)(c))));
	const V(f) half = DIV(v, ADD(root, root));
	const V(f) far = V(select)(CAT(signs_, LEVEL)(v), V(negate)(root), root);
	const V(f) sin = V(pick)(ZERO, c, far, half), cos = V(pick)(ZERO, c, V(abs)(half), root);
	const V(mask) in = V(nequ)(V(loadu)(s->slot + i), V(set1u)(no_slot));
	V(storesome)(s->kept[0] + i, in, V(load)(s->x + i));
	V(storesome)(s->kept[1] + i, in, V(load)(s->y + i));
	V(storesome)(s->kept[2] + i, in, s->flip ? SUB(ZERO, sin) : sin);
	V(storesome)(s->kept[3] + i, in, cos);
	if (CAT(scattered_, LEVEL)(s->slot + i)) {
		scatter(s, i, i + V(LANES));
		return;
	}
	for (int k = 0; k < 4; k++)
		V(store)(s->to[k] + s->slot[i], V(load)(s->kept[k] + i));
	for (int k = 4; k < 6; k++)
		V(store)(s->to[k] + s->slot[i], ZERO);
}

KERNEL(LEVEL) void CAT(put_, LEVEL)(const syncing *s, int64_t lo, int64_t hi) {
	int64_t i = lo;
	for (; i + V(LANES) <= hi; i += V(LANES))
		CAT(put_some_, LEVEL)(s, i);
	if (V(LANES) > 1 && i < hi)
		put_c(s, i, hi);
}

/* The lanes of LANES bodies, whose slots follow each other, that differ. */
HELPER(LEVEL) V(mask) CAT(differ_some_, LEVEL)(const differing *d, int64_t i) {
	V(mask) differ = 0;
	for (int k = 0; k < 4; k++)
		differ |= V(nequ)(V(loadu)(d->to[k] + d->slot[i]), V(loadu)(d->kept[k] + i));
	for (int k = 4; k < 6; k++)
		differ |= V(nequ)(V(loadu)(d->to[k] + d->slot[i]), V(set1u)(0));
	const V(f) x = V(asf)(V(loadu)(d->kept[0] + i));
	return differ & ~V(unordered)(x, x);
}

KERNEL(LEVEL) int64_t CAT(differs_, LEVEL)(const differing *d, int64_t lo, int64_t hi) {
	int64_t i = lo;
	for (; V(LANES) > 1 && i + V(LANES) <= hi; i += V(LANES)) {
		if (CAT(scattered_, LEVEL)(d->slot + i)) {
			const int64_t at = first_differing(d, i, i + V(LANES));
			if (at < i + V(LANES))
				return at;
		} else {
			const uint32_t differ = (uint32_t)CAT(differ_some_, LEVEL)(d, i);
			if (differ)
				return i + __builtin_ctz(differ);
		}
	}
	return first_differing(d, i, hi);
}
