/* Atan2 of package native/rigid: see trig.go. Templates include this once for each level. */
#ifndef EVERTICK_RIGID_ATAN_H
#define EVERTICK_RIGID_ATAN_H

HELPER(LEVEL) V(f) arctan2(V(f) y, V(f) x) {
	/* The arc tangent on [-tan pi/8, tan pi/8]. */
	const float atan3 = -0.333327562f, atan5 = 0.199718788f, atan7 = -0.138244495f, atan9 = 0.0790258795f;
	const float pi = 3.14159265358979f, tan_eighth = 0.41421356f, smallest = 0x1p-149f;

	const V(f) ax = V(abs)(x), ay = V(abs)(y);
	const V(f) longer = V(pick)(ax, ay, ax, ay), shorter = V(pick)(ax, ay, ay, ax);
	const V(f) limit = MUL(longer, V(set1)(tan_eighth));
	const V(f) num = V(pick)(shorter, limit, SUB(shorter, longer), shorter);
	const V(f) den = V(pick)(shorter, limit, ADD(shorter, longer), longer);
	const V(f) base = V(pick)(shorter, limit, V(set1)(pi / 4), ZERO);
	const V(f) q = DIV(num, V(pick)(V(set1)(smallest), den, V(set1)(smallest), den));
	const V(f) u = MUL(q, q);
	V(f) s = ADD(V(set1)(atan7), MUL(u, V(set1)(atan9)));
	s = ADD(V(set1)(atan5), MUL(u, s));
	s = ADD(V(set1)(atan3), MUL(u, s));
	V(f) a = ADD(base, ADD(q, MUL(MUL(q, u), s)));
	a = V(pick)(ay, ax, SUB(V(set1)(pi / 2), a), a);
	a = V(pick)(ZERO, x, SUB(V(set1)(pi), a), a);
	return V(pick)(ZERO, y, V(negate)(a), a);
}

#endif
