#include "solve.h"
#include "solve_lanes.h"

/* Columns of bodies and what integrates them: see et_velocities. */
typedef struct {
	const float *inv_inertia, *fx, *fy, *torque, *gravity_scale, *linear, *angular;
	float *free_x, *free_y, *free_w;
	float gx, gy, h, max_speed, max_turn;
	int32_t warm;
} forces;

/* What integrates positions: see et_positions. */
typedef struct {
	float h, max_speed, max_turn;
} limits;

/* Columns that a step ends with, and limits of the velocities. */
typedef struct {
	float *vx, *vy, *w, *x, *y, *cos, *sin, *angle;
	float max_speed, max_turn;
} final_poses;

/* Columns of bodies: see et_mass_centres. */
typedef struct {
	float *x, *y;
	const float *centre_x, *centre_y, *cos, *sin;
	float *mass_x, *mass_y;
} origins;

/* What carries into the place of the sign if it is added to the bits of 2^63 and more. */
static const uint32_t to_huge = ((uint32_t)1 << 31) - ((127u + 63u) << 23);

#include "atan.h"

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

KERNEL(void, start, et_state *states, const float *vx, const float *vy, const float *w,
       const float *inv_mass, int64_t lo, int64_t hi) {
	V(f) row[8] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, V(set1)(1.0f), ZERO};
	EACH_BODY(lo, hi, (row[0] = V(load)(vx + i), row[1] = V(load)(vy + i), row[2] = V(load)(w + i),
	                   row[3] = V(load)(inv_mass + i), V(put8)((float *)(void *)&states[i], side_by_side, 8, row)),
	          et_start_c(states, vx, vy, w, inv_mass, i, hi));
}

/* 1 / (1 + h * damping) */
HELPER(LEVEL) V(f) damped(const float *damping, float h) {
	const V(f) one = V(set1)(1.0f);
	return DIV(one, ADD(one, MUL(V(set1)(h), V(load)(damping))));
}

/* The velocity v[0 and 1], of which the square of the length is given, shortened to a limit. */
HELPER(LEVEL) void shorten(V(f) v[2], V(f) square, float max_speed) {
	const V(f) most = V(set1)(max_speed), tiny = V(set1)(0x1p-70f);
	const V(mask) longer = V(lt)(MUL(most, most), square), near = V(lt)(square, V(set1)(__builtin_inff()));
	const V(f) x = V(select)(near, v[0], MUL(v[0], tiny)), y = V(select)(near, v[1], MUL(v[1], tiny));
	const V(f) scale = DIV(most, V(sqrt)(DOT(x, y, x, y)));
	v[0] = V(select)(longer, MUL(x, scale), v[0]);
	v[1] = V(select)(longer, MUL(y, scale), v[1]);
}

/* Holds the velocity v[0 to 2] of LANES bodies of inverse masses v[3] to the limits, and reports whether
 * that may have altered any. */
HELPER(LEVEL) int limit(V(f) v[4], float max_speed, float max_turn) {
	const V(f) square = DOT(v[0], v[1], v[0], v[1]), most = V(set1)(max_speed), turn = V(set1)(max_turn);
	const V(mask) spins = V(lt)(turn, V(abs)(v[2]));
	if (!(V(lt)(MUL(most, most), square) | spins)) /* nearly always */
		return 0;
	const V(mask) dynamic = V(lt)(ZERO, v[3]);
	V(f) limited[2] = {v[0], v[1]};
	shorten(limited, square, max_speed);
	v[0] = V(select)(dynamic, limited[0], v[0]);
	v[1] = V(select)(dynamic, limited[1], v[1]);
	const V(f) held = V(max)(V(negate)(turn), V(min)(turn, v[2]));
	v[2] = V(select)(spins & dynamic, ADD(held, SUB(v[2], v[2])), v[2]);
	return 1;
}

