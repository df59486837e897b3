#include "evertick.h"
#include "lanes.h"

KERNEL(void, live, const et_block *blocks, uint32_t points, const uint64_t *bitmap, uint16_t *live) {
	uint32_t place = 0;
	for (; place + ET_BLOCK <= points; place += ET_BLOCK) {
		uint32_t lanes = 0;
		for (uint32_t i = 0; i < ET_BLOCK; i += V(LANES))
			lanes |= (uint32_t)V(member)(bitmap, V(loadu)(blocks[place / ET_BLOCK].slot + i)) << i;
		live[place / ET_BLOCK] = (uint16_t)lanes;
	}
	if (place == points)
		return;
	uint32_t lanes = 0;
	for (uint32_t i = 0; place + i < points; i++)
		lanes |= (uint32_t)c_member(bitmap, blocks[place / ET_BLOCK].slot[i]) << i;
	live[place / ET_BLOCK] = (uint16_t)lanes;
}

#ifdef DISPATCH
void et_live(int32_t level, const et_block *blocks, uint32_t points, const uint64_t *bitmap, uint16_t *live) {
	DISPATCH(level, live, blocks, points, bitmap, live);
}
#endif
