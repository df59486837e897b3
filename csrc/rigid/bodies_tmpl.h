#include "rows_lanes.h"
#include "system.h"

/* Added to the bits of 2^63 or more, it carries into the sign bit. */
static const uint32_t to_out_of_range = ((uint32_t)1 << 31) - ((127u + 63u) << 23);

#include "../atan.h"

/* Runs a step for LANES bodies from body i on, and the rest in portable C. */
#define EACH_BODY(lo, hi, step, rest)                                  \
	do {                                                           \
		int64_t i = lo;                                        \
		for (; i + V(LANES) <= (hi); i += V(LANES))            \
			step;                                          \
		if (V(LANES) > 1 && i < (hi))                          \
			rest;                                          \
	} while (0)

KERNEL(void, angles, const float *cos, const float *sin, float *out, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, V(store)(out + i, arctan2(V(load)(sin + i), V(load)(cos + i))),
	          et_angles_c(cos, sin, out, i, hi));
}

KERNEL(void, load_states, const et_system *s, int64_t lo, int64_t hi) {
	V(f) row[8] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, V(set1)(1.0f), ZERO};
	EACH_BODY(lo, hi, (row[0] = V(load)(s->vx + i), row[1] = V(load)(s->vy + i), row[2] = V(load)(s->w + i),
	                   row[3] = V(load)(s->inv_mass + i), V(put8)((float *)(void *)&s->states[i], side_by_side, 8, row, UINT32_MAX)),
	          et_load_states_c(s, i, hi));
}

/* 1 / (1 + h * damping) */
HELPER(LEVEL) V(f) damped(const float *damping, float h) {
	const V(f) one = V(set1)(1.0f);
	return DIV(one, ADD(one, MUL(V(set1)(h), V(load)(damping))));
}

/* Limits the speed of the velocity v[0 and 1], whose square is given. */
HELPER(LEVEL) void clamp_speed(V(f) v[2], V(f) square, float max_speed) {
	const V(f) most = V(set1)(max_speed), tiny = V(set1)(0x1p-70f);
	const V(mask) longer = V(lt)(MUL(most, most), square), near = V(lt)(square, V(set1)(__builtin_inff()));
	const V(f) x = V(select)(near, v[0], MUL(v[0], tiny)), y = V(select)(near, v[1], MUL(v[1], tiny));
	const V(f) scale = DIV(most, V(sqrt)(DOT(x, y, x, y)));
	v[0] = V(select)(longer, MUL(x, scale), v[0]);
	v[1] = V(select)(longer, MUL(y, scale), v[1]);
}

/* Limits the velocity v[0 to 2] of LANES bodies with inverse masses v[3], and reports whether that may have
 * changed any. */
HELPER(LEVEL) int clamp_velocity(V(f) v[4], const et_step_context *step) {
	const V(f) square = DOT(v[0], v[1], v[0], v[1]), most = V(set1)(step->max_linear_speed);
	const V(f) turn = V(set1)(step->max_angular_speed);
	const V(mask) spins = V(lt)(turn, V(abs)(v[2]));
	if (!(V(lt)(MUL(most, most), square) | spins)) /* nearly always */
		return 0;
	const V(mask) dynamic = V(lt)(ZERO, v[3]);
	V(f) limited[2] = {v[0], v[1]};
	clamp_speed(limited, square, step->max_linear_speed);
	v[0] = V(select)(dynamic, limited[0], v[0]);
	v[1] = V(select)(dynamic, limited[1], v[1]);
	const V(f) held = V(max)(V(negate)(turn), V(min)(turn, v[2]));
	v[2] = V(select)(spins & dynamic, ADD(held, SUB(v[2], v[2])), v[2]);
	return 1;
}

/* The velocity v[0 to 2] that LANES bodies would have without contacts. */
HELPER(LEVEL) void free_velocity(const et_system *s, int64_t i, const V(f) row[4], V(f) v[3]) {
	const V(f) h = V(set1)(s->step.h), scale = V(load)(s->gravity_scale + i), linear = damped(s->linear_damping + i, s->step.h);
	const V(f) ax = ADD(MUL(V(set1)(s->step.gravity[0]), scale), MUL(V(load)(s->force_x + i), row[3]));
	const V(f) ay = ADD(MUL(V(set1)(s->step.gravity[1]), scale), MUL(V(load)(s->force_y + i), row[3]));
	const V(f) vx = MUL(ADD(row[0], MUL(h, ax)), linear), vy = MUL(ADD(row[1], MUL(h, ay)), linear);
	const V(f) square = DOT(vx, vy, vx, vy), most = V(set1)(s->step.max_linear_speed);
	v[0] = vx;
	v[1] = vy;
	if (V(lt)(MUL(most, most), square)) /* seldom */
		clamp_speed(v, square, s->step.max_linear_speed);
	const V(f) turn = MUL(V(load)(s->torque + i), V(load)(s->inv_inertia + i));
	const V(f) w = MUL(ADD(row[2], MUL(h, turn)), damped(s->angular_damping + i, s->step.h));
	v[2] = V(max)(V(set1)(-s->step.max_angular_speed), V(min)(V(set1)(s->step.max_angular_speed), w));
}