/* The velocity v[0 to 2] of LANES bodies as it would be without contacts. */
HELPER(LEVEL) void free_velocity(const forces *f, int64_t i, const V(f) row[4], V(f) v[3]) {
	const V(f) h = V(set1)(f->h), scale = V(load)(f->gravity_scale + i), linear = damped(f->linear + i, f->h);
	const V(f) ax = ADD(MUL(V(set1)(f->gx), scale), MUL(V(load)(f->fx + i), row[3]));
	const V(f) ay = ADD(MUL(V(set1)(f->gy), scale), MUL(V(load)(f->fy + i), row[3]));
	const V(f) vx = MUL(ADD(row[0], MUL(h, ax)), linear), vy = MUL(ADD(row[1], MUL(h, ay)), linear);
	const V(f) square = DOT(vx, vy, vx, vy), most = V(set1)(f->max_speed);
	v[0] = vx;
	v[1] = vy;
	if (V(lt)(MUL(most, most), square)) /* seldom */
		shorten(v, square, f->max_speed);
	const V(f) turn = MUL(V(load)(f->torque + i), V(load)(f->inv_inertia + i));
	const V(f) w = MUL(ADD(row[2], MUL(h, turn)), damped(f->angular + i, f->h));
	v[2] = V(max)(V(set1)(-f->max_turn), V(min)(V(set1)(f->max_turn), w));
}

HELPER(LEVEL) void accelerate(et_state *states, const forces *f, int64_t i) {
	V(f) row[4], v[3];
	float *const free[3] = {f->free_x + i, f->free_y + i, f->free_w + i};
	V(rows4)((float *)(void *)&states[i], side_by_side, 8, row);
	free_velocity(f, i, row, v);
	for (int k = 0; k < 3; k++) {
		const V(f) warm = f->warm ? SUB(row[k], V(load)(free[k])) : ZERO;
		V(store)(free[k], v[k]);
		row[k] = V(pick)(row[3], ZERO, ADD(v[k], warm), row[k]);
	}
	V(put4)((float *)(void *)&states[i], side_by_side, 8, row, UINT32_MAX);
}

KERNEL(void, velocities, et_state *states, const forces *f, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, accelerate(states, f, i), et_velocities_c(states, f, i, hi));
}

HELPER(LEVEL) void move(et_state *states, const limits *m, int64_t i) {
	const V(f) h = V(set1)(m->h), half = V(set1)(0.5f * m->h), one = V(set1)(1.0f);
	V(f) r[8];
	V(rows8)((float *)(void *)&states[i], side_by_side, 8, r);
	if (limit(r, m->max_speed, m->max_turn))
		V(put4)((float *)(void *)&states[i], side_by_side, 8, r, UINT32_MAX);
	const V(f) t = MUL(half, r[2]), square = MUL(t, t), scale = DIV(one, ADD(one, square));
	const V(f) cos = MUL(SUB(one, square), scale), sin = MUL(ADD(t, t), scale);
	const V(f) moved[4] = {ADD(r[4], MUL(h, r[0])), ADD(r[5], MUL(h, r[1])), CROSS(r[6], r[7], sin, cos),
	                       DOT(r[7], r[6], cos, sin)};
	V(put4)((float *)(void *)&states[i] + 4, side_by_side, 8, moved, UINT32_MAX);
}

KERNEL(void, positions, et_state *states, const limits *m, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, move(states, m, i), et_positions_c(states, m, i, hi));
}

/* Stores a where the bodies have moved, or turned. */
HELPER(LEVEL) void put_moved(float *p, V(mask) moved, V(f) a) {
	V(store)(p, V(select)(moved, a, V(load)(p)));
}

HELPER(LEVEL) void finish_some(const et_state *states, const final_poses *p, int64_t i) {
	V(f) r[8];
	V(rows8)((const float *)(const void *)&states[i], side_by_side, 8, r);
	limit(r, p->max_speed, p->max_turn);
	V(store)(p->vx + i, r[0]);
	V(store)(p->vy + i, r[1]);
	V(store)(p->w + i, r[2]);
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
	put_moved(p->angle + i, turned, arctan2(unit_sin, unit_cos));
}

KERNEL(void, finish, const et_state *states, const final_poses *p, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, finish_some(states, p, i), et_finish_c(states, p, i, hi));
}

