/* Which lanes of a block pass the filters of a query; part of a template. */
#ifndef EVERTICK_PASSING_H
#define EVERTICK_PASSING_H

HELPER(LEVEL) uint32_t passing(const point_set *p, uint32_t block, const sieve *s) {
	const uint32_t *const slot = p->blocks[block].slot;
	uint32_t pass = p->live ? p->live[block] : 0xffffu;
	if (s->exclude != NO_SLOT) {
		uint32_t other = 0;
		for (uint32_t lane = 0; lane < ET_BLOCK; lane += V(LANES))
			other |= V(nequ)(V(loadu)(slot + lane), V(set1u)(s->exclude)) << lane;
		pass &= other;
	}
	if (p->category) {
		uint32_t any = 0;
		for (uint32_t lane = 0; lane < ET_BLOCK; lane += V(LANES))
			any |= V(anyu)(V(loadu)(p->category + (size_t)block * ET_BLOCK + lane), V(set1u)(s->mask)) << lane;
		pass &= any;
	}
	return pass;
}

#endif
