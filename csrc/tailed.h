/* tailed_cell of reach.h, lane by lane. Templates include it, once for each level. */
#ifndef EVERTICK_TAILED_H
#define EVERTICK_TAILED_H

HELPER(LEVEL) V(u) tailed(const et_grid *g, int axis, V(f) t) {
	const V(f) zero = V(set1)(0.0f), one = V(set1)(1.0f), tail = V(set1)(g->tail[axis]);
	const V(f) core = V(set1)((float)(g->n[axis] - g->low[axis] - g->high[axis]));
	const V(u) bits = V(asu)(one), low = V(set1u)((uint32_t)g->low[axis]), last = V(set1u)((uint32_t)g->n[axis] - 1);
	if ((V(le)(zero, t) & V(lt)(t, core)) == (1u << V(LANES)) - 1u) /* most points are there */
		return V(addu)(low, V(truncu)(t));
	const V(f) above = V(add)(V(max)(V(sub)(t, core), zero), one), below = V(add)(V(max)(V(sub)(zero, t), zero), one);
	const V(f) up = V(mul)(V(tof)(V(subu)(V(asu)(above), bits)), tail);
	const V(f) down = V(add)(V(mul)(V(tof)(V(subu)(V(asu)(below), bits)), tail), V(set1)(LESS_THAN_ONE));
	const V(u) inside = V(truncu)(V(min)(V(max)(t, zero), core));
	const V(u) high = V(truncu)(V(min)(up, V(set1)((float)g->high[axis])));
	const V(u) under = V(truncu)(V(min)(down, V(set1)((float)g->low[axis])));
	return V(minu)(V(subu)(V(addu)(V(addu)(low, inside), high), under), last);
}

#endif
