/* The solver of package internal/rigid3: its System and the stages of a step. Structs mirror the Go types of the same names. */
#ifndef EVERTICK_SPACE_SYSTEM_H
#define EVERTICK_SPACE_SYSTEM_H

#include "space.h"

typedef struct {
	float impulse;
	uint32_t id;
} et_space_impulse;

typedef struct {
	uint32_t a, b, count, flags;
	et_space_impulse normal[ET_SPACE_POINTS];
	float tangent[3], twist, rolling[3];
} et_space_contact;

typedef struct {
	float speed, impulse;
} et_space_hit;

typedef struct {
	float friction, restitution, rolling_resistance, twist_resistance, tangent_velocity[3];
} et_space_material;

typedef struct {
	float v[3], inv_mass, w[3];
	uint32_t locks;
	float d[3], q[4], unused;
} et_space_state;

/* Bits of locks. */
enum { ET_SPACE_LOCK_X = 1, ET_SPACE_LOCK_ROTATION_X = 8, ET_SPACE_LOCK_ROTATION = 56 };

/* A symmetric matrix: xx, yy, zz, xy, xz, yz. */
typedef struct {
	float m[6], unused[2];
} et_space_inertia;

typedef struct {
	float a[ET_SPACE_LANES], b[ET_SPACE_LANES];
	float base_separation[ET_SPACE_LANES], separation[ET_SPACE_LANES], mass[ET_SPACE_LANES];
	float impulse[ET_SPACE_LANES], total_impulse[ET_SPACE_LANES], lever_arm[ET_SPACE_LANES];
} et_space_block_point;

enum {
	ET_SPACE_STATIC_BODY = 1, ET_SPACE_RESTITUTION = 2, ET_SPACE_ROLLING = 4, ET_SPACE_LOCKED = 8, ET_SPACE_SURFACE = 16,
};

typedef struct {
	uint32_t contacts, points_each, flags, dynamic_a, dynamic_b, unused[11];
	uint32_t a[ET_SPACE_LANES], b[ET_SPACE_LANES];
	float normal[3][ET_SPACE_LANES], tangent[3][ET_SPACE_LANES];
	float anchor_a[3][ET_SPACE_LANES], anchor_b[3][ET_SPACE_LANES];
	float inertia_a[6][ET_SPACE_LANES], inertia_b[6][ET_SPACE_LANES];
	float couplings[6][ET_SPACE_LANES];
	float friction_mass[3][ET_SPACE_LANES];
	float twist_mass[ET_SPACE_LANES], twist1[ET_SPACE_LANES], twist2[ET_SPACE_LANES];
	float friction[ET_SPACE_LANES];
	float x[ET_SPACE_LANES], y[ET_SPACE_LANES], twist[ET_SPACE_LANES];
	et_space_block_point points[ET_SPACE_POINTS];

	float restitution[ET_SPACE_LANES];
	float approach[ET_SPACE_POINTS][ET_SPACE_LANES];
	float rolling_resistance[ET_SPACE_LANES], twist_resistance[ET_SPACE_LANES];
	float rolling_mass[3][ET_SPACE_LANES];
	float rolling_x[ET_SPACE_LANES], rolling_y[ET_SPACE_LANES];
	float surface_x[ET_SPACE_LANES], surface_y[ET_SPACE_LANES];
	float relative_velocity[ET_SPACE_POINTS][ET_SPACE_LANES];
} et_space_block;

_Static_assert(sizeof(et_space_contact) == 76 && sizeof(et_space_material) == 28 && sizeof(et_space_state) == 64 &&
                       sizeof(et_space_block) == 93 * 64 && offsetof(et_space_block, points) == 43 * 64,
               "the Go types mirror these");

