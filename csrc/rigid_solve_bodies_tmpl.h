#include "rigid_atan.h"

/* Runs a step for LANES bodies from body i on, and the rest in portable C. */
#define EACH_BODY(lo, hi, step, rest)                                  \
	do {                                                           \
		int64_t i = lo;                                        \
		for (; i + V(LANES) <= (hi); i += V(LANES))            \
			step;                                          \
		if (V(LANES) > 1 && i < (hi))                          \
			rest;                                          \
	} while (0)

KERNEL(LEVEL) void CAT(angles_, LEVEL)(const float *cos, const float *sin, float *out, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, V(store)(out + i, CAT(atan2_, LEVEL)(V(load)(sin + i), V(load)(cos + i))),
	          angles_c(cos, sin, out, i, hi));
}

KERNEL(LEVEL) void CAT(start_, LEVEL)(et_state *states, const float *vx, const float *vy, const float *w,
                                      const float *inv_mass, int64_t lo, int64_t hi) {
	V(f) row[8] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, V(set1)(1.0f), ZERO};
	EACH_BODY(lo, hi, (row[0] = V(load)(vx + i), row[1] = V(load)(vy + i), row[2] = V(load)(w + i),
	                   row[3] = V(load)(inv_mass + i), V(put8)((float *)(void *)&states[i], side_by_side, 8, row)),
	          start_c(states, vx, vy, w, inv_mass, i, hi));
}

/* 1 / (1 + h * damping) */
HELPER(LEVEL) V(f) CAT(damped_, LEVEL)(const float *damping, float h) {
	const V(f) one = V(set1)(1.0f);
	return DIV(one, ADD(one, MUL(V(set1)(h), V(load)(damping))));
}

/* The velocity v[0 and 1], of which the square of the length is given, shortened to a limit. */
HELPER(LEVEL) void CAT(shorten_, LEVEL)(V(f) v[2], V(f) square, float max_speed) {
	const V(f) most = V(set1)(max_speed), tiny = V(set1)(0x1p-70f);
	const V(mask) longer = V(lt)(MUL(most, most), square), near = V(lt)(square, V(set1)(__builtin_inff()));
	const V(f) x = V(select)(near, v[0], MUL(v[0], tiny)), y = V(select)(near, v[1], MUL(v[1], tiny));
	const V(f) scale = DIV(most, V(sqrt)(DOT(x, y, x, y)));
	v[0] = V(select)(longer, MUL(x, scale), v[0]);
	v[1] = V(select)(longer, MUL(y, scale), v[1]);
}

/* Holds the velocity v[0 to 2] of LANES bodies of inverse masses v[3] to the limits, and reports whether
 * that may have altered any. */
HELPER(LEVEL) int CAT(limit_, LEVEL)(V(f) v[4], float max_speed, float max_turn) {
	const V(f) square = DOT(v[0], v[1], v[0], v[1]), most = V(set1)(max_speed), turn = V(set1)(max_turn);
	const V(mask) spins = V(lt)(turn, V(abs)(v[2]));
	if (!(V(lt)(MUL(most, most), square) | spins)) /* nearly always */
		return 0;
	const V(mask) dynamic = V(lt)(ZERO, v[3]);
	V(f) limited[2] = {v[0], v[1]};
	CAT(shorten_, LEVEL)(limited, square, max_speed);
	v[0] = V(select)(dynamic, limited[0], v[0]);
	v[1] = V(select)(dynamic, limited[1], v[1]);
	const V(f) held = V(max)(V(negate)(turn), V(min)(turn, v[2]));
	v[2] = V(select)(spins & dynamic, ADD(held, SUB(v[2], v[2])), v[2]);
	return 1;
}

