//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

/* The cell list at the levels of package csrc, with its flags and function attributes. */
#include "celllist.h"
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define TARGET
#define AT(name) name##_c
#include "celllist_tmpl.h"
#undef TARGET
#undef AT

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2,popcnt")))
#define AT(name) name##_avx2
#include "celllist_tmpl.h"
#undef TARGET
#undef AT

#define TARGET __attribute__((target("avx512f,popcnt")))
#define AT(name) name##_avx512
#include "celllist_tmpl.h"
#define CALL(level, name, ...) \
	((level) == CL_AVX512 ? name##_avx512(__VA_ARGS__) : (level) == CL_AVX2 ? name##_avx2(__VA_ARGS__) : name##_c(__VA_ARGS__))
#else
#define CALL(level, name, ...) ((void)(level), name##_c(__VA_ARGS__))
#endif

void cl_sort(int32_t level, cl_list l, const float *x, const float *y, const float *z, int64_t n) {
	CALL(level, sort, l, x, y, z, n);
}

int64_t cl_find(int32_t level, cl_list l, const cl_point *centres, int64_t n, float radius, uint32_t *ends,
		uint32_t *slots, int64_t room) {
	return CALL(level, find, l, centres, n, radius, ends, slots, room);
}
