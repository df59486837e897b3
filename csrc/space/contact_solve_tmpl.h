#include "contacts.h"

/* The bodies of some contacts in an iteration, and the frame of each contact. */
typedef struct {
	V(f) a[8], b[8]; /* the first half of each state as loaded: velocity, inverse mass, angular velocity, locks */
	vec va, wa, vb, wb, n, t1, t2, ra, rb;
	V(f) inertia_a[6], inertia_b[6];
} contact_pair;

HELPER(LEVEL) float *rows_of_states(const et_space_system *s) { return (float *)(void *)s->states; }

HELPER(LEVEL) void load_pair(const et_space_system *s, const et_space_block *b, uint32_t i, contact_pair *m) {
	V(rows8)(rows_of_states(s), b->a + i, STATE, m->a);
	V(rows8)(rows_of_states(s), b->b + i, STATE, m->b);
	m->va = (vec){m->a[0], m->a[1], m->a[2]};
	m->wa = (vec){m->a[4], m->a[5], m->a[6]};
	m->vb = (vec){m->b[0], m->b[1], m->b[2]};
	m->wb = (vec){m->b[4], m->b[5], m->b[6]};
	m->n = LINES(b->normal, i);
	m->t1 = LINES(b->tangent, i);
	m->t2 = cross(m->n, m->t1);
	m->ra = LINES(b->anchor_a, i);
	m->rb = LINES(b->anchor_b, i);
	for (int k = 0; k < 6; k++) {
		m->inertia_a[k] = V(load)(b->inertia_a[k] + i);
		m->inertia_b[k] = V(load)(b->inertia_b[k] + i);
	}
}

/* Stores the velocities of the dynamic bodies in some lanes. */
HELPER(LEVEL) void store_pair(const et_space_system *s, const et_space_block *b, uint32_t i, const contact_pair *m, uint32_t lanes) {
	const V(f) a[8] = {m->va.x, m->va.y, m->va.z, m->a[3], m->wa.x, m->wa.y, m->wa.z, m->a[7]};
	const V(f) c[8] = {m->vb.x, m->vb.y, m->vb.z, m->b[3], m->wb.x, m->wb.y, m->wb.z, m->b[7]};
	V(put8)(rows_of_states(s), b->a + i, STATE, a, b->dynamic_a >> i & lanes);
	V(put8)(rows_of_states(s), b->b + i, STATE, c, b->dynamic_b >> i & lanes);
}

/* The velocity of the centre on B relative to that on A. */
HELPER(LEVEL) vec centre_velocity(const contact_pair *m) {
	return vec_sub(vec_add(m->vb, cross(m->wb, m->rb)), vec_add(m->va, cross(m->wa, m->ra)));
}

/* Applies an impulse at the centre, and an angular impulse. */
HELPER(LEVEL) void apply_impulse(const et_space_block *b, contact_pair *m, vec impulse, vec angular) {
	vec on_a = impulse, on_b = impulse;
	if (b->flags & ET_SPACE_LOCKED) {
		on_a = unlocked(impulse, m->a[7]);
		on_b = unlocked(impulse, m->b[7]);
	}
	m->va = sub_times(m->va, on_a, m->a[3]);
	m->vb = add_times(m->vb, on_b, m->b[3]);
	m->wa = vec_sub(m->wa, sym_times(m->inertia_a, vec_add(cross(m->ra, impulse), angular)));
	m->wb = vec_add(m->wb, sym_times(m->inertia_b, vec_add(cross(m->rb, impulse), angular)));
}

/* The sum over points with what point k adds. */
HELPER(LEVEL) V(f) sum_points(const uint32_t k, V(f) sum, V(f) more) { return k > 0 ? ADD(sum, more) : more; }

/* The sum of normal impulses of points, and their torques about the tangents. */
typedef struct {
	V(f) sum, about1, about2;
} normal_impulse;

HELPER(LEVEL) void add_impulse(const et_space_block_point *p, uint32_t i, const uint32_t k, V(f) impulse, normal_impulse *n) {
	n->sum = sum_points(k, n->sum, impulse);
	n->about1 = sum_points(k, n->about1, MUL(V(load)(p->a + i), impulse));
	n->about2 = sum_points(k, n->about2, MUL(V(load)(p->b + i), impulse));
}

HELPER(LEVEL) void apply_normals(const et_space_block *b, contact_pair *m, const normal_impulse *n) {
	apply_impulse(b, m, vec_times(m->n, n->sum), add_times(vec_times(m->t1, n->about1), m->t2, n->about2));
}

