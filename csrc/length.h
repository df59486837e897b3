/* Squares of lengths, of vectors of any level.
 *
 * FIT(most) is a power of two by which a vector whose largest component is most, in
 * magnitude, can be multiplied without loss, after which its squared length is
 * a normal number: 2^-66 from 2^60 on, 2^100 up to 2^-50, and 1 between. What is
 * lost are components too small to count beside the largest.
 *
 * NORMAL(a) is the mask of the lanes in which a is from 2^-126, the smallest number
 * with all its bits, to the largest finite one. */
#ifndef EVERTICK_LENGTH_H
#define EVERTICK_LENGTH_H

#include <float.h>

#include "lanes.h"

#define FIT(most)                                                                  \
	V(select)(V(le)(V(set1)(0x1p60f), most), V(set1)(0x1p-66f),                \
	          V(select)(V(le)(most, V(set1)(0x1p-50f)), V(set1)(0x1p100f), V(set1)(1)))

#define NORMAL(a) (V(le)(V(set1)(FLT_MIN), a) & V(le)(a, V(set1)(FLT_MAX)))
#define NORM4(x, y, z, w) V(add)(NORM2(x, y, z), V(mul)(w, w))

#endif
