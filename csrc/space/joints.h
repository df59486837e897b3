/* What the templates of joints share. */
#ifndef EVERTICK_SPACE_JOINTS_H
#define EVERTICK_SPACE_JOINTS_H

#include "contacts.h"
#include "shapes_lanes.h"
#include "../atan.h"

/* Floats of a joint, and where in it some fields are. */
enum {
	JOINT = sizeof(et_space_joint) / 4, JOINT_ANCHORS = 4, JOINT_FRAME_A = 10, JOINT_FRAME_B = 14, JOINT_TUNING = 16,
	JOINT_LINEAR = 20, JOINT_ANGULAR = 26, JOINT_TARGET = 32, JOINT_AXES = 36, JOINT_KEPT = 116,
	JOINT_KEPT_AXES = JOINT_KEPT + ET_SPACE_ROWS, JOINT_TWIST = JOINT_KEPT_AXES + 4 * ET_SPACE_COORDINATES, AXIS = 10,
};
_Static_assert(offsetof(et_space_joint, anchor_a) == 4 * JOINT_ANCHORS && offsetof(et_space_joint, linear) == 4 * JOINT_LINEAR &&
                       offsetof(et_space_joint, axes) == 4 * JOINT_AXES && offsetof(et_space_joint, kept) == 4 * JOINT_KEPT &&
                       offsetof(et_space_joint, hertz) == 4 * (JOINT_TUNING + 2) && offsetof(et_space_kept_joint, twist) == 4 * (JOINT_TWIST - JOINT_KEPT),
               "fields are where the enumeration says");

/* rigid3.maxPositionError, maxLimitError and leastPivot. */
static const float max_position_error = 4, max_limit_error = 4, least_pivot = 0x1p-20f;

HELPER(LEVEL) V(f) twice(V(f) a) { return MUL(V(set1)(2), a); }

HELPER(LEVEL) quat quat_inverse(quat q) { return (quat){V(negate)(q.x), V(negate)(q.y), V(negate)(q.z), q.w}; }

HELPER(LEVEL) quat load_quat(const float field[4][ET_SPACE_LANES], uint32_t i) {
	return (quat){V(load)(field[0] + i), V(load)(field[1] + i), V(load)(field[2] + i), V(load)(field[3] + i)};
}

/* The angle of the direction a that is nearest to an angle. */
HELPER(LEVEL) V(f) nearest_angle(V(f) a, V(f) near) {
	const V(f) whole = V(set1)(12582912), turns = SUB(ADD(MUL(SUB(a, near), V(set1)(0.159154943091895336f)), whole), whole);
	return SUB(a, MUL(turns, V(set1)(6.28318530717958648f)));
}

HELPER(LEVEL) V(f) raw_twist(quat q) { return twice(arctan2(q.x, q.w)); }

/* a within plus or minus the limit; a bound where a is NaN. */
HELPER(LEVEL) V(f) within(V(f) a, V(f) limit) { return V(max)(V(min)(a, limit), V(negate)(limit)); }

#endif
