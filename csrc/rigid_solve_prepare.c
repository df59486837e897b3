#include "rigid_solve.h"
#include "rigid_solve_lanes.h"

/* What blocks are made of: see et_prepare. */
typedef struct {
	const et_manifold *manifolds;
	const et_contact *contacts;
	const et_state *states;
	const uint32_t *body;
	const float *inv_inertia, *friction, *restitution, *rolling, *tangent_speed;
	int32_t mix_friction, mix_restitution;
} sources;

/* The contacts of a block, those of the lanes without one being the first, and their
 * shapes. */
typedef struct {
	uint32_t contact[ET_LANES], a[ET_LANES], b[ET_LANES];
} lanes;

static uint32_t look_up(const sources *s, const uint32_t *contact, et_contact_block *b, lanes *l) {
	uint32_t n = 0;
	for (uint32_t i = 0; i < ET_LANES; i++) {
		const uint32_t c = contact[i] == UINT32_MAX ? contact[0] : contact[i];
		n += contact[i] != UINT32_MAX;
		l->contact[i] = c;
		l->a[i] = s->contacts[c].a;
		l->b[i] = s->contacts[c].b;
		b->a[i] = s->body[l->a[i]];
		b->b[i] = s->body[l->b[i]];
	}
	return n;
}

#define TEMPLATE "rigid_solve_prepare_tmpl.h"
#include "levels.h"

void et_prepare(int32_t level, et_contact_block *blocks, const uint32_t *contact, int64_t n,
                const et_manifold *manifolds, const et_contact *contacts, const et_state *states,
                const uint32_t *body, const float *inv_inertia, const float *friction, const float *restitution,
                const float *rolling, const float *tangent_speed, int32_t mix_friction, int32_t mix_restitution) {
	const sources s = {manifolds, contacts, states, body, inv_inertia, friction, restitution, rolling,
	                   tangent_speed, mix_friction, mix_restitution};
	DISPATCH(level, prepare, blocks, contact, n, &s);
}
