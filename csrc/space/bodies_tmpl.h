#include "system.h"
#include "vectors.h"

/* Runs a step for LANES bodies from body i on, and in portable C, for bodies i to end, if scalar says so for bodies i to
 * i + LANES, and for the rest. */
#define EACH_BODY(lo, hi, scalar, step, portable)                      \
	do {                                                           \
		int64_t i = lo, end = i;                               \
		for (; i + V(LANES) <= (hi); i += V(LANES)) {          \
			end = i + V(LANES);                            \
			if (V(LANES) > 1 && (scalar))                  \
				portable;                              \
			else                                           \
				step;                                  \
		}                                                      \
		end = hi;                                              \
		if (V(LANES) > 1 && i < end)                           \
			portable;                                      \
	} while (0)

HELPER(LEVEL) vec load_columns(const float *const c[3], int64_t i) {
	return (vec){V(load)(c[0] + i), V(load)(c[1] + i), V(load)(c[2] + i)};
}

HELPER(LEVEL) void put_columns(float *const c[3], int64_t i, vec v) {
	V(store)(c[0] + i, v.x);
	V(store)(c[1] + i, v.y);
	V(store)(c[2] + i, v.z);
}

HELPER(LEVEL) quat pose_rotations(const et_space_system *s, int64_t i) {
	V(f) q[4];
	V(rows4)(s->poses[i].q, side_by_side, 7, q);
	return (quat){q[0], q[1], q[2], q[3]};
}

HELPER(LEVEL) quat principal_rotations(const et_space_system *s, int64_t i) {
	V(f) q[4];
	V(rows4)(s->principal + 4 * i, side_by_side, 4, q);
	return (quat){q[0], q[1], q[2], q[3]};
}

/* Whether one of LANES bodies has locks. */
HELPER(LEVEL) int any_locks(const et_space_system *s, int64_t i) {
	uint32_t any = 0;
	for (int k = 0; k < V(LANES); k++)
		any |= s->locks[i + k];
	return any != 0;
}

#ifdef DISPATCH
/* Removes the row and the column of an axis from an inverse inertia, as Sym.lock: the places of its diagonal, of the two
 * numbers beside it, of the diagonals of these, and of what is left. */
static void lock_axis(float m[6], int pivot, int x, int y, int xx, int yy, int xy) {
	const float d = inverse(m[pivot]), share_x = m[x] * d, share_y = m[y] * d;
	const float left_x = m[xx] - share_x * m[x], left_y = m[yy] - share_y * m[y], left = m[xy] - share_x * m[y];
	m[xx] = left_x;
	m[yy] = left_y;
	m[xy] = left;
	m[pivot] = m[x] = m[y] = 0;
}

static void lock_inertia(float m[6], uint32_t axes) {
	if (axes & 1)
		lock_axis(m, 0, 3, 4, 1, 2, 5);
	if (axes & 2)
		lock_axis(m, 1, 3, 5, 0, 2, 4);
	if (axes & 4)
		lock_axis(m, 2, 4, 5, 0, 1, 3);
}

/* Removes the velocity along locked axes. */
static void apply_locks(et_space_state *st) {
	for (int k = 0; k < 3; k++) {
		if (st->locks >> k & 1)
			st->v[k] = 0;
		if (st->locks >> (k + 3) & 1)
			st->w[k] = 0;
	}
}
#endif