HELPER(LEVEL) void warm_start_block(const et_space_system *s, const et_space_block *b) {
	for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
		contact_pair m;
		load_pair(s, b, i, &m);
		vec angular = vec_times(m.n, V(load)(b->twist + i));
		if (b->flags & ET_SPACE_ROLLING) {
			vec more = add_times(angular, m.t1, V(load)(b->rolling_x + i));
			more = add_times(more, m.t2, V(load)(b->rolling_y + i));
			angular = vec_select(rolling_lanes(b, i), more, angular);
		}
		apply_impulse(b, &m, add_times(vec_times(m.t1, V(load)(b->x + i)), m.t2, V(load)(b->y + i)), angular);
		normal_impulse sum = {ZERO, ZERO, ZERO};
		add_impulse(b->points, i, 0, V(load)(b->points[0].impulse + i), &sum);
		for (uint32_t k = 1; k < b->points_each; k++)
			add_impulse(&b->points[k], i, k, V(load)(b->points[k].impulse + i), &sum);
		apply_normals(b, &m, &sum);
		store_pair(s, b, i, &m, UINT32_MAX);
	}
}

KERNEL(void, space_warm_start, const et_space_system *s, int64_t lo, int64_t hi) {
	for (const et_space_block *b = s->blocks + lo; b < s->blocks + hi; b++)
		warm_start_block(s, b);
}

/* A point of a contact: its impulse before, what the impulse would become if those of the other points stayed as they
 * are, and the softened mass. */
typedef struct {
	V(f) old, next, mass;
} point_row;

HELPER(LEVEL) point_row make_row(const et_space_block_point *p, uint32_t i, V(f) velocity, V(f) mass_scale) {
	const V(f) old = V(load)(p->impulse + i), mass = MUL(mass_scale, V(load)(p->mass + i));
	return (point_row){old, SUB(MUL(mass_scale, old), MUL(mass, velocity)), mass};
}

/* Point k takes its impulse from the changes of the others. */
#define UPDATE(k)                                          \
	(impulse[k] = V(max)(x, ZERO), change[k] = SUB(impulse[k], row[k].old))
#define FEEL(k, o) x = SUB(x, MUL(effects[k][o], change[o]))

/* Finds the impulses of the points together, by projected Gauss-Seidel iterations, and sets the sum of their changes. */
HELPER(LEVEL) void solve_points(const et_space_block *b, uint32_t i, const point_row row[4], V(f) impulse[4], normal_impulse *sum,
                                const int sweeps, const uint32_t points) {
	V(f) change[4], effects[4][4];
	const int n = (int)points;
	for (int k = 0; k < n; k++)
		for (int o = 0; o < n; o++)
			if (o != k)
				effects[k][o] = MUL(row[k].mass, V(load)(b->couplings[couplings[k][o]] + i));
	for (int k = 0; k < n; k++) {
		V(f) x = row[k].next;
		for (int o = 0; o < k; o++)
			FEEL(k, o);
		UPDATE(k);
	}
	for (int sweep = 1; sweep < sweeps; sweep += 2) {
		for (int k = n - 2; k >= 0; k--) {
			V(f) x = row[k].next;
			for (int o = 0; o < k; o++)
				FEEL(k, o);
			for (int o = n - 1; o > k; o--)
				FEEL(k, o);
			UPDATE(k);
		}
		if (sweep + 1 == sweeps)
			break;
		for (int k = 1; k < n; k++) {
			V(f) x = row[k].next;
			for (int o = n - 1; o > k; o--)
				FEEL(k, o);
			for (int o = 0; o < k; o++)
				FEEL(k, o);
			UPDATE(k);
		}
	}
	for (int k = 0; k < n; k++)
		add_impulse(&b->points[k], i, (uint32_t)k, change[k], sum);
}

/* a within plus or minus the limit; a bound where a is NaN. */
HELPER(LEVEL) V(f) clamp(V(f) a, V(f) limit) { return V(max)(V(min)(a, limit), V(negate)(limit)); }

/* Shortens (x, y) to the limit. */
HELPER(LEVEL) void clamp_circle(V(f) *x, V(f) *y, V(f) limit) {
	const V(f) square = ADD(MUL(*x, *x), MUL(*y, *y));
	const V(mask) within = V(le)(square, MUL(limit, limit));
	if ((within & V(first)(V(LANES))) == V(first)(V(LANES)))
		return;
	const V(f) scale = DIV(limit, V(sqrt)(square));
	*x = V(select)(within, *x, clamp(MUL(*x, scale), limit));
	*y = V(select)(within, *y, clamp(MUL(*y, scale), limit));
}