/* Coordinates of joints, by number, and sets of them. */
enum {
	ET_SPACE_TWIST = 3, ET_SPACE_SWING_Y, ET_SPACE_SWING_Z, ET_SPACE_LENGTH, ET_SPACE_CONE, ET_SPACE_COORDINATES,
	ET_SPACE_ROWS = ET_SPACE_LENGTH,
	ET_SPACE_LOCKED_POINT = 7, ET_SPACE_LOCKED_ANGLES = 56,
};

/* Bits of et_space_joint.soft, and parts of an axis. */
enum { ET_SPACE_SOFT_LINEAR = 1, ET_SPACE_SOFT_ANGULAR = 2 };
enum { ET_SPACE_SPRING = 1, ET_SPACE_MOTOR = 2, ET_SPACE_LIMITS = 4 };

typedef struct {
	float hertz, damping, max_force, velocity[3];
} et_space_drive;

typedef struct {
	uint32_t parts;
	float target, hertz, damping, lower_spring_force, upper_spring_force, motor_speed, max_motor_force, lower, upper;
} et_space_joint_axis;

typedef struct {
	float spring, motor, lower, upper;
} et_space_axis_impulse;

typedef struct {
	float rows[ET_SPACE_ROWS];
	et_space_axis_impulse axes[ET_SPACE_COORDINATES];
	float twist;
	uint32_t known;
	float impulse[3], angular[3];
} et_space_kept_joint;

typedef struct {
	uint32_t a, b, locked, soft;
	float anchor_a[3], anchor_b[3], frame_a[4], frame_b[4], hertz, damping;
	et_space_drive linear, angular;
	float target[4];
	et_space_joint_axis axes[ET_SPACE_COORDINATES];
	et_space_kept_joint kept;
} et_space_joint;

/* Classes of joints that the kernels treat in their own way. */
enum { ET_SPACE_CLASS_POINT = 1, ET_SPACE_CLASS_ALL = 8 };

typedef struct {
	uint32_t joints, class, parts, flags, dynamic_a, dynamic_b, unused[10];
	uint32_t a[ET_SPACE_LANES], b[ET_SPACE_LANES];
	float anchor_a[3][ET_SPACE_LANES], anchor_b[3][ET_SPACE_LANES], delta_centre[3][ET_SPACE_LANES];
	float inertia_a[6][ET_SPACE_LANES], inertia_b[6][ET_SPACE_LANES];
	float impulse[3][ET_SPACE_LANES], torque_a[3][ET_SPACE_LANES], torque_b[3][ET_SPACE_LANES];
	float bias_rate[ET_SPACE_LANES], mass_scale[ET_SPACE_LANES], impulse_scale[ET_SPACE_LANES];
} et_space_joint_block;

typedef struct {
	float bias_rate[ET_SPACE_LANES], compliance[ET_SPACE_LANES], max_impulse[ET_SPACE_LANES];
	float velocity[3][ET_SPACE_LANES];
} et_space_drive_lanes;

typedef struct {
	uint32_t parts[ET_SPACE_LANES];
	float target[ET_SPACE_LANES], bias_rate[ET_SPACE_LANES], mass_scale[ET_SPACE_LANES], impulse_scale[ET_SPACE_LANES];
	float lower_spring_impulse[ET_SPACE_LANES], upper_spring_impulse[ET_SPACE_LANES], motor_speed[ET_SPACE_LANES], max_motor_impulse[ET_SPACE_LANES];
	float lower[ET_SPACE_LANES], upper[ET_SPACE_LANES];
	float impulse[4][ET_SPACE_LANES]; /* spring, motor, lower, upper */
	float error[ET_SPACE_LANES];
} et_space_axis_lanes;

typedef struct {
	uint32_t locked[ET_SPACE_LANES], soft[ET_SPACE_LANES];
	uint32_t axes, any_soft, unused[14];
	float frame_a[4][ET_SPACE_LANES], frame_b[4][ET_SPACE_LANES], target[4][ET_SPACE_LANES];
	float twist[ET_SPACE_LANES];
	float rows[ET_SPACE_ROWS][ET_SPACE_LANES], error[ET_SPACE_ROWS][ET_SPACE_LANES];
	et_space_drive_lanes linear, angular;
	et_space_axis_lanes coordinates[ET_SPACE_COORDINATES];
} et_space_joint_parts;

