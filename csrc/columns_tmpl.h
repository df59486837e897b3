#include "ops.h"
#include "rows.h"

KERNEL(void, scale, float *x, float a, const uint64_t *live, int64_t n) {
	SHORT(n, et_scale_c(x, a, live, n));
	const V(f) factor = V(set1)(a);
	EACH_ROW(live, n, PUT(x, V(mul)(V(load)(x + i), factor)));
}

KERNEL(void, damp, float *v, const float *c, float dt, const uint64_t *live, int64_t n) {
	SHORT(n, et_damp_c(v, c, dt, live, n));
	const V(f) one = V(set1)(1), step = V(set1)(dt);
	EACH_ROW(live, n, PUT(v, V(div)(V(load)(v + i), V(add)(one, V(mul)(V(load)(c + i), step)))));
}

KERNEL(void, clamp, float *x, float lo, float hi, const uint64_t *live, int64_t n) {
	SHORT(n, et_clamp_c(x, lo, hi, live, n));
	const V(f) low = V(set1)(lo), high = V(set1)(hi);
	EACH_ROW(live, n, PUT(x, V(min)(high, V(max)(low, V(load)(x + i)))));
}

KERNEL(void, wrap, float *x, float lo, float hi, const uint64_t *live, int64_t n) {
	SHORT(n, et_wrap_c(x, lo, hi, live, n));
	const V(f) low = V(set1)(lo), high = V(set1)(hi), width = V(sub)(high, low);
	EACH_ROW(live, n,
		const V(f) was = V(load)(x + i);
		const V(mask) inside = V(le)(low, was) & V(lt)(was, high);
		if (inside != ALL_LANES) {
			const V(f) laps = V(floor)(V(div)(V(sub)(was, low), width));
			const V(f) home = V(max)(low, V(sub)(was, V(mul)(laps, width)));
			PUT(x, V(select)(inside, was, V(select)(V(le)(high, home), low, home)));
		});
}

KERNEL(void, lerp, float *out, const float *prev, const float *cur, float alpha,
       const uint64_t *teleported, const uint64_t *live, int64_t n) {
	SHORT(n, et_lerp_c(out, prev, cur, alpha, teleported, live, n));
	const V(f) part = V(set1)(alpha);
	EACH_ROW(live, n,
		const V(f) from = V(load)(prev + i);
		const V(f) to = V(load)(cur + i);
		const V(f) between = V(add)(from, V(mul)(V(sub)(to, from), part));
		PUT(out, V(select)(NAMED(teleported), to, between)));
}

#ifdef DISPATCH
void et_scale(int32_t level, float *x, float a, const uint64_t *live, int64_t n) {
	DISPATCH(level, scale, x, a, live, n);
}

void et_damp(int32_t level, float *v, const float *c, float dt, const uint64_t *live, int64_t n) {
	DISPATCH(level, damp, v, c, dt, live, n);
}

void et_clamp(int32_t level, float *x, float lo, float hi, const uint64_t *live, int64_t n) {
	DISPATCH(level, clamp, x, lo, hi, live, n);
}

void et_wrap(int32_t level, float *x, float lo, float hi, const uint64_t *live, int64_t n) {
	DISPATCH(level, wrap, x, lo, hi, live, n);
}

void et_lerp(int32_t level, float *out, const float *prev, const float *cur, float alpha,
             const uint64_t *teleported, const uint64_t *live, int64_t n) {
	DISPATCH(level, lerp, out, prev, cur, alpha, teleported, live, n);
}
#endif
