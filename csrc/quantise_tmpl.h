#include "atan.h"
#include "quantise_lanes.h"
#include "replica.h"
#include "rows.h"

/* Runs steps for rows i to i + LANES - 1. The last vector ends with the last row, so that it may compute some rows again. */
#define EACH_VECTOR(n, ...)                                                           \
	for (int64_t at = 0; at < (n); at += V(LANES)) {                              \
		const int64_t i = V(LANES) > 1 && at > (n) - V(LANES) ? (n) - V(LANES) : at; \
		__VA_ARGS__                                                           \
	}

/* Numbers within a limit; the bound itself in place of NaN. */
HELPER(LEVEL) V(f) limited(V(f) a, V(f) limit) { return V(min)(limit, V(max)(a, V(negate)(limit))); }

HELPER(LEVEL) void put_lane(int32_t *lane, V(u) a) { V(storeu)((uint32_t *)lane, a); }

KERNEL(void, quantise, int32_t *dst, const float *src, float scale, int32_t limit, int64_t n) {
	SHORT(n, et_quantise_c(dst, src, scale, limit, n));
	const V(f) factor = V(set1)(scale), most = V(set1)((float)limit);
	const V(u) none = V(set1u)((uint32_t)(-limit - 1));
	EACH_VECTOR(n, {
		const V(f) p = V(mul)(V(load)(src + i), factor);
		put_lane(dst + i, V(ifnan)(p, none, V(whole)(limited(p, most))));
	})
}

HELPER(LEVEL) V(u) angle_code(V(f) angle, int32_t bits) {
	const V(f) turns = V(mul)(angle, V(set1)(0.15915494309189533577f)); /* 1 / (2 pi) */
	const V(f) part = V(orzero)(V(sub)(turns, V(round)(turns)));
	const V(u) code = V(whole)(V(mul)(part, V(set1)((float)(1 << bits))));
	const V(shift) above = V(shifts)((uint32_t)(32 - bits));
	return V(sar)(V(shl)(code, above), above);
}

KERNEL(void, quantise_angle, int32_t *dst, const float *src, int32_t bits, int64_t n) {
	SHORT(n, et_quantise_angle_c(dst, src, bits, n));
	EACH_VECTOR(n, put_lane(dst + i, angle_code(V(load)(src + i), bits));)
}

KERNEL(void, quantise_planar, int32_t *dst, const float *sin, const float *cos, int32_t bits, int64_t n) {
	SHORT(n, et_quantise_planar_c(dst, sin, cos, bits, n));
	EACH_VECTOR(n, {
		const V(f) half = arctan2(V(load)(sin + i), V(load)(cos + i));
		put_lane(dst + i, angle_code(V(add)(half, half), bits));
	})
}

KERNEL(void, quantise_quat, et_quat_lanes dst, et_quat src, float scale, int32_t limit, int64_t n) {
	SHORT(n, et_quantise_quat_c(dst, src, scale, limit, n));
	const V(f) zero = V(set1)(0), most = V(set1)((float)limit), factor = V(set1)(scale);
	EACH_VECTOR(n, {
		const V(f) x = V(load)(src.x + i), y = V(load)(src.y + i), z = V(load)(src.z + i), w = V(load)(src.w + i);
		const V(f) ax = V(abs)(x), ay = V(abs)(y), az = V(abs)(z), aw = V(abs)(w);
		/* Each component that is larger than those before takes the place of the largest, which takes its place. */
		const V(f) xy = V(pick)(ay, ax, ay, ax), xyz = V(pick)(az, xy, az, xy);
		V(f) largest = V(pick)(ay, ax, y, x), index = V(pick)(ay, ax, V(set1)(1), zero);
		V(f) a = V(pick)(ay, ax, x, y), b = z, c = w;
		largest = V(pick)(az, xy, z, largest), index = V(pick)(az, xy, V(set1)(-2), index);
		b = V(pick)(az, xy, y, z), a = V(pick)(az, xy, x, a);
		largest = V(pick)(aw, xyz, w, largest), index = V(pick)(aw, xyz, V(set1)(-1), index);
		c = V(pick)(aw, xyz, z, w), b = V(pick)(aw, xyz, y, b), a = V(pick)(aw, xyz, x, a);
		/* NaN if any component is, and 0 if all are. */
		const V(f) sum = V(add)(V(add)(ax, ay), V(add)(az, aw));
		const V(f) by = V(pick)(zero, largest, V(negate)(factor), factor);
		put_lane(dst.index + i, V(whole)(V(pick)(sum, zero, index, V(set1)(-1))));
		put_lane(dst.a + i, V(whole)(limited(V(pick)(sum, zero, V(mul)(a, by), zero), most)));
		put_lane(dst.b + i, V(whole)(limited(V(pick)(sum, zero, V(mul)(b, by), zero), most)));
		put_lane(dst.c + i, V(whole)(limited(V(pick)(sum, zero, V(mul)(c, by), zero), most)));
	})
}

#ifdef DISPATCH
void et_quantise(int32_t level, int32_t *dst, const float *src, float scale, int32_t limit, int64_t n) {
	DISPATCH(level, quantise, dst, src, scale, limit, n);
}

void et_quantise_angle(int32_t level, int32_t *dst, const float *src, int32_t bits, int64_t n) {
	DISPATCH(level, quantise_angle, dst, src, bits, n);
}

void et_quantise_planar(int32_t level, int32_t *dst, const float *sin, const float *cos, int32_t bits, int64_t n) {
	DISPATCH(level, quantise_planar, dst, sin, cos, bits, n);
}

void et_quantise_quat(int32_t level, et_quat_lanes dst, et_quat src, float scale, int32_t limit, int64_t n) {
	DISPATCH(level, quantise_quat, dst, src, scale, limit, n);
}
#endif