/* Where the centre of mass of LANES bodies is from their origins, in the axes of the world. */
HELPER(LEVEL) void mass_arm(const origins *o, int64_t i, V(f) arm[2]) {
	const V(f) cos = V(load)(o->cos + i), sin = V(load)(o->sin + i);
	const V(f) x = V(load)(o->centre_x + i), y = V(load)(o->centre_y + i);
	arm[0] = CROSS(cos, sin, y, x);
	arm[1] = DOT(sin, cos, x, y);
}

HELPER(LEVEL) void centre(const origins *o, int64_t i) {
	V(f) arm[2];
	mass_arm(o, i, arm);
	V(store)(o->mass_x + i, ADD(V(load)(o->x + i), arm[0]));
	V(store)(o->mass_y + i, ADD(V(load)(o->y + i), arm[1]));
}

KERNEL(void, mass_centres, const origins *o, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, centre(o, i), et_mass_centres_c(o, i, hi));
}

KERNEL(uint32_t, follow, const et_state *states, const origins *o, int64_t lo, int64_t hi,
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
		mass_arm(o, i, arm);
		put_moved(o->x + i, in, SUB(V(load)(o->mass_x + i), arm[0]));
		put_moved(o->y + i, in, SUB(V(load)(o->mass_y + i), arm[1]));
		V(storeu)(moved + n, V(packu)(V(ramp)((uint32_t)i), in));
		n += V(count)(in);
	}
	return V(LANES) > 1 && i < hi ? n + et_follow_c(states, o, i, hi, moved + n) : n;
}

KERNEL(int32_t, usable, const uint32_t *memory, int64_t stride, int64_t columns, int64_t n) {
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

#ifdef DISPATCH
void et_angles(int32_t level, const float *cos, const float *sin, float *out, int64_t n) {
	DISPATCH(level, angles, cos, sin, out, 0, n);
}

void et_start(int32_t level, et_state *states, const float *vx, const float *vy, const float *w,
              const float *inv_mass, int64_t lo, int64_t hi) {
	DISPATCH(level, start, states, vx, vy, w, inv_mass, lo, hi);
}

void et_velocities(int32_t level, et_state *states, const float *inv_inertia, const float *fx, const float *fy,
                   const float *torque, const float *gravity_scale, const float *linear, const float *angular,
                   float *free_x, float *free_y, float *free_w, float gx, float gy, float h, float max_speed,
                   float max_turn, int32_t warm, int64_t lo, int64_t hi) {
	const forces f = {inv_inertia, fx, fy, torque, gravity_scale, linear, angular, free_x, free_y, free_w,
	                  gx, gy, h, max_speed, max_turn, warm};
	DISPATCH(level, velocities, states, &f, lo, hi);
}

void et_positions(int32_t level, et_state *states, float h, float max_speed, float max_turn, int64_t lo, int64_t hi) {
	const limits m = {h, max_speed, max_turn};
	DISPATCH(level, positions, states, &m, lo, hi);
}

void et_finish(int32_t level, const et_state *states, float *vx, float *vy, float *w, float *x, float *y,
               float *cos, float *sin, float *angle, float max_speed, float max_turn, int64_t lo, int64_t hi) {
	const final_poses p = {vx, vy, w, x, y, cos, sin, angle, max_speed, max_turn};
	DISPATCH(level, finish, states, &p, lo, hi);
}

void et_mass_centres(int32_t level, float *x, float *y, const float *centre_x, const float *centre_y, const float *cos,
                     const float *sin, float *mass_x, float *mass_y, int64_t lo, int64_t hi) {
	const origins o = {x, y, centre_x, centre_y, cos, sin, mass_x, mass_y};
	DISPATCH(level, mass_centres, &o, lo, hi);
}

uint32_t et_follow(int32_t level, const et_state *states, float *x, float *y, const float *centre_x,
                   const float *centre_y, const float *cos, const float *sin, float *mass_x, float *mass_y, int64_t lo,
                   int64_t hi, uint32_t *moved) {
	const origins o = {x, y, centre_x, centre_y, cos, sin, mass_x, mass_y};
	return DISPATCH(level, follow, states, &o, lo, hi, moved);
}

int32_t et_usable(int32_t level, const uint32_t *memory, int64_t stride, int64_t columns, int64_t n) {
	return DISPATCH(level, usable, memory, stride, columns, n);
}
#endif
