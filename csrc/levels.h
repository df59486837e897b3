/* Instantiates the kernel in TEMPLATE once for each level that the target can
 * have, and defines DISPATCH, by which its et_ function calls one of them.
 *
 *   #define TEMPLATE "x_tmpl.h"
 *   #include "levels.h"
 *   void et_x(int32_t level, ...) { DISPATCH(level, x, ...); } */

#define LEVEL c
#include TEMPLATE
#undef LEVEL

#if defined(__x86_64__)
#define LEVEL avx2
#include TEMPLATE
#undef LEVEL
#define LEVEL avx512
#include TEMPLATE
#undef LEVEL
#define DISPATCH(level, kernel, ...)                                \
	((level) == ET_AVX512 ? kernel##_avx512(__VA_ARGS__)        \
	 : (level) == ET_AVX2 ? kernel##_avx2(__VA_ARGS__)          \
	                      : kernel##_c(__VA_ARGS__))
#elif defined(__aarch64__)
#define LEVEL neon
#include TEMPLATE
#undef LEVEL
#define DISPATCH(level, kernel, ...) \
	((level) == ET_NEON ? kernel##_neon(__VA_ARGS__) : kernel##_c(__VA_ARGS__))
#else
#define DISPATCH(level, kernel, ...) ((void)(level), kernel##_c(__VA_ARGS__))
#endif
