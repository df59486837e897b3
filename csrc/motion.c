#include "ops.h"
#include "turn.h"

#define TEMPLATE "motion_tmpl.h"
#include "levels.h"

void et_move(int32_t level, et_motion m, float dt, const uint64_t *live, int64_t n) {
	DISPATCH(level, move, m, dt, live, n);
}
