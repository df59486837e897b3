/* Squares of lengths, for vectors of any level.
 *
 * FIT(most) is a power of two. A vector whose largest component has the magnitude most can be multiplied by it
 * without loss, and then has a squared length that is a normal number: 2^-66 from 2^60 on, 2^100 up to 2^-50, and
 * 1 between. Only components too small to count beside the largest are lost.
 *
 * NORMAL(a) is the mask of the lanes in which a is from 2^-126, the smallest normal number, to the largest finite
 * one. */
#ifndef EVERTICK_TURN_H
#define EVERTICK_TURN_H

#include <float.h>

#include "rows.h"

#define FIT(most)                                                                  \
	V(select)(V(le)(V(set1)(0x1p60f), most), V(set1)(0x1p-66f),                \
	          V(select)(V(le)(most, V(set1)(0x1p-50f)), V(set1)(0x1p100f), V(set1)(1)))

#define NORMAL(a) (V(le)(V(set1)(FLT_MIN), a) & V(le)(a, V(set1)(FLT_MAX)))
#define NORM4(x, y, z, w) V(add)(NORM2(x, y, z), V(mul)(w, w))

/* Steps of EACH_ROW on quaternions, of any level.
 *
 * PUT_UNIT stores (x, y, z, w), whose squared length is n2, divided by its length. Where n2 is not NORMAL it
 * stores the other quaternion.
 *
 * TURN adds to a quaternion its product with half the angle turned about each axis, half * omega, from the left,
 * and stores the result by PUT_UNIT. */
#define PUT_UNIT(q, qx, qy, qz, qw, n2, other_x, other_y, other_z, other_w)             \
	const V(mask) normal = NORMAL(n2);                                              \
	const V(f) over = V(div)(V(set1)(1), V(sqrt)(n2));                              \
	PUT((q).x, V(select)(normal, V(mul)(qx, over), other_x));                       \
	PUT((q).y, V(select)(normal, V(mul)(qy, over), other_y));                       \
	PUT((q).z, V(select)(normal, V(mul)(qz, over), other_z));                       \
	PUT((q).w, V(select)(normal, V(mul)(qw, over), other_w))

#define TURN(q, omega, half)                                                            \
	const V(f) a = V(mul)(V(load)((omega).x + i), half);                            \
	const V(f) b = V(mul)(V(load)((omega).y + i), half);                            \
	const V(f) c = V(mul)(V(load)((omega).z + i), half);                            \
	const V(f) x = V(load)((q).x + i);                                              \
	const V(f) y = V(load)((q).y + i);                                              \
	const V(f) z = V(load)((q).z + i);                                              \
	const V(f) w = V(load)((q).w + i);                                              \
	const V(f) tx = V(add)(x, V(sub)(V(add)(V(mul)(a, w), V(mul)(b, z)), V(mul)(c, y))); \
	const V(f) ty = V(add)(y, V(sub)(V(add)(V(mul)(b, w), V(mul)(c, x)), V(mul)(a, z))); \
	const V(f) tz = V(add)(z, V(sub)(V(add)(V(mul)(c, w), V(mul)(a, y)), V(mul)(b, x))); \
	const V(f) tw = V(sub)(w, SUM3(V(mul)(a, x), V(mul)(b, y), V(mul)(c, z)));      \
	const V(f) n2 = NORM4(tx, ty, tz, tw);                                          \
	PUT_UNIT(q, tx, ty, tz, tw, n2, V(set1)(0), V(set1)(0), V(set1)(0), V(set1)(1))

#endif
