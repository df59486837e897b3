/* Poses of bodies, and transforms of the entities that they drive: see internal/rigid/sync.go. */
#ifndef EVERTICK_RIGID_ENTITIES_H
#define EVERTICK_RIGID_ENTITIES_H

#include "system.h"

/* x, y, quat_axis, quat_w of entities, and the two components of the quaternion that are zero. flip: quat_axis has
 * the opposite sign. */
typedef struct {
	float *column[6];
	int32_t flip;
} et_entities;

/* x, y, half_sin, half_cos of bodies. */
typedef struct {
	float *column[4];
} et_written;

/* Entities.Write of bodies [lo, hi). A slot is the number of an entity, or UINT32_MAX for none. */
void et_write_entities(int32_t level, et_entities e, et_origins o, et_poses p, const uint32_t *slots, et_written w, int64_t lo,
                       int64_t hi);

/* Entities.FirstChanged: the first body of [lo, hi) whose entity differs from w, or hi. */
int64_t et_first_changed(int32_t level, et_entities e, const uint32_t *slots, et_written w, int64_t lo, int64_t hi);

#endif