_Static_assert(sizeof(et_space_joint) == 648 && sizeof(et_space_joint_block) == 36 * 64 && sizeof(et_space_axis_lanes) == 16 * 64 &&
                       sizeof(et_space_joint_parts) == 168 * 64,
               "the Go types mirror these");

/* rigid3.pointSweeps, bounceSweeps and similarMasses. */
enum { ET_SPACE_POINT_SWEEPS = 4, ET_SPACE_BOUNCE_SWEEPS = 8, ET_SPACE_SIMILAR_MASSES = 3 };

/* So many blocks do not fit into the cache of a CPU, of about a megabyte, with what else is in use. */
enum { ET_SPACE_FAR_BLOCKS = 128 };

/* softness and stepContext. */
typedef struct {
	float bias_rate, mass_scale, impulse_scale;
} et_space_softness;

typedef struct {
	float h, inv_h;
	int64_t sub_steps;
	et_space_softness contact_softness, similar_softness, static_softness, joint_softness;
	float joint_hertz, joint_damping;
	float max_bias_velocity, threshold, max_speed, max_spin, gravity[3];
} et_space_step_context;

/* Rows [lo, hi) of bodies. */
typedef struct {
	int64_t lo, hi;
} et_space_span;

/* The columns and arrays of a System: pointers to their first elements. */
typedef struct {
	/* By body. */
	et_space_state *states;
	et_space_pose *poses;
	float *v[3], *w[3];
	const float *inv_mass, *inv_inertia[3], *principal, *force[3], *torque[3];
	const float *gravity_scale, *linear_damping, *angular_damping;
	const uint8_t *locks;
	et_space_inertia *inertia;
	float *free[6];

	/* By shape. The contacts from first_mixed on have the materials that follow those of the shapes. */
	const uint32_t *body_of;
	const et_space_material *materials;
	int64_t shape_count, first_mixed;

	et_space_contact *contacts;
	const et_space_manifold *manifolds;
	et_space_hit *hits;

	/* Blocks, and by lane of them the contact; UINT32_MAX: none. */
	et_space_block *blocks;
	const uint32_t *lane_contacts;
	int64_t block_count;

	/* The bodies that et_space_solve moves. */
	const et_space_span *spans;
	int64_t span_count;

	/* Joints, their blocks, and by lane of them the joint; UINT32_MAX: none. */
	et_space_joint *joints;
	et_space_joint_block *joint_blocks;
	et_space_joint_parts *joint_parts;
	const uint32_t *lane_joints;
	int64_t joint_block_count;

	et_space_step_context step;
} et_space_system;

_Static_assert(sizeof(et_space_step_context) == 104 && offsetof(et_space_system, step) == 47 * 8, "the Go types mirror these");

/* The stages of a step, in order: methods of rigid3.System, for bodies or blocks [lo, hi). */
void et_space_prepare_bodies(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_prepare_contacts(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_integrate_velocities(int32_t level, et_space_system s, int64_t sub, int64_t lo, int64_t hi);
void et_space_warm_start(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_solve_contacts(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_integrate_positions(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_relax_contacts(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_apply_restitution(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_store_impulses(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_finalize_bodies(int32_t level, et_space_system s, int64_t lo, int64_t hi);

/* The same for blocks [lo, hi) of joints. */
void et_space_prepare_joints(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_warm_start_joints(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_solve_joints(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_relax_joints(int32_t level, et_space_system s, int64_t lo, int64_t hi);
void et_space_store_joint_impulses(int32_t level, et_space_system s, int64_t lo, int64_t hi);

/* All of them over all spans and blocks, with the given number of sub-steps. */
void et_space_solve(int32_t level, et_space_system s);

#endif
