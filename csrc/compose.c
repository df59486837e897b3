#include "compose_lanes.h"
#include "reduce.h"
#include "rows.h"

#define TEMPLATE "compose_tmpl.h"
#include "levels.h"

void et_compose(int32_t level, float *out, int32_t by_row, const float *px, const float *py, const float *pz,
                const float *qx, const float *qy, const float *qz, const float *qw,
                const float *sx, const float *sy, const float *sz, const uint64_t *live, int64_t n) {
	DISPATCH(level, compose, out, by_row, px, py, pz, qx, qy, qz, qw, sx, sy, sz, live, n);
}
