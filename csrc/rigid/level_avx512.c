//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

/* The kernels at level avx512, 16 lanes. */
#if defined(__x86_64__)
#define LEVEL avx512
#include "kernels.h"
#endif