/* The velocity v[0 to 2] of LANES bodies as it would be without contacts. */
HELPER(LEVEL) void CAT(free_, LEVEL)(const forces *f, int64_t i, const V(f) row[4], V(f) v[3]) {
	const V(f) h = V(set1)(f->h), scale = V(load)(f->gravity_scale + i), linear = CAT(damped_, LEVEL)(f->linear + i, f->h);
	const V(f) ax = ADD(MUL(V(set1)(f->gx), scale), MUL(V(load)(f->fx + i), row[3]));
	const V(f) ay = ADD(MUL(V(set1)(f->gy), scale), MUL(V(load)(f->fy + i), row[3]));
	const V(f) vx = MUL(ADD(row[0], MUL(h, ax)), linear), vy = MUL(ADD(row[1], MUL(h, ay)), linear);
	const V(f) square = DOT(vx, vy, vx, vy), most = V(set1)(f->max_speed);
	v[0] = vx;
	v[1] = vy;
	if (V(lt)(MUL(most, most), square)) /* seldom */
		CAT(shorten_, LEVEL)(v, square, f->max_speed);
	const V(f) turn = MUL(V(load)(f->torque + i), V(load)(f->inv_inertia + i));
	const V(f) w = MUL(ADD(row[2], MUL(h, turn)), CAT(damped_, LEVEL)(f->angular + i, f->h));
	v[2] = V(max)(V(set1)(-f->max_turn), V(min)(V(set1)(f->max_turn), w));
}

HELPER(LEVEL) void CAT(accelerate_, LEVEL)(et_state *states, const forces *f, int64_t i) {
	V(f) row[4], v[3];
	float *const free[3] = {f->free_x + i, f->free_y + i, f->free_w + i};
	V(rows4)((float *)(void *)&states[i], side_by_side, 8, row);
	CAT(free_, LEVEL)(f, i, row, v);
	for (int k = 0; k < 3; k++) {
		const V(f) warm = f->warm ? SUB(row[k], V(load)(free[k])) : ZERO;
		V(store)(free[k], v[k]);
		row[k] = V(pick)(row[3], ZERO, ADD(v[k], warm), row[k]);
	}
	V(put4)((float *)(void *)&states[i], side_by_side, 8, row, UINT32_MAX);
}

KERNEL(LEVEL) void CAT(velocities_, LEVEL)(et_state *states, const forces *f, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, CAT(accelerate_, LEVEL)(states, f, i), velocities_c(states, f, i, hi));
}

HELPER(LEVEL) void CAT(move_, LEVEL)(et_state *states, const limits *m, int64_t i) {
	const V(f) h = V(set1)(m->h), half = V(set1)(0.5f * m->h), one = V(set1)(1.0f);
	V(f) r[8];
	V(rows8)((float *)(void *)&states[i], side_by_side, 8, r);
	if (CAT(limit_, LEVEL)(r, m->max_speed, m->max_turn))
		V(put4)((float *)(void *)&states[i], side_by_side, 8, r, UINT32_MAX);
	const V(f) t = MUL(half, r[2]), square = MUL(t, t), scale = DIV(one, ADD(one, square));
	const V(f) cos = MUL(SUB(one, square), scale), sin = MUL(ADD(t, t), scale);
	const V(f) moved[4] = {ADD(r[4], MUL(h, r[0])), ADD(r[5], MUL(h, r[1])), CROSS(r[6], r[7], sin, cos),
	                       DOT(r[7], r[6], cos, sin)};
	V(put4)((float *)(void *)&states[i] + 4, side_by_side, 8, moved, UINT32_MAX);
}

KERNEL(LEVEL) void CAT(positions_, LEVEL)(et_state *states, const limits *m, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, CAT(move_, LEVEL)(states, m, i), positions_c(states, m, i, hi));
}

/* Stores a where the bodies have moved, or turned. */
HELPER(LEVEL) void CAT(put_moved_, LEVEL)(float *p, V(mask) moved, V(f) a) {
	V(store)(p, V(select)(moved, a, V(load)(p)));
}

HELPER(LEVEL) void CAT(finish_some_, LEVEL)(const et_state *states, const poses *p, int64_t i) {
	V(f) r[8];
	V(rows8)((const float *)(const void *)&states[i], side_by_side, 8, r);
	CAT(limit_, LEVEL)(r, p->max_speed, p->max_turn);
	V(store)(p->vx + i, r[0]);
	V(store)(p->vy + i, r[1]);
	V(store)(p->w + i, r[2]);
	const V(u) zero = V(asu)(ZERO), one = V(asu)(V(set1)(1.0f));
	CAT(put_moved_, LEVEL)(p->x + i, V(nequ)(V(asu)(V(abs)(r[4])), zero), ADD(V(load)(p->x + i), r[4]));
	CAT(put_moved_, LEVEL)(p->y + i, V(nequ)(V(asu)(V(abs)(r[5])), zero), ADD(V(load)(p->y + i), r[5]));
	const V(mask) turned = V(nequ)(V(asu)(r[6]), one) | V(nequ)(V(asu)(V(abs)(r[7])), zero);
	const V(f) cos0 = V(load)(p->cos + i), sin0 = V(load)(p->sin + i);
	const V(f) cos = CROSS(cos0, sin0, r[7], r[6]), sin = DOT(sin0, cos0, r[6], r[7]);
	const V(f) length = V(sqrt)(DOT(cos, sin, cos, sin));
	const V(f) unit_cos = DIV(cos, length), unit_sin = DIV(sin, length);
	CAT(put_moved_, LEVEL)(p->cos + i, turned, unit_cos);
	CAT(put_moved_, LEVEL)(p->sin + i, turned, unit_sin);
	CAT(put_moved_, LEVEL)(p->angle + i, turned, CAT(atan2_, LEVEL)(unit_sin, unit_cos));
}