HELPER(LEVEL) void integrate_velocity(const et_system *s, int32_t sub, int64_t i) {
	V(f) row[4], v[3];
	float *const free[3] = {s->free_x + i, s->free_y + i, s->free_w + i};
	V(rows4)((float *)(void *)&s->states[i], side_by_side, 8, row);
	free_velocity(s, i, row, v);
	for (int k = 0; k < 3; k++) {
		const V(f) warm = sub > 0 ? SUB(row[k], V(load)(free[k])) : ZERO;
		V(store)(free[k], v[k]);
		row[k] = V(pick)(row[3], ZERO, ADD(v[k], warm), row[k]);
	}
	V(put4)((float *)(void *)&s->states[i], side_by_side, 8, row, UINT32_MAX);
}

KERNEL(void, integrate_velocities, const et_system *s, int32_t sub, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, integrate_velocity(s, sub, i), et_integrate_velocities_c(s, sub, i, hi));
}

HELPER(LEVEL) void integrate_position(float *state, const et_step_context *step) {
	const V(f) h = V(set1)(step->h), half = V(set1)(0.5f * step->h), one = V(set1)(1.0f);
	V(f) r[8];
	V(rows8)(state, side_by_side, 8, r);
	if (clamp_velocity(r, step))
		V(put4)(state, side_by_side, 8, r, UINT32_MAX);
	const V(f) t = MUL(half, r[2]), square = MUL(t, t), scale = DIV(one, ADD(one, square));
	const V(f) cos = MUL(SUB(one, square), scale), sin = MUL(ADD(t, t), scale);
	const V(f) moved[4] = {ADD(r[4], MUL(h, r[0])), ADD(r[5], MUL(h, r[1])), CROSS(r[6], r[7], sin, cos),
	                       DOT(r[7], r[6], cos, sin)};
	V(put4)(state + 4, side_by_side, 8, moved, UINT32_MAX);
}

KERNEL(void, integrate_positions, const et_system *s, int64_t lo, int64_t hi) {
	const et_step_context step = s->step; /* no store can change a copy */
	float *const states = (float *)(void *)s->states;
	EACH_BODY(lo, hi, integrate_position(states + 8 * i, &step), et_integrate_positions_c(s, i, hi));
}

/* Stores a in the lanes whose bodies have moved, or turned. */
HELPER(LEVEL) void put_moved(float *p, V(mask) moved, V(f) a) {
	V(store)(p, V(select)(moved, a, V(load)(p)));
}

HELPER(LEVEL) void store_state(const et_system *s, int64_t i) {
	const et_poses *const p = &s->poses;
	V(f) r[8];
	V(rows8)((const float *)(const void *)&s->states[i], side_by_side, 8, r);
	clamp_velocity(r, &s->step);
	V(store)(s->vx + i, r[0]);
	V(store)(s->vy + i, r[1]);
	V(store)(s->w + i, r[2]);
	const V(u) zero = V(asu)(ZERO), one = V(asu)(V(set1)(1.0f));
	put_moved(p->x + i, V(nequ)(V(asu)(V(abs)(r[4])), zero), ADD(V(load)(p->x + i), r[4]));
	put_moved(p->y + i, V(nequ)(V(asu)(V(abs)(r[5])), zero), ADD(V(load)(p->y + i), r[5]));
	const V(mask) turned = V(nequ)(V(asu)(r[6]), one) | V(nequ)(V(asu)(V(abs)(r[7])), zero);
	const V(f) cos0 = V(load)(p->cos + i), sin0 = V(load)(p->sin + i);
	const V(f) cos = CROSS(cos0, sin0, r[7], r[6]), sin = DOT(sin0, cos0, r[6], r[7]);
	const V(f) length = V(sqrt)(DOT(cos, sin, cos, sin));
	const V(f) unit_cos = DIV(cos, length), unit_sin = DIV(sin, length);
	put_moved(p->cos + i, turned, unit_cos);
	put_moved(p->sin + i, turned, unit_sin);
	put_moved(s->angle + i, turned, arctan2(unit_sin, unit_cos));
}

KERNEL(void, store_states, const et_system *s, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, store_state(s, i), et_store_states_c(s, i, hi));
}

/* The centre of mass of LANES bodies relative to their origins, in the axes of the world. */
HELPER(LEVEL) void centre_offset(const et_origins *o, const et_poses *p, int64_t i, V(f) offset[2]) {
	const V(f) cos = V(load)(p->cos + i), sin = V(load)(p->sin + i);
	const V(f) x = V(load)(o->centre_x + i), y = V(load)(o->centre_y + i);
	offset[0] = CROSS(cos, sin, y, x);
	offset[1] = DOT(sin, cos, x, y);
}

