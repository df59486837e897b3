#include "ops.h"
#include "rows.h"
#include "turn.h"

KERNEL(void, integrate, float *pos, const float *vel, float dt, const uint64_t *live, int64_t n) {
	SHORT(n, et_integrate_c(pos, vel, dt, live, n));
	const V(f) step = V(set1)(dt);
	EACH_ROW(live, n, PUT(pos, V(add)(V(load)(pos + i), V(mul)(V(load)(vel + i), step))));
}

KERNEL(void, scale, float *x, float a, const uint64_t *live, int64_t n) {
	SHORT(n, et_scale_c(x, a, live, n));
	const V(f) factor = V(set1)(a);
	EACH_ROW(live, n, PUT(x, V(mul)(V(load)(x + i), factor)));
}

KERNEL(void, affine, float *out, const float *x, float a, float b, const uint64_t *live, int64_t n) {
	SHORT(n, et_affine_c(out, x, a, b, live, n));
	const V(f) factor = V(set1)(a), offset = V(set1)(b);
	EACH_ROW(live, n, PUT(out, V(add)(V(mul)(V(load)(x + i), factor), offset)));
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

/* Interpolates between two quaternions; sign is the sign that the first one gets. */
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

#define EULER(p, v) V(add)(V(load)(p + i), V(mul)(v, step))

KERNEL(void, move, et_motion m, float dt, const uint64_t *live, int64_t n) {
	SHORT(n, et_move_c(m, dt, live, n));
	const V(f) step = V(set1)(dt), half = V(set1)(dt * 0.5f);
	EACH_ROW(live, n,
		const V(f) vx = EULER(m.vel.x, V(load)(m.acc.x + i));
		const V(f) vy = EULER(m.vel.y, V(load)(m.acc.y + i));
		const V(f) vz = EULER(m.vel.z, V(load)(m.acc.z + i));
		PUT(m.vel.x, vx);
		PUT(m.vel.y, vy);
		PUT(m.vel.z, vz);
		PUT(m.pos.x, EULER(m.pos.x, vx));
		PUT(m.pos.y, EULER(m.pos.y, vy));
		PUT(m.pos.z, EULER(m.pos.z, vz));
		TURN(m.rot, m.ang, half));
}

#undef EULER

KERNEL(void, copy, float *dst, const float *src, const uint64_t *live, int64_t n) {
	SHORT(n, et_copy_c(dst, src, live, n));
	EACH_ROW(live, n, PUT(dst, V(load)(src + i)));
}

KERNEL(void, select, float *out, const uint64_t *which, const float *a, const float *b, const uint64_t *live, int64_t n) {
	SHORT(n, et_select_c(out, which, a, b, live, n));
	EACH_ROW(live, n, PUT(out, V(select)(NAMED(which), V(load)(a + i), V(load)(b + i))));
}

KERNEL(void, fill, float *dst, float value, const uint64_t *live, int64_t n) {
	SHORT(n, et_fill_c(dst, value, live, n));
	const V(f) all = V(set1)(value);
	EACH_ROW(live, n, PUT(dst, all));
}

/* Rows that are not named read row 0 of src. */
KERNEL(void, gather, float *dst, const float *src, const uint32_t *index, const uint64_t *live, int64_t n) {
	SHORT(n, et_gather_c(dst, src, index, live, n));
	EACH_ROW(live, n, {
		const V(u) at = V(loadu)(index + i);
		PUT(dst, V(fetch)(src, whole ? at : V(keepu)(at, rows)));
	});
}

#ifdef DISPATCH
void et_integrate(int32_t level, float *pos, const float *vel, float dt, const uint64_t *live, int64_t n) {
	DISPATCH(level, integrate, pos, vel, dt, live, n);
}

void et_scale(int32_t level, float *x, float a, const uint64_t *live, int64_t n) {
	DISPATCH(level, scale, x, a, live, n);
}

void et_affine(int32_t level, float *out, const float *x, float a, float b, const uint64_t *live, int64_t n) {
	DISPATCH(level, affine, out, x, a, b, live, n);
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

void et_clamp_length(int32_t level, et_vec3 v, float max, const uint64_t *live, int64_t n) {
	DISPATCH(level, clamp_length, v, max, live, n);
}

void et_dist2(int32_t level, float *out, et_vec3 p, float x, float y, float z, const uint64_t *live, int64_t n) {
	DISPATCH(level, dist2, out, p, x, y, z, live, n);
}

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

void et_move(int32_t level, et_motion m, float dt, const uint64_t *live, int64_t n) {
	DISPATCH(level, move, m, dt, live, n);
}

void et_copy(int32_t level, float *dst, const float *src, const uint64_t *live, int64_t n) {
	DISPATCH(level, copy, dst, src, live, n);
}

void et_select(int32_t level, float *out, const uint64_t *which, const float *a, const float *b, const uint64_t *live,
               int64_t n) {
	DISPATCH(level, select, out, which, a, b, live, n);
}

void et_fill(int32_t level, float *dst, float value, const uint64_t *live, int64_t n) {
	DISPATCH(level, fill, dst, value, live, n);
}

void et_gather(int32_t level, float *dst, const float *src, const uint32_t *index, const uint64_t *live, int64_t n) {
	DISPATCH(level, gather, dst, src, index, live, n);
}
#endif
