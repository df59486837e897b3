/* Looking for NaNs. */
#ifndef EVERTICK_NAN_H
#define EVERTICK_NAN_H

#include "evertick.h"

/* Whether there is a NaN among n floats, or doubles, of which x are the bits. */
int32_t et_nan32(int32_t level, const uint32_t *x, int64_t n);
int32_t et_nan64(int32_t level, const uint64_t *x, int64_t n);

#endif
