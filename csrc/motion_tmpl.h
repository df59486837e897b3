#include "ops.h"
#include "turn.h"

#define EULER(p, v) V(add)(V(load)(p + i), V(mul)(v, step))

KERNEL(void, move, et_motion m, float dt, const uint64_t *live, int64_t n) {
	SHORT(n, et_move_c(m, dt, live, n));
	const V(f) step = V(set1)(dt), half = V(set1)(dt * 0.5f);
	EACH_ROW(live, n,
		const V(f) vx = EULER(m.vel.x, V(load)(m.acc.x + i));
		const V(f) vy = EULER(m.vel.y, V(load)(m.acc.y + i));
		const V(f) vz = EULER(m.vel.z, V(load)(m.acc.z + i));
		PUT(m.vel.x, vx);
		PUT(m.vel.y, vy);
		PUT(m.vel.z, vz);
		PUT(m.pos.x, EULER(m.pos.x, vx));
		PUT(m.pos.y, EULER(m.pos.y, vy));
		PUT(m.pos.z, EULER(m.pos.z, vz));
		TURN(m.rot, m.ang, half));
}

#undef EULER

#ifdef DISPATCH
void et_move(int32_t level, et_motion m, float dt, const uint64_t *live, int64_t n) {
	DISPATCH(level, move, m, dt, live, n);
}
#endif
