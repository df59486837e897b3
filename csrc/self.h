/* The self query: every point is a centre, and all have one radius. */
#ifndef EVERTICK_SELF_H
#define EVERTICK_SELF_H

#include "evertick.h"

/* Which of the points within the radius a row holds. */
enum et_keep {
	ET_KEEP_ALL = 0,    /* the centre itself too */
	ET_KEEP_OTHERS = 1, /* all but the centre */
	ET_KEEP_ABOVE = 2   /* those of a higher slot: every pair once */
};

/* Candidates of a batch: four arrays whose distance keeps them off the same
 * cache sets. */
enum { ET_PACK_LEN = 4096, ET_PACK_STRIDE = ET_PACK_LEN + 80 };
typedef struct {
	float x[ET_PACK_STRIDE], y[ET_PACK_STRIDE], z[ET_PACK_STRIDE];
	uint32_t slot[ET_PACK_STRIDE];
} et_pack;

_Static_assert(sizeof(et_pack) == 16 * ET_PACK_STRIDE, "native.Packed mirrors et_pack");

/* Rows for the points at places [first, last), in grid order, as et_radius
 * would answer queries at these points with a radius whose square is r2 and
 * whose native.Reach is reach. Rows go to out, d2 and ends as those of et_radius do;
 * ends[i] is for place first + i. Returns the number of rows written: fewer than
 * last - first when cap is too small for the next; or -1 if start does not ascend
 * or a point is not in its cell. */
int64_t et_self(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
                float r2, float reach, int32_t keep, int64_t first, int64_t last, uint32_t *ends,
                uint32_t *out, float *d2, int64_t fill, int64_t cap, et_pack *scratch);

#endif
