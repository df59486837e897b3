#include "rigid_joint.h"
#include "rigid_solve_lanes.h"

/* How much of what a joint is off an iteration removes at its rate. */
static const float farthest = 0.25f;

/* What an iteration of all joints has in common: the softness of what is rigid. */
typedef struct {
	float rate, mass, impulse, inv_h;
	int32_t biased;
} iteration;

#define TEMPLATE "rigid_joint_tmpl.h"
#include "levels.h"

void et_warm_start_joints(int32_t level, et_joint_block *blocks, int64_t n, et_state *states) {
	DISPATCH(level, warm_start_joints, blocks, n, states);
}

void et_solve_joints(int32_t level, et_joint_block *blocks, int64_t n, et_state *states, float rate, float mass,
                     float impulse, float inv_h, int32_t biased) {
	const iteration it = {rate, mass, impulse, inv_h, biased};
	DISPATCH(level, solve_joints, blocks, n, states, &it);
}

static et_drive_impulse impulse_of(const et_block_drive *d, uint32_t i) {
	const et_drive_impulse j = {d->spring[i], d->motor[i], d->lower_impulse[i], d->upper_impulse[i]};
	return j;
}

static void store_joint(const et_joint_block *b, uint32_t i, et_joint *to) {
	if (has_point(b->kind)) {
		to->point[0] = b->x[i];
		to->point[1] = b->y[i];
	} else if (has_line(b->kind)) {
		to->point[0] = b->across[i];
	}
	if (b->parts & ET_LINEAR && !has_point(b->kind))
		to->linear_impulse = impulse_of(&b->linear, i);
	if (b->parts & ET_TURN)
		to->angular_impulse = impulse_of(&b->angular, i);
	else if (has_lock(b->kind))
		to->angular_impulse.spring = b->angular.spring[i];
}

void et_store_joints(const et_joint_block *blocks, const uint32_t *joint, int64_t n, et_joint *joints) {
	for (const et_joint_block *b = blocks; b < blocks + n; b++, joint += ET_LANES)
		for (uint32_t i = 0; i < b->joints; i++)
			store_joint(b, i, &joints[joint[i]]);
}