KERNEL(LEVEL) void CAT(finish_, LEVEL)(const et_state *states, const poses *p, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, CAT(finish_some_, LEVEL)(states, p, i), finish_c(states, p, i, hi));
}

/* Where the centre of mass of LANES bodies is from their origins, in the axes of the world. */
HELPER(LEVEL) void CAT(arm_, LEVEL)(const origins *o, int64_t i, V(f) arm[2]) {
	const V(f) cos = V(load)(o->cos + i), sin = V(load)(o->sin + i);
	const V(f) x = V(load)(o->centre_x + i), y = V(load)(o->centre_y + i);
	arm[0] = CROSS(cos, sin, y, x);
	arm[1] = DOT(sin, cos, x, y);
}

HELPER(LEVEL) void CAT(centre_, LEVEL)(const origins *o, int64_t i) {
	V(f) arm[2];
	CAT(arm_, LEVEL)(o, i, arm);
	V(store)(o->mass_x + i, ADD(V(load)(o->x + i), arm[0]));
	V(store)(o->mass_y + i, ADD(V(load)(o->y + i), arm[1]));
}

KERNEL(LEVEL) void CAT(mass_centres_, LEVEL)(const origins *o, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, CAT(centre_, LEVEL)(o, i), mass_centres_c(o, i, hi));
}

KERNEL(LEVEL) uint32_t CAT(follow_, LEVEL)(const et_state *states, const origins *o, int64_t lo, int64_t hi,
                                           uint32_t *moved) {
	const V(u) zero = V(asu)(ZERO);
	uint32_t n = 0;
	int64_t i = lo;
	for (; i + V(LANES) <= hi; i += V(LANES)) {
		V(f) r[4], arm[2];
		V(rows4)((const float *)(const void *)&states[i] + 4, side_by_side, 8, r);
		const V(mask) in = V(nequ)(V(asu)(V(abs)(r[0])), zero) | V(nequ)(V(asu)(V(abs)(r[1])), zero) |
		                   V(nequ)(V(asu)(V(abs)(r[3])), zero);
		if (!in)
			continue;
		CAT(arm_, LEVEL)(o, i, arm);
		CAT(put_moved_, LEVEL)(o->x + i, in, SUB(V(load)(o->mass_x + i), arm[0]));
		CAT(put_moved_, LEVEL)(o->y + i, in, SUB(V(load)(o->mass_y + i), arm[1]));
		V(storeu)(moved + n, V(packu)(V(ramp)((uint32_t)i), in));
		n += V(count)(in);
	}
	return V(LANES) > 1 && i < hi ? n + follow_c(states, o, i, hi, moved + n) : n;
}

KERNEL(LEVEL) int32_t CAT(usable_, LEVEL)(const uint32_t *memory, int64_t stride, int64_t columns, int64_t n) {
	uint32_t any[V(LANES)] = {0};
	for (int64_t k = 0; k < columns; k++) {
		const uint32_t *const x = memory + k * stride;
		int64_t i = 0;
		for (; i + V(LANES) <= n; i += V(LANES))
			for (int lane = 0; lane < V(LANES); lane++)
				any[lane] |= (x[i + lane] & 0x7fffffffu) + to_huge;
		for (; i < n; i++)
			any[0] |= (x[i] & 0x7fffffffu) + to_huge;
	}
	for (int lane = 1; lane < V(LANES); lane++)
		any[0] |= any[lane];
	return any[0] >> 31 == 0;
}

#undef EACH_BODY
