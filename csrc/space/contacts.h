/* What the templates of contacts share. */
#ifndef EVERTICK_SPACE_CONTACTS_H
#define EVERTICK_SPACE_CONTACTS_H

#include "system.h"
#include "vectors.h"

/* Floats of structs. */
enum { STATE = 16, CONTACT = 19, MANIFOLD = 37, MATERIAL = 7, INERTIA = 8 };

/* The numbers of the couplings of two points. */
static const uint8_t couplings[4][4] = {{0, 0, 1, 2}, {0, 0, 3, 4}, {1, 3, 0, 5}, {2, 4, 5, 0}};

/* The vector with zeros along the axes whose bits in locks are set. */
HELPER(LEVEL) vec unlocked(vec v, V(f) locks) {
	const V(u) bits = V(asu)(locks);
	return (vec){V(select)(V(anyu)(bits, V(set1u)(1)), ZERO, v.x), V(select)(V(anyu)(bits, V(set1u)(2)), ZERO, v.y),
	             V(select)(V(anyu)(bits, V(set1u)(4)), ZERO, v.z)};
}

/* The lanes of a block that resist rolling or twisting. */
HELPER(LEVEL) V(mask) rolling_lanes(const et_space_block *b, uint32_t i) {
	return V(lt)(ZERO, V(load)(b->rolling_resistance + i)) | V(lt)(ZERO, V(load)(b->twist_resistance + i));
}

/* Calls a function for blocks of each number of points, which it gets as a constant, last. */
#define BY_POINTS(b, f, ...)                  \
	do {                                  \
		if ((b)->points_each == 4)    \
			f(__VA_ARGS__, 4);    \
		else if ((b)->points_each == 3) \
			f(__VA_ARGS__, 3);    \
		else if ((b)->points_each == 2) \
			f(__VA_ARGS__, 2);    \
		else                          \
			f(__VA_ARGS__, 1);    \
	} while (0)

#endif
