/* The contact solver of package native/rigid: what its methods on System do, on bodies
 * and blocks from the given one on. Arrays of C structs mirror the Go types; columns are
 * passed from their beginning, blocks and the contacts of their lanes from the first. */
#ifndef EVERTICK_RIGID_SOLVE_H
#define EVERTICK_RIGID_SOLVE_H

#include "rigid.h"

enum { ET_LANES = 16 };

/* rigid.Impulse, Contact, State, Hit. */
typedef struct {
	float normal, tangent;
	uint32_t id;
} et_impulse;

typedef struct {
	uint32_t a, b, count, flags;
	float rolling;
	et_impulse points[2];
} et_contact;

typedef struct {
	float vx, vy, w, inv_mass, dx, dy, c, s;
} et_state;

typedef struct {
	float speed, impulse;
} et_hit;

/* rigid.BlockPoint and Block. */
typedef struct {
	float lever_a[ET_LANES], reach_a[ET_LANES], lever_b[ET_LANES], reach_b[ET_LANES];
	float separation[ET_LANES], normal_mass[ET_LANES], tangent_mass[ET_LANES];
	float normal[ET_LANES], tangent[ET_LANES], total[ET_LANES], approach[ET_LANES];
} et_contact_point;

enum { ET_FIXED = 1, ET_BOUNCES = 2, ET_ROLLS = 4, ET_CONVEYS = 8 };

typedef struct {
	uint32_t contacts, points_each, flags, dynamic_a, dynamic_b, unused[11];
	uint32_t a[ET_LANES], b[ET_LANES];
	float inv_ia[ET_LANES], inv_ib[ET_LANES], nx[ET_LANES], ny[ET_LANES], friction[ET_LANES];
	et_contact_point points[2];
	float restitution[ET_LANES], tangent_speed[ET_LANES];
	float rolling_resistance[ET_LANES], rolling_mass[ET_LANES], rolling[ET_LANES];
} et_contact_block;

_Static_assert(sizeof(et_contact) == 44 && sizeof(et_state) == 32 &&
               sizeof(et_contact_block) == 35 * 64, "the Go types mirror these");

/* rigid.Mix. */
enum et_mix { ET_GEOMETRIC = 1, ET_MAX = 2, ET_MIN = 3, ET_AVERAGE = 4, ET_MULTIPLY = 5 };

/* out[i] = Atan2(sin[i], cos[i]) */
void et_angles(int32_t level, const float *cos, const float *sin, float *out, int64_t n);

/* System.Start of bodies [lo, hi). */
void et_start(int32_t level, et_state *states, const float *vx, const float *vy, const float *w,
              const float *inv_mass, int64_t lo, int64_t hi);

/* System.IntegrateVelocities; warm is 0 in the first sub-step. */
void et_velocities(int32_t level, et_state *states, const float *inv_inertia, const float *fx, const float *fy,
                   const float *torque, const float *gravity_scale, const float *linear, const float *angular,
                   float *free_x, float *free_y, float *free_w, float gx, float gy, float h, float max_speed,
                   float max_turn, int32_t warm, int64_t lo, int64_t hi);

/* System.IntegratePositions. */
void et_positions(int32_t level, et_state *states, float h, float max_speed, float max_turn, int64_t lo, int64_t hi);

/* System.Finish. */
void et_finish(int32_t level, const et_state *states, float *vx, float *vy, float *w, float *x, float *y,
               float *cos, float *sin, float *angle, float max_speed, float max_turn, int64_t lo, int64_t hi);

/* Origins.Centres and Origins.Follow of bodies [lo, hi); mass_x and mass_y are those of the
 * poses. */
void et_mass_centres(int32_t level, float *x, float *y, const float *centre_x, const float *centre_y, const float *cos,
                const float *sin, float *mass_x, float *mass_y, int64_t lo, int64_t hi);
uint32_t et_follow(int32_t level, const et_state *states, float *x, float *y, const float *centre_x,
                   const float *centre_y, const float *cos, const float *sin, float *mass_x, float *mass_y, int64_t lo,
                   int64_t hi, uint32_t *moved);

/* rigid.Usable, of the bits of floats. */
int32_t et_usable(int32_t level, const uint32_t *memory, int64_t stride, int64_t columns, int64_t n);

/* System.Prepare of n blocks. */
void et_prepare(int32_t level, et_contact_block *blocks, const uint32_t *contact, int64_t n,
                const et_manifold *manifolds, const et_contact *contacts, const et_state *states,
                const uint32_t *body, const float *inv_inertia, const float *friction, const float *restitution,
                const float *rolling, const float *tangent_speed, int32_t mix_friction, int32_t mix_restitution);

/* System.WarmStart. */
void et_warm_start(int32_t level, et_contact_block *blocks, int64_t n, et_state *states);

/* System.Solve: softness is rate, mass and impulse for blocks of moving bodies, then for the
 * others. */
void et_solve(int32_t level, et_contact_block *blocks, int64_t n, et_state *states, float rate, float mass,
              float impulse, float fixed_rate, float fixed_mass, float fixed_impulse, float inv_h, float push,
              int32_t biased);

/* Blocks of joints: see joint.h. */
struct et_joint_block;

/* All sub-steps of System.Run, over all bodies and blocks, those of joints included: softness as
 * et_solve and et_solve_joints have it. */
void et_sub_steps(int32_t level, et_state *states, int64_t bodies, const float *inv_inertia, const float *fx,
                  const float *fy, const float *torque, const float *gravity_scale, const float *linear,
                  const float *angular, float *free_x, float *free_y, float *free_w, float gx, float gy, float h,
                  float max_speed, float max_turn, et_contact_block *blocks, int64_t n, float rate, float mass,
                  float impulse, float fixed_rate, float fixed_mass, float fixed_impulse, float inv_h, float push,
                  struct et_joint_block *joint_blocks, int64_t joints, float joint_rate, float joint_mass,
                  float joint_impulse, int32_t sub_steps);

/* System.Restitution. */
void et_restitution(int32_t level, et_contact_block *blocks, int64_t n, et_state *states, float threshold);

/* System.Store. */
void et_store(const et_contact_block *blocks, const uint32_t *contact, int64_t n, et_contact *contacts, et_hit *hits);

#endif
