#include "rigid_joint.h"
#include "rigid_solve_lanes.h"

typedef struct {
	float rate, mass, impulse;
} softness;

static inline float *velocities(et_state *states) { return (float *)(void *)states; }

static inline float largest(float a, float b) { return a > b ? a : b; }

#define TEMPLATE "rigid_solve_tmpl.h"
#include "levels.h"

void et_warm_start(int32_t level, et_contact_block *blocks, int64_t n, et_state *states) {
	DISPATCH(level, warm_start, blocks, n, states);
}

void et_solve(int32_t level, et_contact_block *blocks, int64_t n, et_state *states, float rate, float mass,
              float impulse, float fixed_rate, float fixed_mass, float fixed_impulse, float inv_h, float push,
              int32_t biased) {
	const softness soft[2] = {{rate, mass, impulse}, {fixed_rate, fixed_mass, fixed_impulse}};
	DISPATCH(level, solve, blocks, n, states, soft, inv_h, push, biased);
}

void et_sub_steps(int32_t level, et_state *states, int64_t bodies, const float *inv_inertia, const float *fx,
                  const float *fy, const float *torque, const float *gravity_scale, const float *linear,
                  const float *angular, float *free_x, float *free_y, float *free_w, float gx, float gy, float h,
                  float max_speed, float max_turn, et_contact_block *blocks, int64_t n, float rate, float mass,
                  float impulse, float fixed_rate, float fixed_mass, float fixed_impulse, float inv_h, float push,
                  et_joint_block *joint_blocks, int64_t joints, float joint_rate, float joint_mass,
                  float joint_impulse, int32_t sub_steps) {
	for (int32_t sub = 0; sub < sub_steps; sub++) {
		et_velocities(level, states, inv_inertia, fx, fy, torque, gravity_scale, linear, angular, free_x, free_y,
		              free_w, gx, gy, h, max_speed, max_turn, sub > 0, 0, bodies);
		if (sub == 0) {
			et_warm_start_joints(level, joint_blocks, joints, states);
			et_warm_start(level, blocks, n, states);
		}
		et_solve_joints(level, joint_blocks, joints, states, joint_rate, joint_mass, joint_impulse, inv_h, 1);
		et_solve(level, blocks, n, states, rate, mass, impulse, fixed_rate, fixed_mass, fixed_impulse, inv_h, push, 1);
		et_positions(level, states, h, max_speed, max_turn, 0, bodies);
		et_solve_joints(level, joint_blocks, joints, states, 0, 1, 0, inv_h, 0);
		et_solve(level, blocks, n, states, 0, 1, 0, 0, 1, 0, inv_h, push, 0);
	}
}

void et_restitution(int32_t level, et_contact_block *blocks, int64_t n, et_state *states, float threshold) {
	DISPATCH(level, restitution, blocks, n, states, threshold);
}

void et_store(const et_contact_block *blocks, const uint32_t *contact, int64_t n, et_contact *contacts, et_hit *hits) {
	for (const et_contact_block *b = blocks; b < blocks + n; b++, contact += ET_LANES) {
		for (uint32_t i = 0; i < b->contacts; i++) {
			et_contact *const to = &contacts[contact[i]];
			et_hit *const hit = &hits[contact[i]];
			to->rolling = b->rolling[i];
			for (uint32_t k = 0; k < b->points_each; k++) {
				const et_contact_point *const p = &b->points[k];
				to->points[k].normal = p->normal[i];
				to->points[k].tangent = p->tangent[i];
				if (p->total[i] > 0)
					hit->speed = largest(-p->approach[i], hit->speed);
				hit->impulse += p->total[i];
			}
		}
	}
}
