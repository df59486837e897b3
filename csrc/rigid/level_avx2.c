//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

/* The kernels at level avx2, 8 lanes. */
#if defined(__x86_64__)
#define LEVEL avx2
#include "kernels.h"
#endif
