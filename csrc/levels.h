/* Calls kernels by level: DISPATCH(level, x, ...) is et_x_LEVEL(...) for the given level, or et_x_c if this build
 * lacks it. level_c.c includes this file and defines the et_ functions that Go calls. */
#ifndef EVERTICK_LEVELS_H
#define EVERTICK_LEVELS_H

#include "base.h"

#if defined(__x86_64__)
#define DISPATCH(level, kernel, ...)                                   \
	((level) == ET_AVX512 ? et_##kernel##_avx512(__VA_ARGS__)      \
	 : (level) == ET_AVX2 ? et_##kernel##_avx2(__VA_ARGS__)        \
	                      : et_##kernel##_c(__VA_ARGS__))
#elif defined(__aarch64__)
#define DISPATCH(level, kernel, ...) \
	((level) == ET_NEON ? et_##kernel##_neon(__VA_ARGS__) : et_##kernel##_c(__VA_ARGS__))
#else
#define DISPATCH(level, kernel, ...) ((void)(level), et_##kernel##_c(__VA_ARGS__))
#endif

#endif