HELPER(LEVEL) void update_centre(const et_origins *o, const et_poses *p, int64_t i) {
	V(f) offset[2];
	centre_offset(o, p, i, offset);
	V(store)(p->x + i, ADD(V(load)(o->x + i), offset[0]));
	V(store)(p->y + i, ADD(V(load)(o->y + i), offset[1]));
}

KERNEL(void, update_centres, const et_origins *o, const et_poses *p, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, update_centre(o, p, i), et_update_centres_c(o, p, i, hi));
}

KERNEL(uint32_t, update_origins, const et_origins *o, const et_state *states, const et_poses *p, int64_t lo, int64_t hi,
       uint32_t *moved) {
	const V(u) zero = V(asu)(ZERO);
	uint32_t n = 0;
	int64_t i = lo;
	for (; i + V(LANES) <= hi; i += V(LANES)) {
		V(f) r[4], offset[2];
		V(rows4)((const float *)(const void *)&states[i] + 4, side_by_side, 8, r);
		const V(mask) in = V(nequ)(V(asu)(V(abs)(r[0])), zero) | V(nequ)(V(asu)(V(abs)(r[1])), zero) |
		                   V(nequ)(V(asu)(V(abs)(r[3])), zero);
		if (!in)
			continue;
		centre_offset(o, p, i, offset);
		put_moved(o->x + i, in, SUB(V(load)(p->x + i), offset[0]));
		put_moved(o->y + i, in, SUB(V(load)(p->y + i), offset[1]));
		V(storeu)(moved + n, V(packu)(V(ramp)((uint32_t)i), in));
		n += V(count)(in);
	}
	return V(LANES) > 1 && i < hi ? n + et_update_origins_c(o, states, p, i, hi, moved + n) : n;
}

KERNEL(int32_t, all_in_range, const uint32_t *memory, int64_t stride, int64_t columns, int64_t n) {
	uint32_t any[V(LANES)] = {0};
	for (int64_t k = 0; k < columns; k++) {
		const uint32_t *const x = memory + k * stride;
		int64_t i = 0;
		for (; i + V(LANES) <= n; i += V(LANES))
			for (int lane = 0; lane < V(LANES); lane++)
				any[lane] |= (x[i + lane] & 0x7fffffffu) + to_out_of_range;
		for (; i < n; i++)
			any[0] |= (x[i] & 0x7fffffffu) + to_out_of_range;
	}
	for (int lane = 1; lane < V(LANES); lane++)
		any[0] |= any[lane];
	return any[0] >> 31 == 0;
}

KERNEL(uint32_t, find_fast, const float *min, const float *max, const et_state *states, int64_t lo, int64_t hi,
       uint32_t *out) {
	const V(f) half = V(set1)(0.5f), one = V(set1)(1.0f);
	uint32_t n = 0;
	int64_t i = lo;
	for (; i + V(LANES) <= hi; i += V(LANES)) {
		V(f) r[8];
		V(rows8)((const float *)(const void *)&states[i], side_by_side, 8, r);
		const V(f) turn = MUL(ADD(V(abs)(r[7]), SUB(one, r[6])), V(load)(max + i));
		const V(f) motion = ADD(ADD(V(abs)(r[4]), V(abs)(r[5])), turn);
		const V(mask) in = V(lt)(ZERO, r[3]) & V(lt)(MUL(half, V(load)(min + i)), motion);
		if (!in)
			continue;
		V(storeu)(out + n, V(packu)(V(ramp)((uint32_t)i), in));
		n += V(count)(in);
	}
	return V(LANES) > 1 && i < hi ? n + et_find_fast_c(min, max, states, i, hi, out + n) : n;
}

#undef EACH_BODY

#ifdef DISPATCH
void et_update_centres(int32_t level, et_origins o, et_poses p, int64_t lo, int64_t hi) {
	DISPATCH(level, update_centres, &o, &p, lo, hi);
}

uint32_t et_update_origins(int32_t level, et_origins o, const et_state *states, et_poses p, int64_t lo, int64_t hi,
                           uint32_t *moved) {
	return DISPATCH(level, update_origins, &o, states, &p, lo, hi, moved);
}

uint32_t et_find_fast(int32_t level, const float *min, const float *max, const et_state *states, int64_t lo, int64_t hi,
                      uint32_t *out) {
	return DISPATCH(level, find_fast, min, max, states, lo, hi, out);
}

int32_t et_all_in_range(int32_t level, const uint32_t *memory, int64_t stride, int64_t columns, int64_t n) {
	return DISPATCH(level, all_in_range, memory, stride, columns, n);
}

void et_angles(int32_t level, const float *cos, const float *sin, float *out, int64_t n) {
	DISPATCH(level, angles, cos, sin, out, 0, n);
}
#endif
