/* The solver of package internal/rigid: its System and the stages of a step. Structs mirror the Go types of the
 * same names. */
#ifndef EVERTICK_RIGID_SYSTEM_H
#define EVERTICK_RIGID_SYSTEM_H

#include "rigid.h"

typedef struct {
	float normal, tangent;
	uint32_t id;
} et_impulse;

typedef struct {
	float anchor_a[2], anchor_b[2], separation;
} et_base_point;

typedef struct {
	float normal[2];
	et_base_point points[2];
	float rotation_a[2], rotation_b[2];
} et_base_manifold;

typedef struct {
	uint32_t a, b, count, flags;
	float rolling_impulse;
	et_impulse points[2];
} et_contact;

typedef struct {
	float vx, vy, w, inv_mass, dx, dy, c, s;
} et_state;

typedef struct {
	float speed, impulse;
} et_hit;

typedef struct {
	float cross_a[ET_LANES], dot_a[ET_LANES], cross_b[ET_LANES], dot_b[ET_LANES];
	float base_separation[ET_LANES], normal_mass[ET_LANES], tangent_mass[ET_LANES];
	float normal_impulse[ET_LANES], tangent_impulse[ET_LANES], total_normal_impulse[ET_LANES];
	float relative_velocity[ET_LANES];
} et_contact_block_point;

enum { ET_STATIC_BODY = 1, ET_RESTITUTION = 2, ET_ROLLING = 4, ET_TANGENT_SPEED = 8 };

typedef struct {
	uint32_t contacts, points_each, flags, dynamic_a, dynamic_b, unused[11];
	uint32_t a[ET_LANES], b[ET_LANES];
	float inv_ia[ET_LANES], inv_ib[ET_LANES], normal_x[ET_LANES], normal_y[ET_LANES], friction[ET_LANES];
	et_contact_block_point points[2];
	float coupling[ET_LANES];
	float restitution[ET_LANES], tangent_speed[ET_LANES];
	float rolling_resistance[ET_LANES], rolling_mass[ET_LANES], rolling_impulse[ET_LANES];
} et_contact_block;

/* rigid.JointKind and JointParts. */
enum { ET_DISTANCE = 1, ET_POINT = 2, ET_WELD = 3, ET_PRISMATIC = 4, ET_WHEEL = 5 };
enum {
	ET_SPRING = 1, ET_MOTOR = 2, ET_LIMITS = 4, ET_LINEAR = 7,
	ET_ANGULAR_SPRING = 8, ET_ANGULAR_LIMITS = 32, ET_ANGULAR = 56, ET_ANGULAR_SHIFT = 3,
	ET_FRICTION = 64, ET_SOFT = ET_SPRING | ET_FRICTION, ET_VELOCITY = 128, ET_SPRING_RANGE = 256, ET_TUNED = 512,
};

typedef struct {
	float target, hertz, damping, max_spring_force, motor_speed, max_motor_force, lower, upper;
} et_joint_axis;

typedef struct {
	float spring, motor, lower, upper;
} et_axis_impulse;

typedef struct {
	uint32_t kind, parts, a, b;
	float anchor_a[2], anchor_b[2];
	et_joint_axis linear, angular;
	float axis[2], reference_angle, min_spring_force, point_impulse[2], hertz, damping;
	et_axis_impulse linear_impulse, angular_impulse;
} et_joint;

typedef struct {
	float target[ET_LANES], bias_rate[ET_LANES], mass_scale[ET_LANES], impulse_scale[ET_LANES];
	float max_spring_impulse[ET_LANES], motor_speed[ET_LANES], max_motor_impulse[ET_LANES];
	float lower[ET_LANES], upper[ET_LANES];
	float spring_impulse[ET_LANES], motor_impulse[ET_LANES], lower_impulse[ET_LANES], upper_impulse[ET_LANES];
	float error[ET_LANES], min_spring_impulse[ET_LANES];
} et_axis_block;

typedef struct {
	uint32_t joints, kind, parts, dynamic_a, dynamic_b, rigid_linear, rigid_angular, unused[9];
	uint32_t a[ET_LANES], b[ET_LANES];
	float inv_ia[ET_LANES], inv_ib[ET_LANES];
	float anchor_ax[ET_LANES], anchor_ay[ET_LANES], anchor_bx[ET_LANES], anchor_by[ET_LANES];
	float delta_centre_x[ET_LANES], delta_centre_y[ET_LANES], impulse_x[ET_LANES], impulse_y[ET_LANES];
	float angular_impulse_a[ET_LANES], angular_impulse_b[ET_LANES], error_x[ET_LANES], error_y[ET_LANES];
	float angular_mass[ET_LANES], angle[ET_LANES], axis_x[ET_LANES], axis_y[ET_LANES], perpendicular_impulse[ET_LANES];
	et_axis_block linear, angular;
	float bias_rate[ET_LANES], mass_scale[ET_LANES], impulse_scale[ET_LANES];
} et_joint_block;

_Static_assert(sizeof(et_contact) == 44 && sizeof(et_base_manifold) == 64 && sizeof(et_state) == 32 && sizeof(et_contact_block) == 36 * 64 &&
                       sizeof(et_joint) == 160 && offsetof(et_joint, linear) == 32 && offsetof(et_joint, axis) == 96 &&
                       offsetof(et_joint, point_impulse) == 112 && offsetof(et_joint, linear_impulse) == 128 &&
                       sizeof(et_joint_block) == 55 * 64 && offsetof(et_joint_block, linear) == 22 * 64,
               "the Go types mirror these");

