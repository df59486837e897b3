#include "ops.h"
#include "length.h"
#include "rows.h"

KERNEL(void, clamp_length, et_vec3 v, float max, const uint64_t *live, int64_t n) {
	SHORT(n, et_clamp_length_c(v, max, live, n));
	const V(f) most = V(set1)(max), largest = V(set1)(FLT_MAX), one = V(set1)(1);
	EACH_ROW(live, n,
		const V(f) x = V(load)(v.x + i);
		const V(f) y = V(load)(v.y + i);
		const V(f) z = V(load)(v.z + i);
		const V(f) fit = FIT(V(max)(V(max)(V(abs)(x), V(abs)(y)), V(abs)(z)));
		const V(f) fx = V(mul)(x, fit);
		const V(f) fy = V(mul)(y, fit);
		const V(f) fz = V(mul)(z, fit);
		const V(f) length = V(sqrt)(NORM2(fx, fy, fz));
		const V(mask) cut = V(lt)(V(mul)(most, fit), length) & V(le)(length, largest);
		if (cut) {
			const V(f) over = V(div)(one, length);
			PUT(v.x, V(select)(cut, V(mul)(V(mul)(fx, over), most), x));
			PUT(v.y, V(select)(cut, V(mul)(V(mul)(fy, over), most), y));
			PUT(v.z, V(select)(cut, V(mul)(V(mul)(fz, over), most), z));
		});
}

KERNEL(void, dist2, float *out, et_vec3 p, float x, float y, float z, const uint64_t *live, int64_t n) {
	SHORT(n, et_dist2_c(out, p, x, y, z, live, n));
	const V(f) cx = V(set1)(x), cy = V(set1)(y), cz = V(set1)(z);
	EACH_ROW(live, n,
		const V(f) dx = V(sub)(V(load)(p.x + i), cx);
		const V(f) dy = V(sub)(V(load)(p.y + i), cy);
		const V(f) dz = V(sub)(V(load)(p.z + i), cz);
		PUT(out, NORM2(dx, dy, dz)));
}

#ifdef DISPATCH
void et_clamp_length(int32_t level, et_vec3 v, float max, const uint64_t *live, int64_t n) {
	DISPATCH(level, clamp_length, v, max, live, n);
}

void et_dist2(int32_t level, float *out, et_vec3 p, float x, float y, float z, const uint64_t *live, int64_t n) {
	DISPATCH(level, dist2, out, p, x, y, z, live, n);
}
#endif
