/* Guards that hold for every C file of evertick, and the words they share. */
#ifndef EVERTICK_BASE_H
#define EVERTICK_BASE_H

#include <stddef.h>
#include <stdint.h>

/* The kernels promise the bits of the Go oracle: no build may relax IEEE 754. */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "evertick: -ffast-math and its parts change results; remove them from CGO_CFLAGS"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "evertick: float must be evaluated as float (build with SSE2, not x87)"
#endif

/* A machine flag for the whole package would put instructions above the
 * baseline into functions that run before the CPU has been asked. (The tests of
 * the disassembly gate, which want to see it fail, define the exception.) */
#if defined(__x86_64__) && defined(__AVX__) && !defined(EVERTICK_ALLOW_MARCH)
#error "evertick: do not pass -mavx or -march in CGO_CFLAGS; levels are chosen at run time"
#endif

/* No fused multiply-add. clang obeys the pragma, gcc the optimize pragma and
 * -std=c11; the self-check of package native is the proof. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)

/* X86_VECTORS: this file is of a level with vectors of x86. The others do without its intrinsics, whose header takes gcc
 * half a second. */
#define X86_avx2 1
#define X86_avx512 1
#if defined(__x86_64__) && CAT(X86_, LEVEL)
#define X86_VECTORS 1
#else
#define X86_VECTORS 0
#endif

enum et_level { ET_C = 0, ET_AVX2 = 1, ET_AVX512 = 2, ET_NEON = 3 };

/* Function attributes of a level: HELPER for functions that must vanish into their caller, ROUTINE for those that
 * a kernel calls. */
#define TARGET_c
#define TARGET_avx2 __attribute__((target("avx2,popcnt")))
#define TARGET_avx512 __attribute__((target("avx512f,popcnt")))
#define TARGET_neon
#define HELPER(level) static inline __attribute__((always_inline)) CAT(TARGET_, level)
#define ROUTINE(level) static __attribute__((noinline)) CAT(TARGET_, level)

/* KERNEL(void, x, const float *a, int64_t n) { ... } defines et_x_LEVEL and declares it at every level: the unit
 * of each level defines its own. The disassembly gate finds kernels by name. */
#define KERNEL_AT(level, result, name, ...) \
	__attribute__((noinline, visibility("hidden"))) TARGET_##level result et_##name##_##level(__VA_ARGS__)
#if defined(__x86_64__)
#define KERNEL_AT_ALL(...) KERNEL_AT(c, __VA_ARGS__); KERNEL_AT(avx2, __VA_ARGS__); KERNEL_AT(avx512, __VA_ARGS__)
#elif defined(__aarch64__)
#define KERNEL_AT_ALL(...) KERNEL_AT(c, __VA_ARGS__); KERNEL_AT(neon, __VA_ARGS__)
#else
#define KERNEL_AT_ALL(...) KERNEL_AT(c, __VA_ARGS__)
#endif
#define KERNEL_HERE(level, ...) KERNEL_AT(level, __VA_ARGS__)
#define KERNEL(...) KERNEL_AT_ALL(__VA_ARGS__); KERNEL_HERE(LEVEL, __VA_ARGS__)

#endif
