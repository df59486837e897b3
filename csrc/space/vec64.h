/* Vectors of doubles, as internal/rigid3/vector64.go defines them. */
#ifndef EVERTICK_SPACE_VEC64_H
#define EVERTICK_SPACE_VEC64_H

#include "points.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#define SQRT64(a) _mm_cvtsd_f64(_mm_sqrt_pd(_mm_set_sd(a)))
#elif defined(__aarch64__)
#define SQRT64(a) vget_lane_f64(vsqrt_f64(vdup_n_f64(a)), 0)
#else
#define SQRT64(a) sqrt(a)
#endif

#define INLINE64 static inline __attribute__((always_inline))

typedef struct {
	double x, y, z;
} vec64;

INLINE64 vec64 wide64(const float *v) { return (vec64){(double)v[0], (double)v[1], (double)v[2]}; }
INLINE64 vec64 widened(point v) { return (vec64){(double)v.x, (double)v.y, (double)v.z}; }
INLINE64 vec64 row64(const double *v) { return (vec64){v[0], v[1], v[2]}; }
INLINE64 vec64 sub64(vec64 a, vec64 b) { return (vec64){a.x - b.x, a.y - b.y, a.z - b.z}; }
INLINE64 vec64 neg64(vec64 a) { return (vec64){-a.x, -a.y, -a.z}; }
INLINE64 vec64 times64(vec64 a, double s) { return (vec64){a.x * s, a.y * s, a.z * s}; }
INLINE64 vec64 add_times64(vec64 a, vec64 b, double s) { return (vec64){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s}; }
INLINE64 vec64 add64(vec64 a, vec64 b) { return (vec64){a.x + b.x, a.y + b.y, a.z + b.z}; }
INLINE64 double dot64(vec64 a, vec64 b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
INLINE64 vec64 cross64(vec64 a, vec64 b) {
	return (vec64){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
INLINE64 vec64 unit64(vec64 a, vec64 fallback) {
	const double l = SQRT64(dot64(a, a));
	return l > 0 ? (vec64){a.x / l, a.y / l, a.z / l} : fallback;
}
INLINE64 double least64(double a, double b) { return a < b ? a : b; }
INLINE64 double most64(double a, double b) { return a > b ? a : b; }
INLINE64 void narrow64(vec64 a, float *to) {
	to[0] = (float)a.x + 0.0f;
	to[1] = (float)a.y + 0.0f;
	to[2] = (float)a.z + 0.0f;
}

#endif
