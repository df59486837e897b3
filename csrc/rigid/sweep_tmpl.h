#include "sweep.h"
#include "solve_lanes.h"

KERNEL(uint32_t, fast, const et_state *states, const float *least, const float *most, int64_t lo,
       int64_t hi, uint32_t *out) {
	const V(f) half = V(set1)(0.5f), one = V(set1)(1.0f);
	uint32_t n = 0;
	int64_t i = lo;
	for (; i + V(LANES) <= hi; i += V(LANES)) {
		V(f) r[8];
		V(rows8)((const float *)(const void *)&states[i], side_by_side, 8, r);
		const V(f) turn = MUL(ADD(V(abs)(r[7]), SUB(one, r[6])), V(load)(most + i));
		const V(f) move = ADD(ADD(V(abs)(r[4]), V(abs)(r[5])), turn);
		const V(mask) in = V(lt)(ZERO, r[3]) & V(lt)(MUL(half, V(load)(least + i)), move);
		if (!in)
			continue;
		V(storeu)(out + n, V(packu)(V(ramp)((uint32_t)i), in));
		n += V(count)(in);
	}
	return V(LANES) > 1 && i < hi ? n + et_fast_c(states, least, most, i, hi, out + n) : n;
}

#ifdef DISPATCH
uint32_t et_fast(int32_t level, const et_state *states, const float *least, const float *most, int64_t lo, int64_t hi,
                 uint32_t *out) {
	return DISPATCH(level, fast, states, least, most, lo, hi, out);
}
#endif
