#include "rigid_joint.h"
#include "rigid_solve_lanes.h"

/* What blocks are made of: see et_prepare_joints. */
typedef struct {
	const et_joint *joints;
	const et_state *states;
	const float *inv_inertia, *x, *y, *cos, *sin, *angle;
	float rate, mass, impulse, h;
} joint_sources;

/* The joints of a block, those of the lanes without one being the first, and
 * their parts. */
typedef struct {
	uint32_t joint[ET_LANES], parts[ET_LANES];
} joint_lanes;

/* The parts that each kind can have. */
static const uint32_t allowed[] = {
	0, ET_LINEAR | ET_TURN, ET_SOFT | ET_TURN, ET_SOFT, ET_LINEAR, ET_LINEAR | ET_TURN,
};

/* Fills in what is not a float, but for the masks. */
static void look_up(const joint_sources *s, const uint32_t *joint, et_joint_block *b, joint_lanes *l) {
	b->joints = b->parts = 0;
	b->kind = s->joints[joint[0]].kind;
	for (uint32_t i = 0; i < ET_LANES; i++) {
		const uint32_t n = joint[i] == UINT32_MAX ? joint[0] : joint[i];
		const et_joint *const j = &s->joints[n];
		b->joints += joint[i] != UINT32_MAX;
		l->joint[i] = n;
		l->parts[i] = j->parts & allowed[b->kind];
		b->parts |= l->parts[i];
		b->a[i] = j->a;
		b->b[i] = j->b;
	}
	b->dynamic_a = b->dynamic_b = b->rigid = b->rigid_turn = 0;
}

#define TEMPLATE "rigid_joint_prepare_tmpl.h"
#include "levels.h"

void et_prepare_joints(int32_t level, et_joint_block *blocks, const uint32_t *joint, int64_t n, const et_joint *joints,
                       const et_state *states, const float *inv_inertia, const float *x, const float *y,
                       const float *cos, const float *sin, const float *angle, float rate, float mass, float impulse,
                       float h) {
	const joint_sources s = {joints, states, inv_inertia, x, y, cos, sin, angle, rate, mass, impulse, h};
	DISPATCH(level, prepare_joints, blocks, joint, n, &s);
}
