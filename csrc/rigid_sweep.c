#include "rigid_sweep.h"
#include "rigid_solve_lanes.h"

#define TEMPLATE "rigid_sweep_tmpl.h"
#include "levels.h"

uint32_t et_fast(int32_t level, const et_state *states, const float *least, const float *most, int64_t lo, int64_t hi,
                 uint32_t *out) {
	return DISPATCH(level, fast, states, least, most, lo, hi, out);
}