/* A symmetric matrix of two rows times (x, y). */
HELPER(LEVEL) void planar_times(const float m[3][ET_SPACE_LANES], uint32_t i, V(f) *x, V(f) *y) {
	const V(f) xx = V(load)(m[0] + i), yy = V(load)(m[1] + i), xy = V(load)(m[2] + i), u = *x, v = *y;
	*x = ADD(MUL(xx, u), MUL(xy, v));
	*y = ADD(MUL(xy, u), MUL(yy, v));
}

HELPER(LEVEL) void solve_rolling(et_space_block *b, uint32_t i, contact_pair *m, V(mask) lanes, V(f) sum) {
	const contact_pair before = *m;
	const vec w = vec_sub(m->wb, m->wa);
	V(f) x = dot(w, m->t1), y = dot(w, m->t2);
	const V(f) old_x = V(load)(b->rolling_x + i), old_y = V(load)(b->rolling_y + i);
	planar_times(b->rolling_mass, i, &x, &y);
	x = SUB(old_x, x);
	y = SUB(old_y, y);
	clamp_circle(&x, &y, MUL(V(load)(b->rolling_resistance + i), sum));
	V(storesome)(b->rolling_x + i, lanes, x);
	V(storesome)(b->rolling_y + i, lanes, y);
	apply_impulse(b, m, (vec){ZERO, ZERO, ZERO}, add_times(vec_times(m->t1, SUB(x, old_x)), m->t2, SUB(y, old_y)));
	m->va = vec_select(lanes, m->va, before.va);
	m->wa = vec_select(lanes, m->wa, before.wa);
	m->vb = vec_select(lanes, m->vb, before.vb);
	m->wb = vec_select(lanes, m->wb, before.wb);
}

HELPER(LEVEL) void solve_friction(et_space_block *b, uint32_t i, contact_pair *m) {
	V(f) sum = V(load)(b->points[0].impulse + i), levers = MUL(V(load)(b->points[0].lever_arm + i), sum);
	for (uint32_t k = 1; k < b->points_each; k++) {
		const et_space_block_point *const p = &b->points[k];
		const V(f) impulse = V(load)(p->impulse + i);
		sum = ADD(sum, impulse);
		levers = ADD(levers, MUL(V(load)(p->lever_arm + i), impulse));
	}
	if (b->flags & ET_SPACE_ROLLING)
		solve_rolling(b, i, m, rolling_lanes(b, i), sum);
	const vec v = centre_velocity(m), w = vec_sub(m->wb, m->wa);
	V(f) x = dot(v, m->t1), y = dot(v, m->t2);
	if (b->flags & ET_SPACE_SURFACE) {
		x = SUB(x, V(load)(b->surface_x + i));
		y = SUB(y, V(load)(b->surface_y + i));
	}
	const V(f) friction = V(load)(b->friction + i), old_x = V(load)(b->x + i), old_y = V(load)(b->y + i);
	planar_times(b->friction_mass, i, &x, &y);
	x = SUB(old_x, x);
	y = SUB(old_y, y);
	clamp_circle(&x, &y, MUL(friction, sum));
	const V(f) change_x = SUB(x, old_x), change_y = SUB(y, old_y);
	V(store)(b->x + i, x);
	V(store)(b->y + i, y);

	const V(f) spin = ADD(dot(w, m->n), ADD(MUL(V(load)(b->twist1 + i), change_x), MUL(V(load)(b->twist2 + i), change_y)));
	V(f) limit = MUL(friction, levers);
	if (b->flags & ET_SPACE_ROLLING)
		limit = V(select)(rolling_lanes(b, i), ADD(limit, MUL(V(load)(b->twist_resistance + i), sum)), limit);
	const V(f) old = V(load)(b->twist + i);
	const V(f) twist = clamp(SUB(old, MUL(V(load)(b->twist_mass + i), spin)), limit);
	V(store)(b->twist + i, twist);
	apply_impulse(b, m, add_times(vec_times(m->t1, change_x), m->t2, change_y), vec_times(m->n, SUB(twist, old)));
}

/* The rotation since the step began, from the second half of a state. */
HELPER(LEVEL) vec turn(const V(f) moved[8]) {
	const V(f) two = V(pick)(ZERO, moved[6], V(set1)(-2.0f), V(set1)(2.0f));
	return (vec){MUL(moved[3], two), MUL(moved[4], two), MUL(moved[5], two)};
}