HELPER(LEVEL) void prepare_bodies(const et_space_system *s, int64_t i) {
	const vec v = load_columns((const float *const *)s->v, i), w = load_columns((const float *const *)s->w, i);
	const vec d = load_columns(s->inv_inertia, i);
	const V(f) first[8] = {v.x, v.y, v.z, V(load)(s->inv_mass + i), w.x, w.y, w.z, ZERO};
	const V(f) second[8] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ONE, ZERO};
	float *const states = (float *)(void *)&s->states[i];
	V(put8)(states, side_by_side, 16, first, UINT32_MAX);
	V(put8)(states + 8, side_by_side, 16, second, UINT32_MAX);
	const mat m = matrix(quat_times(pose_rotations(s, i), principal_rotations(s, i)));
	const vec dx = {MUL(m.x.x, d.x), MUL(m.x.y, d.y), MUL(m.x.z, d.z)};
	const vec dy = {MUL(m.y.x, d.x), MUL(m.y.y, d.y), MUL(m.y.z, d.z)};
	const vec dz = {MUL(m.z.x, d.x), MUL(m.z.y, d.y), MUL(m.z.z, d.z)};
	const V(f) inertia[8] = {dot(dx, m.x), dot(dy, m.y), dot(dz, m.z), dot(dx, m.y), dot(dx, m.z), dot(dy, m.z), ZERO, ZERO};
	V(put8)(s->inertia[i].m, side_by_side, 8, inertia, UINT32_MAX);
#ifdef DISPATCH
	if (s->locks[i] != 0 && s->inv_mass[i] > 0) {
		s->states[i].locks = s->locks[i];
		apply_locks(&s->states[i]);
		lock_inertia(s->inertia[i].m, s->locks[i] / ET_SPACE_LOCK_ROTATION_X);
	}
#endif
}

KERNEL(void, space_prepare_bodies, const et_space_system *s, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, any_locks(s, i), prepare_bodies(s, i), et_space_prepare_bodies_c(s, i, end));
}

/* v with at most a length, even if its square overflows, in the lanes of the mask. */
HELPER(LEVEL) vec shortened(vec v, float limit, V(mask) lanes) {
	const V(f) most = V(set1)(limit), square = dot(v, v);
	const V(mask) longer = V(lt)(MUL(most, most), square) & lanes;
	if (!longer) /* nearly always */
		return v;
	const V(mask) far = V(lt)(V(set1)(0x1.fffffep127f), square);
	const vec u = vec_select(far, vec_times(v, V(set1)(0x1p-70f)), v);
	const V(f) scale = DIV(most, V(sqrt)(dot(u, u)));
	return vec_select(longer, vec_times(u, scale), v);
}

/* The angular velocity w of free bodies after h seconds, as Gyroscopic. */
HELPER(LEVEL) vec gyroscopic(vec w, vec moments, V(f) h) {
	const vec l = {MUL(moments.x, w.x), MUL(moments.y, w.y), MUL(moments.z, w.z)}, torque = cross(w, l);
	const V(f) k = MUL(V(set1)(0.5f), h);
	const vec a = {moments.x, MUL(k, SUB(l.z, MUL(w.z, moments.y))), MUL(k, SUB(MUL(w.y, moments.z), l.y))};
	const vec b = {MUL(k, SUB(MUL(w.z, moments.x), l.z)), moments.y, MUL(k, SUB(l.x, MUL(w.x, moments.z)))};
	const vec c = {MUL(k, SUB(l.y, MUL(w.y, moments.x))), MUL(k, SUB(MUL(w.x, moments.y), l.x)), moments.z};
	const vec r = vec_times(torque, h), bc = cross(b, c), ca = cross(c, a), ab = cross(a, b);
	const V(f) determinant = dot(a, bc);
	const vec x = vec_add(vec_add(vec_times(bc, r.x), vec_times(ca, r.y)), vec_times(ab, r.z));
	const vec change = {DIV(x.x, determinant), DIV(x.y, determinant), DIV(x.z, determinant)};
	const V(mask) turns = (differ(moments.x, moments.y) | differ(moments.y, moments.z)) & V(lt)(V(set1)(0x1p-127f), V(abs)(determinant));
	return vec_select(turns, vec_sub(w, change), w);
}

/* 1 / (1 + h * damping) */
HELPER(LEVEL) V(f) damped(V(f) h, const float *damping) { return DIV(ONE, ADD(ONE, MUL(h, V(load)(damping)))); }

