#include "reduce.h"
#include "rows.h"

#define TEMPLATE "gather_tmpl.h"
#include "levels.h"

void et_gather(int32_t level, float *dst, const float *src, const uint32_t *index, const uint64_t *live, int64_t n) {
	DISPATCH(level, gather, dst, src, index, live, n);
}
