//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

/* The kernels at level neon, 4 lanes. */
#if defined(__aarch64__)
#define LEVEL neon
#include "kernels.h"
#endif
