/* The lanes of parts that have any of some bits. */
HELPER(LEVEL) V(mask) CAT(having_, LEVEL)(V(u) parts, uint32_t bits) { return V(anyu)(parts, V(set1u)(bits)); }

/* The softness of springs of a frequency in Hz and a damping ratio: see soften and spring in
 * package native/rigid. */
typedef struct {
	V(f) rate, mass, leak;
} CAT(softness_, LEVEL);

HELPER(LEVEL) CAT(softness_, LEVEL) CAT(spring_, LEVEL)(const joint_sources *s, V(f) hertz, V(f) damping) {
	const V(f) stiffest = V(set1)(1e6f), one = V(set1)(1.0f), h = V(set1)(s->h);
	const V(f) w = MUL(V(set1)(6.283185307179586f), V(min)(hertz, stiffest)), hw = MUL(h, w);
	const V(f) c = ADD(MUL(V(set1)(2.0f), V(min)(damping, stiffest)), hw), stiff = MUL(hw, c);
	const V(f) leak = DIV(one, ADD(one, stiff)), mass = MUL(stiff, leak);
	const V(f) rate = V(pick)(mass, ZERO, DIV(w, c), ZERO);
	const CAT(softness_, LEVEL) soft = {
		V(pick)(hertz, ZERO, rate, V(set1)(s->rate)),
		V(pick)(hertz, ZERO, mass, V(set1)(s->mass)),
		V(pick)(hertz, ZERO, leak, V(set1)(s->impulse)),
	};
	return soft;
}

/* Fills lanes i and on of a drive from rows of et_drive and et_drive_impulse, whose parts are those
 * of a linear one; returns the lanes with a rigid spring. */
HELPER(LEVEL) V(mask) CAT(fill_drive_, LEVEL)(et_block_drive *d, uint32_t i, const V(f) from[8], const V(f) old[4],
                                              V(u) parts, const joint_sources *s) {
	const V(f) infinity = V(set1)(__builtin_inff()), h = V(set1)(s->h);
	const V(mask) spring = CAT(having_, LEVEL)(parts, ET_SOFT);
	const CAT(softness_, LEVEL) soft = CAT(spring_, LEVEL)(s, from[1], from[2]);
	V(store)(d->target + i, from[0]);
	V(store)(d->rate + i, V(keep)(soft.rate, spring));
	V(store)(d->mass + i, V(keep)(soft.mass, spring));
	V(store)(d->leak + i, V(keep)(soft.leak, spring));
	V(store)(d->max_spring + i, V(keep)(V(pick)(from[3], ZERO, MUL(from[3], h), infinity), spring));
	V(store)(d->spring + i, V(keep)(old[0], spring));

	const V(mask) motor = CAT(having_, LEVEL)(parts, ET_MOTOR), limits = CAT(having_, LEVEL)(parts, ET_LIMITS);
	V(store)(d->speed + i, V(keep)(from[4], motor));
	V(store)(d->max_motor + i, V(keep)(MUL(from[5], h), motor));
	V(store)(d->motor + i, V(keep)(old[1], motor));
	V(store)(d->lower + i, V(select)(limits, from[6], V(negate)(infinity)));
	V(store)(d->upper + i, V(select)(limits, from[7], infinity));
	V(store)(d->lower_impulse + i, V(keep)(old[2], limits));
	V(store)(d->upper_impulse + i, V(keep)(old[3], limits));
	return spring & (V(mask))~V(lt)(ZERO, from[1]);
}

/* Makes the softness of a drive that of a point: returns the lanes that are rigid. */
HELPER(LEVEL) V(mask) CAT(fill_point_drive_, LEVEL)(et_block_drive *d, uint32_t i, V(u) parts, V(mask) rigid) {
	const V(mask) drag = CAT(having_, LEVEL)(parts, ET_DRAG), soft = CAT(having_, LEVEL)(parts, ET_SOFT);
	const V(f) leak = V(load)(d->leak + i), mass = V(load)(d->mass + i), most = V(load)(d->max_spring + i);
	const V(f) more = DIV(leak, V(max)(mass, V(set1)(1e-12f)));
	V(store)(d->rate + i, V(select)(drag, ZERO, V(load)(d->rate + i)));
	V(store)(d->leak + i, V(select)(drag, ZERO, V(select)(soft, more, leak)));
	V(store)(d->max_spring + i, V(select)(soft, most, V(set1)(__builtin_inff())));
	return (rigid | (V(mask))~soft) & (V(mask))~drag;
}

/* Angles less the nearest multiples of 2 pi. */
HELPER(LEVEL) V(f) CAT(wrapped_, LEVEL)(V(f) a) {
	const V(f) rounding = V(set1)(12582912.0f);
	const V(f) turns = SUB(ADD(MUL(a, V(set1)(0.15915494309189535f)), rounding), rounding);
	return SUB(a, MUL(turns, V(set1)(6.283185307179586f)));
}

