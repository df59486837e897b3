#include "ops.h"
#include "turn.h"

/* Between two quaternions, of which the first changes its sign with sign. */
#define NEARER(p, c) V(add)(V(mul)(p, sign), V(mul)(V(sub)(c, V(mul)(p, sign)), part))

#define TEMPLATE "quats_tmpl.h"
#include "levels.h"

void et_nlerp(int32_t level, et_quat out, et_quat prev, et_quat cur, float alpha,
              const uint64_t *teleported, const uint64_t *live, int64_t n) {
	DISPATCH(level, nlerp, out, prev, cur, alpha, teleported, live, n);
}

void et_normalize_quat(int32_t level, et_quat q, const uint64_t *live, int64_t n) {
	DISPATCH(level, normalize_quat, q, live, n);
}

void et_integrate_quat(int32_t level, et_quat q, et_vec3 omega, float dt, const uint64_t *live, int64_t n) {
	DISPATCH(level, integrate_quat, q, omega, dt, live, n);
}
