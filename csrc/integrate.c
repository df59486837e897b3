#include "evertick.h"
#include "lanes.h"

#define LEVEL c
#include "integrate_tmpl.h"
#undef LEVEL

#if defined(__x86_64__)
#define LEVEL avx2
#include "integrate_tmpl.h"
#undef LEVEL
#define LEVEL avx512
#include "integrate_tmpl.h"
#undef LEVEL
#endif

#if defined(__aarch64__)
#define LEVEL neon
#include "integrate_tmpl.h"
#undef LEVEL
#endif

void et_integrate(int32_t level, float *pos, const float *vel, float dt, size_t n) {
	switch (level) {
#if defined(__x86_64__)
	case ET_AVX512: integrate_avx512(pos, vel, dt, n); return;
	case ET_AVX2: integrate_avx2(pos, vel, dt, n); return;
#endif
#if defined(__aarch64__)
	case ET_NEON: integrate_neon(pos, vel, dt, n); return;
#endif
	default: integrate_c(pos, vel, dt, n); return;
	}
}