/* Fills in where anchors, centres and axis are, the impulses of rows, and the relative angle. */
HELPER(LEVEL) void CAT(fill_place_, LEVEL)(et_joint_block *b, uint32_t i, const joint_sources *s, const joint_lanes *l) {
	const float *const words = (const float *)(const void *)s->joints;
	const V(u) body_a = V(loadu)(b->a + i), body_b = V(loadu)(b->b + i);
	V(f) anchors[4], rest[8];
	V(rows4)(words + 4, l->joint + i, 40, anchors);
	V(rows8)(words + 24, l->joint + i, 40, rest);
	const V(f) cos_a = V(fetch)(s->cos, body_a), sin_a = V(fetch)(s->sin, body_a);
	const V(f) cos_b = V(fetch)(s->cos, body_b), sin_b = V(fetch)(s->sin, body_b);
	V(store)(b->ax + i, CROSS(cos_a, sin_a, anchors[1], anchors[0]));
	V(store)(b->ay + i, DOT(sin_a, cos_a, anchors[0], anchors[1]));
	V(store)(b->bx + i, CROSS(cos_b, sin_b, anchors[3], anchors[2]));
	V(store)(b->by + i, DOT(sin_b, cos_b, anchors[2], anchors[3]));
	V(store)(b->gap_x + i, SUB(V(fetch)(s->x, body_b), V(fetch)(s->x, body_a)));
	V(store)(b->gap_y + i, SUB(V(fetch)(s->y, body_b), V(fetch)(s->y, body_a)));
	V(store)(b->x + i, rest[4]);
	V(store)(b->y + i, rest[5]);
	if (has_line(b->kind)) {
		V(store)(b->across + i, rest[4]);
		V(store)(b->axis_x + i, CROSS(cos_a, sin_a, rest[1], rest[0]));
		V(store)(b->axis_y + i, DOT(sin_a, cos_a, rest[0], rest[1]));
	}
	if (has_lock(b->kind) || b->parts & (ET_TURN_SPRING | ET_TURN_LIMITS)) {
		const V(f) angle = SUB(V(fetch)(s->angle, body_b), V(fetch)(s->angle, body_a));
		V(store)(b->angle + i, CAT(wrapped_, LEVEL)(SUB(angle, rest[2])));
	}
}

HELPER(LEVEL) void CAT(fill_drives_, LEVEL)(et_joint_block *b, uint32_t i, V(mask) used, const joint_sources *s,
                                            const joint_lanes *l) {
	const float *const words = (const float *)(const void *)s->joints;
	const V(u) parts = V(loadu)(l->parts + i);
	V(f) from[8], old[4];
	if (b->parts & (ET_LINEAR | ET_DRAG)) {
		V(rows8)(words + 8, l->joint + i, 40, from);
		V(rows4)(words + 32, l->joint + i, 40, old);
		V(mask) rigid = CAT(fill_drive_, LEVEL)(&b->linear, i, from, old, parts, s);
		if (has_point(b->kind))
			rigid = CAT(fill_point_drive_, LEVEL)(&b->linear, i, parts, rigid);
		b->rigid |= (uint32_t)(rigid & used) << i;
	}
	V(rows4)(words + 36, l->joint + i, 40, old);
	if (b->parts & ET_TURN) {
		uint32_t turn[ET_LANES];
		for (int k = 0; k < V(LANES); k++)
			turn[k] = l->parts[i + (uint32_t)k] >> ET_TURN_SHIFT;
		V(rows8)(words + 16, l->joint + i, 40, from);
		const V(mask) rigid = CAT(fill_drive_, LEVEL)(&b->angular, i, from, old, V(loadu)(turn), s);
		b->rigid_turn |= (uint32_t)(rigid & used) << i;
	} else if (has_lock(b->kind)) {
		V(store)(b->angular.spring + i, old[0]);
	}
}

HELPER(LEVEL) void CAT(fill_joints_, LEVEL)(et_joint_block *b, uint32_t i, const joint_sources *s, const joint_lanes *l) {
	const V(mask) used = V(first)(b->joints > i ? b->joints - i : 0);
	const V(u) body_a = V(loadu)(b->a + i), body_b = V(loadu)(b->b + i);
	const V(f) ia = V(fetch)(s->inv_inertia, body_a), ib = V(fetch)(s->inv_inertia, body_b), inverse = ADD(ia, ib);
	V(f) a[4], c[4];
	V(store)(b->inv_ia + i, ia);
	V(store)(b->inv_ib + i, ib);
	V(store)(b->turn_mass + i, V(pick)(inverse, ZERO, DIV(V(set1)(1.0f), inverse), ZERO));
	V(rows4)((const float *)(const void *)s->states, b->a + i, 8, a);
	V(rows4)((const float *)(const void *)s->states, b->b + i, 8, c);
	b->dynamic_a |= (uint32_t)(used & V(lt)(ZERO, a[3])) << i;
	b->dynamic_b |= (uint32_t)(used & V(lt)(ZERO, c[3])) << i;
	CAT(fill_place_, LEVEL)(b, i, s, l);
	CAT(fill_drives_, LEVEL)(b, i, used, s, l);
}

KERNEL(LEVEL) void CAT(prepare_joints_, LEVEL)(et_joint_block *blocks, const uint32_t *joint, int64_t n,
                                               const joint_sources *s) {
	for (et_joint_block *b = blocks; b < blocks + n; b++, joint += ET_LANES) {
		joint_lanes l;
		look_up(s, joint, b, &l);
		for (uint32_t i = 0; i < ET_LANES; i += V(LANES))
			CAT(fill_joints_, LEVEL)(b, i, s, &l);
	}
}
