/* Atan2 of package internal/rigid, as package internal/trig computes it. */
#ifndef EVERTICK_ATAN_H
#define EVERTICK_ATAN_H

#include "lanes.h"

HELPER(LEVEL) V(f) arctan2(V(f) y, V(f) x) {
	/* The arc tangent on [-tan pi/8, tan pi/8]. */
	const float atan3 = -0.333327562f, atan5 = 0.199718788f, atan7 = -0.138244495f, atan9 = 0.0790258795f;
	const float pi = 3.14159265358979f, tan_eighth = 0.41421356f, smallest = 0x1p-149f;
	const V(f) zero = V(set1)(0.0f);

	const V(f) ax = V(abs)(x), ay = V(abs)(y);
	const V(f) longer = V(pick)(ax, ay, ax, ay), shorter = V(pick)(ax, ay, ay, ax);
	const V(f) limit = V(mul)(longer, V(set1)(tan_eighth));
	const V(f) num = V(pick)(shorter, limit, V(sub)(shorter, longer), shorter);
	const V(f) den = V(pick)(shorter, limit, V(add)(shorter, longer), longer);
	const V(f) base = V(pick)(shorter, limit, V(set1)(pi / 4), zero);
	const V(f) q = V(div)(num, V(pick)(V(set1)(smallest), den, V(set1)(smallest), den));
	const V(f) u = V(mul)(q, q);
	V(f) s = V(add)(V(set1)(atan7), V(mul)(u, V(set1)(atan9)));
	s = V(add)(V(set1)(atan5), V(mul)(u, s));
	s = V(add)(V(set1)(atan3), V(mul)(u, s));
	V(f) a = V(add)(base, V(add)(q, V(mul)(V(mul)(q, u), s)));
	a = V(pick)(ay, ax, V(sub)(V(set1)(pi / 2), a), a);
	a = V(pick)(zero, x, V(sub)(V(set1)(pi), a), a);
	return V(pick)(zero, y, V(negate)(a), a);
}

#endif
