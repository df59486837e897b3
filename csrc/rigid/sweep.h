/* Which bodies are fast. Go face: sweep.go; what it computes is said in
 * native/rigid/sweep.go, of Extents.Fast. */
#ifndef EVERTICK_RIGID_SWEEP_H
#define EVERTICK_RIGID_SWEEP_H

#include "solve.h"

/* Writes the fast ones of bodies [lo, hi) to out and returns how many they are. */
uint32_t et_fast(int32_t level, const et_state *states, const float *least, const float *most, int64_t lo, int64_t hi,
                 uint32_t *out);

#endif
