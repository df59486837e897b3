//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

/* The kernels at level c, one lane on any CPU, and the functions that choose a level. */
#define LEVEL c
#include "levels.h"
#include "kernels.h"