/* What a kind of joint holds: a point, the coordinate across an axis, the angle. */
static inline int has_point(uint32_t kind) { return kind == ET_POINT || kind == ET_WELD; }
static inline int has_perpendicular(uint32_t kind) { return kind == ET_PRISMATIC || kind == ET_WHEEL; }
static inline int locks_angle(uint32_t kind) { return kind == ET_WELD || kind == ET_PRISMATIC; }

/* rigid.softness, Mix and stepContext. */
typedef struct {
	float bias_rate, mass_scale, impulse_scale;
} et_softness;

enum { ET_MIX_GEOMETRIC = 1, ET_MIX_MAX = 2, ET_MIX_MIN = 3, ET_MIX_AVERAGE = 4, ET_MIX_MULTIPLY = 5 };

typedef struct {
	float h, inv_h;
	et_softness contact_softness, static_softness, joint_softness;
	float joint_hertz, joint_damping, max_bias_velocity, restitution_threshold, max_linear_speed, max_angular_speed, recycle_time, gravity[2];
	int32_t sub_steps;
	uint8_t friction_mix, restitution_mix;
} et_step_context;

/* The columns and arrays of a rigid.System: pointers to their first elements. */
typedef struct {
	/* By body. */
	et_state *states;
	float *vx, *vy, *w;
	const float *inv_mass, *inv_inertia, *force_x, *force_y, *torque, *gravity_scale, *linear_damping, *angular_damping;
	float *free_x, *free_y, *free_w;
	et_poses poses;
	float *angle;

	/* By shape. */
	const uint32_t *body_of;
	const float *friction, *restitution, *rolling_resistance, *tangent_speed;

	et_contact *contacts;
	const et_manifold *manifolds;
	et_hit *hits;
	et_base_manifold *bases; /* or NULL */
	uint8_t *base_marks;
	et_joint *joints;

	/* Blocks, and by lane of them the contact or the joint; UINT32_MAX: none. */
	et_contact_block *blocks;
	const uint32_t *lane_contacts;
	et_joint_block *joint_blocks;
	const uint32_t *lane_joints;
	int64_t body_count, block_count, joint_block_count;

	int64_t same_blocks; /* blocks of which all contacts are recycled need little preparation */

	et_step_context step;
} et_system;

_Static_assert(sizeof(et_step_context) == 88 && offsetof(et_system, step) == 39 * 8, "the Go types mirror these");

/* So many blocks, five megabytes, are fetched ahead: with fewer that gains nothing, as measured on a Zen 5. */
enum { ET_FAR_BLOCKS = 2048 };

/* rigid.FlagBase, and the constants of recycling. RECYCLE_DISTANCE is also the largest separation. */
enum { ET_BASE = 1 };
#define RECYCLE_DISTANCE 0.02f
#define RECYCLE_SHARE 0.1f
#define RECYCLE_SINE 0.02f

/* rigid.Recycling. */
typedef struct {
	const et_contact *old;
	const et_base_manifold *bases;
	const uint32_t *body_of;
	et_poses poses;
} et_recycling;

/* Makes the manifolds of n pairs from their contacts in old, which have a base, where rigid.Recycling allows it: sets
 * from of such a pair to the contact, and returns their number. */
int64_t et_recycle(int32_t level, et_recycling r, const uint32_t *pairs, const uint32_t *contacts, int64_t n, int32_t *from,
                   et_manifold *out);

/* The stages of a step, in order: methods of rigid.System, for bodies or blocks [lo, hi). */
void et_load_states(int32_t level, et_system s, int64_t lo, int64_t hi);
void et_prepare_joints(int32_t level, et_system s, int64_t lo, int64_t hi);
void et_prepare_contacts(int32_t level, et_system s, int64_t lo, int64_t hi);
void et_integrate_velocities(int32_t level, et_system s, int32_t sub, int64_t lo, int64_t hi);
void et_warm_start_joints(int32_t level, et_system s, int64_t lo, int64_t hi);
void et_warm_start_contacts(int32_t level, et_system s, int64_t lo, int64_t hi);
void et_solve_joints(int32_t level, et_system s, int32_t use_bias, int64_t lo, int64_t hi);
void et_solve_contacts(int32_t level, et_system s, int32_t use_bias, int64_t lo, int64_t hi);
void et_integrate_positions(int32_t level, et_system s, int64_t lo, int64_t hi);
void et_apply_restitution(int32_t level, et_system s, int64_t lo, int64_t hi);
void et_store_joint_impulses(et_system s, int64_t lo, int64_t hi);
void et_store_contact_impulses(et_system s, int64_t lo, int64_t hi);
void et_store_states(int32_t level, et_system s, int64_t lo, int64_t hi);

/* All stages, with all sub-steps. */
void et_solve(int32_t level, et_system s);

/* Columns of bodies: rigid.Origins. */
typedef struct {
	float *x, *y;
	const float *centre_x, *centre_y;
} et_origins;

/* Origins.UpdateCentresOfMass and Origins.UpdateOrigins of bodies [lo, hi). */
void et_update_centres(int32_t level, et_origins o, et_poses p, int64_t lo, int64_t hi);
uint32_t et_update_origins(int32_t level, et_origins o, const et_state *states, et_poses p, int64_t lo, int64_t hi,
                           uint32_t *moved);

/* Extents.FindFast of bodies [lo, hi). */
uint32_t et_find_fast(int32_t level, const float *min, const float *max, const et_state *states, int64_t lo, int64_t hi,
                      uint32_t *out);

/* rigid.AllInRange, of the bits of floats. */
int32_t et_all_in_range(int32_t level, const uint32_t *memory, int64_t stride, int64_t columns, int64_t n);

/* out[i] = Atan2(sin[i], cos[i]) */
void et_angles(int32_t level, const float *cos, const float *sin, float *out, int64_t n);

#endif
