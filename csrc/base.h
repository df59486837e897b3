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

/* Function attributes of a level: HELPER for the vocabulary of lanes.h, which
 * must vanish into its caller, KERNEL for a loop that the disassembly gate
 * looks up by name, ROUTINE for what a kernel calls. */
#define TARGET_c
#define TARGET_avx2 __attribute__((target("avx2,popcnt")))
#define TARGET_avx512 __attribute__((target("avx512f,popcnt")))
#define TARGET_neon
#define HELPER(level) static inline __attribute__((always_inline)) CAT(TARGET_, level)
#define ROUTINE(level) static __attribute__((noinline)) CAT(TARGET_, level)
#define KERNEL(level) static __attribute__((noinline)) CAT(TARGET_, level)

#endif