HELPER(LEVEL) void update_separations(const et_space_system *s, et_space_block *b, uint32_t i, const contact_pair *m) {
	V(f) a[8], c[8];
	V(rows8)(rows_of_states(s) + 8, b->a + i, STATE, a);
	V(rows8)(rows_of_states(s) + 8, b->b + i, STATE, c);
	const vec turn_a = turn(a), turn_b = turn(c), relative = vec_sub(turn_b, turn_a);
	const vec at_b = vec_add((vec){c[0], c[1], c[2]}, cross(turn_b, m->rb));
	const vec at_a = vec_add((vec){a[0], a[1], a[2]}, cross(turn_a, m->ra));
	const V(f) moved = dot(vec_sub(at_b, at_a), m->n), about1 = dot(relative, m->t1), about2 = dot(relative, m->t2);
	for (uint32_t k = 0; k < b->points_each; k++) {
		et_space_block_point *const p = &b->points[k];
		const V(f) turned = ADD(MUL(V(load)(p->a + i), about1), MUL(V(load)(p->b + i), about2));
		V(store)(p->separation + i, ADD(V(load)(p->base_separation + i), ADD(moved, turned)));
	}
}

/* The relative motion of the bodies of some contacts: along the normal at the centre, and about the tangents. */
typedef struct {
	V(f) vn, w1, w2;
} normal_motion;

HELPER(LEVEL) normal_motion motion_of(const contact_pair *m) {
	const vec w = vec_sub(m->wb, m->wa);
	return (normal_motion){dot(centre_velocity(m), m->n), dot(w, m->t1), dot(w, m->t2)};
}

/* The velocity at which the bodies part at a point. */
HELPER(LEVEL) V(f) point_velocity(const et_space_block_point *p, uint32_t i, const normal_motion *d) {
	return ADD(d->vn, ADD(MUL(V(load)(p->a + i), d->w1), MUL(V(load)(p->b + i), d->w2)));
}

/* The softness of some contacts, as stepContext.softnessOf. */
typedef struct {
	V(f) bias_rate, mass_scale;
} contact_softness;

HELPER(LEVEL) contact_softness softness_of(const et_space_block *b, const et_space_step_context *step, const contact_pair *m) {
	if (b->flags & ET_SPACE_STATIC_BODY)
		return (contact_softness){V(set1)(step->static_softness.bias_rate), V(set1)(step->static_softness.mass_scale)};
	const V(f) least = V(min)(m->a[3], m->b[3]), most = V(max)(m->a[3], m->b[3]);
	const V(mask) similar = V(le)(most, MUL(V(set1)(ET_SPACE_SIMILAR_MASSES), least));
	return (contact_softness){
		V(select)(similar, V(set1)(step->similar_softness.bias_rate), V(set1)(step->contact_softness.bias_rate)),
		V(select)(similar, V(set1)(step->similar_softness.mass_scale), V(set1)(step->contact_softness.mass_scale)),
	};
}

/* One iteration of the points of some contacts. */
HELPER(LEVEL) void iterate_points(et_space_block *b, uint32_t i, const normal_motion *d, const et_space_step_context *step,
                                  const contact_softness *soft, normal_impulse *sum, const int use_bias, const uint32_t points) {
	point_row row[4];
	for (uint32_t k = 0; k < points; k++) {
		et_space_block_point *const p = &b->points[k];
		const V(f) velocity = point_velocity(p, i, d), separation = V(load)(p->separation + i);
		const V(f) close = MUL(separation, V(set1)(step->inv_h));
		if (!use_bias) {
			row[k] = make_row(p, i, ADD(velocity, V(max)(close, ZERO)), ONE);
			continue;
		}
		if (b->flags & ET_SPACE_RESTITUTION)
			V(storesome)(b->approach[k] + i, V(first)(V(LANES)) & ~nonzero(V(load)(p->impulse + i)), velocity);
		const V(f) push = V(max)(MUL(soft->bias_rate, separation), V(set1)(-step->max_bias_velocity));
		const V(f) bias = V(pick)(separation, ZERO, close, push);
		row[k] = make_row(p, i, ADD(velocity, bias), V(pick)(separation, ZERO, ONE, soft->mass_scale));
	}
	V(f) impulse[4];
	solve_points(b, i, row, impulse, sum, ET_SPACE_POINT_SWEEPS, points);
	for (uint32_t k = 0; k < points; k++) {
		et_space_block_point *const p = &b->points[k];
		V(store)(p->impulse + i, impulse[k]);
		if (!use_bias)
			V(store)(p->total_impulse + i, ADD(V(load)(p->total_impulse + i), impulse[k]));
	}
}

