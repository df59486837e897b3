/* The joints of package native/rigid: what its methods on System do with blocks of joints,
 * from the given one on. Arrays of C structs mirror the Go types. */
#ifndef EVERTICK_RIGID_JOINT_H
#define EVERTICK_RIGID_JOINT_H

#include "solve.h"

/* rigid.JointKind and JointParts. */
enum { ET_DISTANCE = 1, ET_POINT = 2, ET_WELD = 3, ET_PRISMATIC = 4, ET_WHEEL = 5 };
enum {
	ET_SPRING = 1, ET_MOTOR = 2, ET_LIMITS = 4, ET_LINEAR = 7,
	ET_TURN_SPRING = 8, ET_TURN_LIMITS = 32, ET_TURN = 56, ET_TURN_SHIFT = 3,
	ET_DRAG = 64, ET_SOFT = ET_SPRING | ET_DRAG,
};

/* rigid.Drive, DriveImpulse, Joint. */
typedef struct {
	float target, hertz, damping, max_spring, speed, max_motor, lower, upper;
} et_drive;

typedef struct {
	float spring, motor, lower, upper;
} et_drive_impulse;

typedef struct {
	uint32_t kind, parts, a, b;
	float anchor_a[2], anchor_b[2];
	et_drive linear, angular;
	float axis[2], reference;
	uint32_t unused;
	float point[2];
	uint32_t unused2[2];
	et_drive_impulse linear_impulse, angular_impulse;
} et_joint;

/* rigid.BlockDrive, JointBlock. */
typedef struct {
	float target[ET_LANES], rate[ET_LANES], mass[ET_LANES], leak[ET_LANES], max_spring[ET_LANES];
	float speed[ET_LANES], max_motor[ET_LANES], lower[ET_LANES], upper[ET_LANES];
	float spring[ET_LANES], motor[ET_LANES], lower_impulse[ET_LANES], upper_impulse[ET_LANES], off[ET_LANES];
} et_block_drive;

typedef struct et_joint_block {
	uint32_t joints, kind, parts, dynamic_a, dynamic_b, rigid, rigid_turn, unused[9];
	uint32_t a[ET_LANES], b[ET_LANES];
	float inv_ia[ET_LANES], inv_ib[ET_LANES];
	float ax[ET_LANES], ay[ET_LANES], bx[ET_LANES], by[ET_LANES], gap_x[ET_LANES], gap_y[ET_LANES];
	float x[ET_LANES], y[ET_LANES], turn_a[ET_LANES], turn_b[ET_LANES];
	float off_x[ET_LANES], off_y[ET_LANES];
	float turn_mass[ET_LANES], angle[ET_LANES], axis_x[ET_LANES], axis_y[ET_LANES], across[ET_LANES];
	et_block_drive linear, angular;
} et_joint_block;

_Static_assert(sizeof(et_joint) == 160 && offsetof(et_joint, linear) == 32 && offsetof(et_joint, axis) == 96 &&
                       offsetof(et_joint, point) == 112 && offsetof(et_joint, linear_impulse) == 128 &&
                       sizeof(et_joint_block) == 50 * 64 && offsetof(et_joint_block, linear) == 22 * 64,
               "the Go types mirror these");


/* What a kind of joint holds: a point, what is across an axis, the angle. */
static inline int has_point(uint32_t kind) { return kind == ET_POINT || kind == ET_WELD; }
static inline int has_line(uint32_t kind) { return kind == ET_PRISMATIC || kind == ET_WHEEL; }
static inline int has_lock(uint32_t kind) { return kind == ET_WELD || kind == ET_PRISMATIC; }

/* System.PrepareJoints of n blocks. */
void et_prepare_joints(int32_t level, et_joint_block *blocks, const uint32_t *joint, int64_t n, const et_joint *joints,
                       const et_state *states, const float *inv_inertia, const float *x, const float *y,
                       const float *cos, const float *sin, const float *angle, float rate, float mass, float impulse,
                       float h);

/* System.WarmStartJoints. */
void et_warm_start_joints(int32_t level, et_joint_block *blocks, int64_t n, et_state *states);

/* System.SolveJoints: rate, mass and impulse are the softness of what is rigid. */
void et_solve_joints(int32_t level, et_joint_block *blocks, int64_t n, et_state *states, float rate, float mass,
                     float impulse, float inv_h, int32_t biased);

/* System.StoreJoints. */
void et_store_joints(const et_joint_block *blocks, const uint32_t *joint, int64_t n, et_joint *joints);

#endif
