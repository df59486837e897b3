#include "rigid_solve.h"
#include "rigid_solve_lanes.h"

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
} poses;

/* Columns of bodies: see et_mass_centres. */
typedef struct {
	float *x, *y;
	const float *centre_x, *centre_y, *cos, *sin;
	float *mass_x, *mass_y;
} origins;

/* What carries into the place of the sign if it is added to the bits of 2^63 and more. */
static const uint32_t to_huge = ((uint32_t)1 << 31) - ((127u + 63u) << 23);

#define TEMPLATE "rigid_solve_bodies_tmpl.h"
#include "levels.h"

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
	const poses p = {vx, vy, w, x, y, cos, sin, angle, max_speed, max_turn};
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