HELPER(LEVEL) void solve_block(const et_space_system *s, et_space_block *b, const et_space_step_context *step, const int use_bias) {
	for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
		contact_pair m;
		load_pair(s, b, i, &m);
		if (!use_bias) {
			solve_friction(b, i, &m);
			update_separations(s, b, i, &m);
		}
		const normal_motion d = motion_of(&m);
		const contact_softness soft = softness_of(b, step, &m);
		normal_impulse sum = {ZERO, ZERO, ZERO};
		BY_POINTS(b, iterate_points, b, i, &d, step, &soft, &sum, use_bias);
		apply_normals(b, &m, &sum);
		store_pair(s, b, i, &m, UINT32_MAX);
	}
}

/* Fetches what an iteration will read of the next block, unless there are so few that they are in the cache anyway. */
HELPER(LEVEL) void fetch_next(const et_space_system *s, const et_space_block *b, const et_space_block *end, const int use_bias) {
	const et_space_block *const next = b + 1;
	if (s->block_count < ET_SPACE_FAR_BLOCKS || next >= end)
		return;
	__builtin_prefetch(next + 1);
	const size_t last = use_bias ? offsetof(et_space_block, friction_mass) : offsetof(et_space_block, points);
	for (size_t at = offsetof(et_space_block, a); at < last; at += 64)
		__builtin_prefetch((const char *)next + at);
	for (uint32_t k = 0; k < next->points_each; k++) {
		const et_space_block_point *const p = &next->points[k];
		__builtin_prefetch(p->a);
		__builtin_prefetch(p->b);
		__builtin_prefetch(p->separation);
		__builtin_prefetch(p->mass);
		__builtin_prefetch(p->impulse);
		if (use_bias)
			continue;
		__builtin_prefetch(p->base_separation);
		__builtin_prefetch(p->total_impulse);
		__builtin_prefetch(p->lever_arm);
	}
}

HELPER(LEVEL) void solve_blocks(const et_space_system *s, int64_t lo, int64_t hi, const int use_bias) {
	const et_space_step_context step = s->step; /* no store can change a copy */
	const et_space_block *const end = s->blocks + hi;
	for (et_space_block *b = s->blocks + lo; b < end; b++) {
		fetch_next(s, b, end, use_bias);
		solve_block(s, b, &step, use_bias);
	}
}

KERNEL(void, space_solve_contacts, const et_space_system *s, int64_t lo, int64_t hi) { solve_blocks(s, lo, hi, 1); }

KERNEL(void, space_relax_contacts, const et_space_system *s, int64_t lo, int64_t hi) { solve_blocks(s, lo, hi, 0); }

/* Makes points of some contacts bounce. */
HELPER(LEVEL) void bounce_points(et_space_block *b, uint32_t i, const normal_motion *d, float threshold, normal_impulse *sum,
                                 const uint32_t points) {
	const V(f) restitution = V(load)(b->restitution + i);
	const V(mask) lanes = V(lt)(ZERO, restitution);
	V(f) impulse[4];
	point_row row[4];
	for (uint32_t k = 0; k < points; k++) {
		const et_space_block_point *const p = &b->points[k];
		const V(f) approach = V(load)(b->approach[k] + i), old = V(load)(p->impulse + i);
		const V(mask) bounces = V(lt)(ZERO, old) & V(lt)(approach, V(set1)(-threshold)) & lanes;
		row[k] = make_row(p, i, ADD(point_velocity(p, i, d), MUL(restitution, approach)), ONE);
		row[k].next = V(select)(bounces, row[k].next, old);
		row[k].mass = V(keep)(row[k].mass, bounces);
		V(storesome)(b->approach[k] + i, lanes, ZERO);
	}
	solve_points(b, i, row, impulse, sum, ET_SPACE_BOUNCE_SWEEPS, points);
	for (uint32_t k = 0; k < points; k++) {
		et_space_block_point *const p = &b->points[k];
		V(storesome)(p->impulse + i, lanes, impulse[k]);
		V(storesome)(p->total_impulse + i, lanes, ADD(V(load)(p->total_impulse + i), SUB(impulse[k], row[k].old)));
	}
}

KERNEL(void, space_apply_restitution, const et_space_system *s, int64_t lo, int64_t hi) {
	for (et_space_block *b = s->blocks + lo; b < s->blocks + hi; b++) {
		for (uint32_t i = 0; i < b->contacts && b->flags & ET_SPACE_RESTITUTION; i += V(LANES)) {
			contact_pair m;
			load_pair(s, b, i, &m);
			const normal_motion d = motion_of(&m);
			normal_impulse sum = {ZERO, ZERO, ZERO};
			BY_POINTS(b, bounce_points, b, i, &d, s->step.threshold, &sum);
			apply_normals(b, &m, &sum);
			store_pair(s, b, i, &m, V(lt)(ZERO, V(load)(b->restitution + i)));
		}
	}
}
