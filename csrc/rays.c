#include "shapes.h"
#include "lanes.h"
#include "points.h"

typedef struct {
	const et_ray *rays;
	const uint32_t *span_ends;
	const et_span *spans;
	int64_t n;
} ray_set;

/* The lanes of the block of place at that are in [at, last). */
static inline uint32_t lanes_from(uint32_t at, uint32_t last) {
	const uint32_t left = last - at / ET_BLOCK * ET_BLOCK;
	const uint32_t below = left < ET_BLOCK ? (1u << left) - 1u : 0xffffu;
	return below & ~((1u << at % ET_BLOCK) - 1u);
}

#define TEMPLATE "rays_tmpl.h"
#include "levels.h"

void et_ray_closest(int32_t level, const et_block *blocks, const float *r2, const uint32_t *category,
                    const uint16_t *live, const et_ray *rays, const uint32_t *span_ends, const et_span *spans,
                    int64_t n, uint32_t *slots, float *t) {
	const point_set p = {NULL, NULL, blocks, 0, category, live};
	const ray_set s = {rays, span_ends, spans, n};
	DISPATCH(level, ray_closest, &p, r2, &s, slots, t);
}

int64_t et_ray_all(int32_t level, const et_block *blocks, const float *r2, const uint32_t *category,
                   const uint16_t *live, const et_ray *rays, const uint32_t *span_ends, const et_span *spans,
                   int64_t n, uint32_t *ends, uint32_t *out, float *t, int64_t fill, int64_t cap) {
	const point_set p = {NULL, NULL, blocks, 0, category, live};
	const ray_set s = {rays, span_ends, spans, n};
	return DISPATCH(level, ray_all, &p, r2, &s, ends, out, t, fill, cap);
}
