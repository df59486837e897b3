#include "lanes.h"
#include "nan.h"

#define TEMPLATE "nan_tmpl.h"
#include "levels.h"

int32_t et_nan32(int32_t level, const uint32_t *x, int64_t n) { return DISPATCH(level, nan32, x, n); }

int32_t et_nan64(int32_t level, const uint64_t *x, int64_t n) { return DISPATCH(level, nan64, x, n); }
