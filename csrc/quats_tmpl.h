#include "ops.h"
#include "turn.h"

/* Between two quaternions, of which the first changes its sign with sign. */
#define NEARER(p, c) V(add)(V(mul)(p, sign), V(mul)(V(sub)(c, V(mul)(p, sign)), part))

KERNEL(void, nlerp, et_quat out, et_quat prev, et_quat cur, float alpha,
       const uint64_t *teleported, const uint64_t *live, int64_t n) {
	SHORT(n, et_nlerp_c(out, prev, cur, alpha, teleported, live, n));
	const V(f) zero = V(set1)(0), one = V(set1)(1), minus = V(set1)(-1), part = V(set1)(alpha);
	EACH_ROW(live, n,
		const V(f) px = V(load)(prev.x + i);
		const V(f) py = V(load)(prev.y + i);
		const V(f) pz = V(load)(prev.z + i);
		const V(f) pw = V(load)(prev.w + i);
		const V(f) cx = V(load)(cur.x + i);
		const V(f) cy = V(load)(cur.y + i);
		const V(f) cz = V(load)(cur.z + i);
		const V(f) cw = V(load)(cur.w + i);
		const V(f) dot = V(add)(SUM3(V(mul)(px, cx), V(mul)(py, cy), V(mul)(pz, cz)), V(mul)(pw, cw));
		const V(f) sign = V(select)(V(lt)(dot, zero), minus, one);
		const V(f) x = NEARER(px, cx);
		const V(f) y = NEARER(py, cy);
		const V(f) z = NEARER(pz, cz);
		const V(f) w = NEARER(pw, cw);
		const V(f) n2 = NORM4(x, y, z, w);
		const V(f) over = V(div)(one, V(sqrt)(n2));
		const V(mask) unit = NORMAL(n2) & ~NAMED(teleported);
		PUT(out.x, V(select)(unit, V(mul)(x, over), cx));
		PUT(out.y, V(select)(unit, V(mul)(y, over), cy));
		PUT(out.z, V(select)(unit, V(mul)(z, over), cz));
		PUT(out.w, V(select)(unit, V(mul)(w, over), cw)));
}

KERNEL(void, normalize_quat, et_quat q, const uint64_t *live, int64_t n) {
	SHORT(n, et_normalize_quat_c(q, live, n));
	const V(f) zero = V(set1)(0), one = V(set1)(1);
	EACH_ROW(live, n,
		const V(f) x = V(load)(q.x + i);
		const V(f) y = V(load)(q.y + i);
		const V(f) z = V(load)(q.z + i);
		const V(f) w = V(load)(q.w + i);
		const V(f) fit = FIT(V(max)(V(max)(V(abs)(x), V(abs)(y)), V(max)(V(abs)(z), V(abs)(w))));
		const V(f) fx = V(mul)(x, fit);
		const V(f) fy = V(mul)(y, fit);
		const V(f) fz = V(mul)(z, fit);
		const V(f) fw = V(mul)(w, fit);
		const V(f) n2 = NORM4(fx, fy, fz, fw);
		PUT_UNIT(q, fx, fy, fz, fw, n2, zero, zero, zero, one));
}

KERNEL(void, integrate_quat, et_quat q, et_vec3 omega, float dt, const uint64_t *live, int64_t n) {
	SHORT(n, et_integrate_quat_c(q, omega, dt, live, n));
	const V(f) half = V(set1)(dt * 0.5f);
	EACH_ROW(live, n, TURN(q, omega, half));
}

#ifdef DISPATCH
void et_nlerp(int32_t level, et_quat out, et_quat prev, et_quat cur, float alpha,
              const uint64_t *teleported, const uint64_t *live, int64_t n) {
	DISPATCH(level, nlerp, out, prev, cur, alpha, teleported, live, n);
}

void et_normalize_quat(int32_t level, et_quat q, const uint64_t *live, int64_t n) {
	DISPATCH(level, normalize_quat, q, live, n);
}

void et_integrate_quat(int32_t level, et_quat q, et_vec3 omega, float dt, const uint64_t *live, int64_t n) {
	DISPATCH(level, integrate_quat, q, omega, dt, live, n);
}
#endif
