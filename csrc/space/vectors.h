/* Vectors, quaternions and matrices with LANES floats for each component, as internal/rigid3/vector.go defines them. */
#ifndef EVERTICK_SPACE_VECTORS_H
#define EVERTICK_SPACE_VECTORS_H

#include "../body_rows.h"

#define ADD(a, b) V(add)(a, b)
#define SUB(a, b) V(sub)(a, b)
#define MUL(a, b) V(mul)(a, b)
#define DIV(a, b) V(div)(a, b)
#define ZERO V(set1)(0.0f)
#define ONE V(set1)(1.0f)

typedef struct {
	V(f) x, y, z;
} vec;

typedef struct {
	V(f) x, y, z, w;
} quat;

/* Columns, or the lines of a field of a block. */
#define LINES(field, i) ((vec){V(load)((field)[0] + (i)), V(load)((field)[1] + (i)), V(load)((field)[2] + (i))})

HELPER(LEVEL) vec vec_add(vec a, vec b) { return (vec){ADD(a.x, b.x), ADD(a.y, b.y), ADD(a.z, b.z)}; }
HELPER(LEVEL) vec vec_sub(vec a, vec b) { return (vec){SUB(a.x, b.x), SUB(a.y, b.y), SUB(a.z, b.z)}; }
HELPER(LEVEL) vec vec_times(vec a, V(f) s) { return (vec){MUL(a.x, s), MUL(a.y, s), MUL(a.z, s)}; }

/* a + b * s, and a - b * s. */
HELPER(LEVEL) vec add_times(vec a, vec b, V(f) s) { return vec_add(a, vec_times(b, s)); }
HELPER(LEVEL) vec sub_times(vec a, vec b, V(f) s) { return vec_sub(a, vec_times(b, s)); }

HELPER(LEVEL) V(f) dot(vec a, vec b) { return SUM3(MUL(a.x, b.x), MUL(a.y, b.y), MUL(a.z, b.z)); }
HELPER(LEVEL) vec cross(vec a, vec b) {
	return (vec){SUB(MUL(a.y, b.z), MUL(a.z, b.y)), SUB(MUL(a.z, b.x), MUL(a.x, b.z)), SUB(MUL(a.x, b.y), MUL(a.y, b.x))};
}
HELPER(LEVEL) vec vec_select(V(mask) m, vec a, vec b) {
	return (vec){V(select)(m, a.x, b.x), V(select)(m, a.y, b.y), V(select)(m, a.z, b.z)};
}

/* The lanes in which a differs from zero, or is not a number. */
HELPER(LEVEL) V(mask) nonzero(V(f) a) { return V(nequ)(V(asu)(V(abs)(a)), V(asu)(ZERO)); }
HELPER(LEVEL) V(mask) vec_nonzero(vec a) { return nonzero(a.x) | nonzero(a.y) | nonzero(a.z); }

/* The symmetric matrix xx, yy, zz, xy, xz, yz times a vector. */
HELPER(LEVEL) vec sym_times(const V(f) m[6], vec v) {
	return (vec){SUM3(MUL(m[0], v.x), MUL(m[3], v.y), MUL(m[4], v.z)), SUM3(MUL(m[3], v.x), MUL(m[1], v.y), MUL(m[5], v.z)),
	             SUM3(MUL(m[4], v.x), MUL(m[5], v.y), MUL(m[2], v.z))};
}

/* The lanes in which a and b differ; NaN differs from all. */
HELPER(LEVEL) V(mask) differ(V(f) a, V(f) b) { return V(first)(V(LANES)) & (V(mask))~(V(le)(a, b) & V(le)(b, a)); }
HELPER(LEVEL) V(mask) vec_differ(vec a, vec b) { return differ(a.x, b.x) | differ(a.y, b.y) | differ(a.z, b.z); }

/* 1 / a, or 0 unless a > 2^-127. */
HELPER(LEVEL) V(f) inverse(V(f) a) { return V(pick)(a, V(set1)(0x1p-127f), DIV(ONE, a), ZERO); }

HELPER(LEVEL) quat quat_times(quat q, quat r) {
	const vec a = {q.x, q.y, q.z}, b = {r.x, r.y, r.z};
	const vec v = vec_add(vec_add(cross(a, b), vec_times(b, q.w)), vec_times(a, r.w));
	return (quat){v.x, v.y, v.z, SUB(MUL(q.w, r.w), dot(a, b))};
}

/* With length one, or the identity where the square of the length is not a positive finite number. */
HELPER(LEVEL) quat normalize(quat q) {
	const V(f) square = ADD(ADD(MUL(q.x, q.x), MUL(q.y, q.y)), ADD(MUL(q.z, q.z), MUL(q.w, q.w)));
	const V(mask) ok = V(lt)(ZERO, square) & V(le)(square, V(set1)(0x1.fffffep127f));
	const V(f) length = V(sqrt)(square);
	return (quat){V(select)(ok, DIV(q.x, length), ZERO), V(select)(ok, DIV(q.y, length), ZERO),
	              V(select)(ok, DIV(q.z, length), ZERO), V(select)(ok, DIV(q.w, length), ONE)};
}

/* The rows of the rotation as a matrix. */
typedef struct {
	vec x, y, z;
} mat;

HELPER(LEVEL) mat matrix(quat q) {
	const V(f) x2 = ADD(q.x, q.x), y2 = ADD(q.y, q.y), z2 = ADD(q.z, q.z);
	const V(f) xx = MUL(q.x, x2), yy = MUL(q.y, y2), zz = MUL(q.z, z2);
	const V(f) xy = MUL(q.x, y2), xz = MUL(q.x, z2), yz = MUL(q.y, z2);
	const V(f) wx = MUL(q.w, x2), wy = MUL(q.w, y2), wz = MUL(q.w, z2);
	return (mat){{SUB(ONE, ADD(yy, zz)), SUB(xy, wz), ADD(xz, wy)},
	             {ADD(xy, wz), SUB(ONE, ADD(xx, zz)), SUB(yz, wx)},
	             {SUB(xz, wy), ADD(yz, wx), SUB(ONE, ADD(xx, yy))}};
}
HELPER(LEVEL) vec mat_times(const mat *m, vec v) { return (vec){dot(m->x, v), dot(m->y, v), dot(m->z, v)}; }
HELPER(LEVEL) vec times_mat(vec v, const mat *m) {
	return (vec){SUM3(MUL(m->x.x, v.x), MUL(m->y.x, v.y), MUL(m->z.x, v.z)),
	             SUM3(MUL(m->x.y, v.x), MUL(m->y.y, v.y), MUL(m->z.y, v.z)),
	             SUM3(MUL(m->x.z, v.x), MUL(m->y.z, v.y), MUL(m->z.z, v.z))};
}

#endif