/* The angular velocities w of LANES bodies after torques and the gyroscopic term. */
HELPER(LEVEL) vec turned(const et_space_system *s, int64_t i, vec w, V(mask) dynamic) {
	const vec inv = load_columns(s->inv_inertia, i), torque = load_columns(s->torque, i);
	const V(mask) turns = (differ(inv.x, inv.y) | differ(inv.y, inv.z) | vec_nonzero(torque)) & dynamic;
	if (!turns)
		return w;
	const V(f) h = V(set1)(s->step.h);
	V(f) moved[8];
	V(rows8)((const float *)(const void *)s->states[i].d, side_by_side, 16, moved);
	const quat q = quat_times(quat_times((quat){moved[3], moved[4], moved[5], moved[6]}, pose_rotations(s, i)), principal_rotations(s, i));
	const mat m = matrix(q);
	const vec old = times_mat(w, &m), t = times_mat(torque, &m), moments = {inverse(inv.x), inverse(inv.y), inverse(inv.z)};
	const vec pushed = {MUL(t.x, inv.x), MUL(t.y, inv.y), MUL(t.z, inv.z)};
	const vec now = add_times(gyroscopic(old, moments, h), pushed, h);
	return vec_select(turns & vec_differ(now, old), mat_times(&m, now), w);
}

HELPER(LEVEL) void integrate_velocity(const et_space_system *s, int64_t sub, int64_t i) {
	float *const states = (float *)(void *)&s->states[i];
	const V(f) h = V(set1)(s->step.h);
	V(f) row[8];
	V(rows8)(states, side_by_side, 16, row);
	const V(mask) dynamic = V(lt)(ZERO, row[3]);
	if (!dynamic)
		return;
	const vec old_v = {row[0], row[1], row[2]}, old_w = {row[4], row[5], row[6]}, force = load_columns(s->force, i);
	const vec gravity = {V(set1)(s->step.gravity[0]), V(set1)(s->step.gravity[1]), V(set1)(s->step.gravity[2])};
	const vec a = vec_add(vec_times(gravity, V(load)(s->gravity_scale + i)), vec_times(force, row[3]));
	vec v = vec_times(add_times(old_v, a, h), damped(h, s->linear_damping + i)), w;
#ifdef DISPATCH
	et_space_state *const st = &s->states[i];
	if (st->locks & ET_SPACE_LOCK_ROTATION) {
		const vec torque = load_columns(s->torque, i);
		w = add_times(old_w, sym_times(s->inertia[i].m, torque), h);
	} else
#endif
		w = turned(s, i, old_w, dynamic);
	w = vec_times(w, damped(h, s->angular_damping + i));
	v = shortened(v, s->step.max_speed, dynamic);
	w = shortened(w, s->step.max_spin, dynamic);
#ifdef DISPATCH
	for (int k = 0; k < 6; k++)
		if (st->locks >> k & 1)
			*(k == 0 ? &v.x : k == 1 ? &v.y : k == 2 ? &v.z : k == 3 ? &w.x : k == 4 ? &w.y : &w.z) = 0;
#endif
	const V(f) free[8] = {v.x, v.y, v.z, row[3], w.x, w.y, w.z, row[7]};
	V(f) now[8];
	for (int k = 0; k < 8; k++) {
		now[k] = row[k];
		if (k == 3 || k == 7)
			continue;
		float *const column = s->free[k < 3 ? k : k - 1] + i;
		now[k] = free[k];
		if (sub > 0)
			now[k] = ADD(now[k], SUB(row[k], V(load)(column)));
		V(storesome)(column, dynamic, free[k]);
	}
	V(put8)(states, side_by_side, 16, now, dynamic);
}

KERNEL(void, space_integrate_velocities, const et_space_system *s, int64_t sub, int64_t lo, int64_t hi) {
	EACH_BODY(lo, hi, any_locks(s, i), integrate_velocity(s, sub, i), et_space_integrate_velocities_c(s, sub, i, end));
}

