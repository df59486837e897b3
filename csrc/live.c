#include "evertick.h"
#include "lanes.h"

#define TEMPLATE "live_tmpl.h"
#include "levels.h"

void et_live(int32_t level, const et_block *blocks, uint32_t points, const uint64_t *bitmap, uint16_t *live) {
	DISPATCH(level, live, blocks, points, bitmap, live);
}