HELPER(LEVEL) void integrate_position(const et_space_system *s, const et_space_step_context *step, int64_t i) {
	float *const states = (float *)(void *)&s->states[i];
	const V(f) h = V(set1)(step->h), half = V(set1)(0.5f * step->h);
	V(f) row[8], moved[8];
	V(rows8)(states, side_by_side, 16, row);
	V(rows8)(states + 8, side_by_side, 16, moved);
	const V(mask) dynamic = V(lt)(ZERO, row[3]);
	const vec v = shortened((vec){row[0], row[1], row[2]}, step->max_speed, dynamic);
	const vec w = shortened((vec){row[4], row[5], row[6]}, step->max_spin, dynamic);
	const vec d = add_times((vec){moved[0], moved[1], moved[2]}, v, h), turn = vec_times(w, half);
	const quat q = {moved[3], moved[4], moved[5], moved[6]}, by = quat_times((quat){turn.x, turn.y, turn.z, ZERO}, q);
	const quat to = normalize((quat){ADD(q.x, by.x), ADD(q.y, by.y), ADD(q.z, by.z), ADD(q.w, by.w)});
	const V(mask) turns = vec_nonzero(w);
	const V(f) now[8] = {v.x, v.y, v.z, row[3], w.x, w.y, w.z, row[7]};
	const V(f) there[8] = {d.x, d.y, d.z, V(select)(turns, to.x, q.x), V(select)(turns, to.y, q.y), V(select)(turns, to.z, q.z),
	                       V(select)(turns, to.w, q.w), moved[7]};
	V(put8)(states, side_by_side, 16, now, UINT32_MAX);
	V(put8)(states + 8, side_by_side, 16, there, UINT32_MAX);
}

KERNEL(void, space_integrate_positions, const et_space_system *s, int64_t lo, int64_t hi) {
	const et_space_step_context step = s->step; /* no store can change a copy */
	EACH_BODY(lo, hi, 0, integrate_position(s, &step, i), et_space_integrate_positions_c(s, i, end));
}

HELPER(LEVEL) void finalize_body(const et_space_system *s, const et_space_step_context *step, int64_t i) {
	const float *const states = (const float *)(const void *)&s->states[i];
	V(f) row[8], moved[8], position[4];
	V(rows8)(states, side_by_side, 16, row);
	V(rows8)(states + 8, side_by_side, 16, moved);
	const V(mask) dynamic = V(lt)(ZERO, row[3]);
	put_columns(s->v, i, shortened((vec){row[0], row[1], row[2]}, step->max_speed, dynamic));
	put_columns(s->w, i, shortened((vec){row[4], row[5], row[6]}, step->max_spin, dynamic));
	V(rows4)(s->poses[i].p, side_by_side, 7, position);
	const vec p = {position[0], position[1], position[2]}, d = {moved[0], moved[1], moved[2]};
	const vec at = vec_select(vec_nonzero(d), vec_add(p, d), p);
	const quat was = pose_rotations(s, i), q = {moved[3], moved[4], moved[5], moved[6]}, to = normalize(quat_times(q, was));
	const V(mask) turned = nonzero(q.x) | nonzero(q.y) | nonzero(q.z) | differ(q.w, ONE);
	const V(f) rotation[4] = {V(select)(turned, to.x, was.x), V(select)(turned, to.y, was.y), V(select)(turned, to.z, was.z),
	                          V(select)(turned, to.w, was.w)};
	const V(f) first[4] = {at.x, at.y, at.z, rotation[0]};
	V(put4)(s->poses[i].p, side_by_side, 7, first, UINT32_MAX);
	V(put4)(s->poses[i].q, side_by_side, 7, rotation, UINT32_MAX);
}

KERNEL(void, space_finalize_bodies, const et_space_system *s, int64_t lo, int64_t hi) {
	const et_space_step_context step = s->step;
	EACH_BODY(lo, hi, 0, finalize_body(s, &step, i), et_space_finalize_bodies_c(s, i, end));
}
