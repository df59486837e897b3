/* State for clients: lanes of whole numbers, their differences, and lists of slots. The functions of package native
 * with the same names say what these compute. */
#ifndef EVERTICK_REPLICA_H
#define EVERTICK_REPLICA_H

#include "ops.h"

/* n rows, at least one. limit is the largest code, 1 << (bits - 1) - 1. */
void et_quantise(int32_t level, int32_t *dst, const float *src, float scale, int32_t limit, int64_t n);
void et_quantise_angle(int32_t level, int32_t *dst, const float *src, int32_t bits, int64_t n);
void et_quantise_planar(int32_t level, int32_t *dst, const float *sin, const float *cos, int32_t bits, int64_t n);

typedef struct {
	int32_t *index, *a, *b, *c;
} et_quat_lanes;
void et_quantise_quat(int32_t level, et_quat_lanes dst, et_quat src, float scale, int32_t limit, int64_t n);

/* Lanes in an arena: where the states begin, from one lane of a state to the next, and the bits of each lane and of its
 * field in a record. previous is negative if there is none. */
typedef struct {
	int64_t stride, now, base, previous;
	int32_t lanes;
	uint8_t bits[8], width[8];
} et_delta_shape;
void et_delta(int32_t level, const int32_t *arena, et_delta_shape d, uint32_t *records, uint64_t *changed, uint64_t *wide, int64_t n);

/* Entries of lists are slots, with a flag in the highest bit. */
enum { ET_SLOT_BITS = 0x7fffffff };

typedef struct {
	const uint32_t *at;
	int64_t n;
} et_entries;
typedef struct {
	uint32_t *stays, *leaves, *enters;
} et_merge_to;
typedef struct {
	int64_t stays, leaves, enters; /* lengths of the lists */
} et_merged;
et_merged et_merge(et_entries known, et_entries view, const uint64_t *gone, et_merge_to to);

typedef struct {
	const uint32_t *records;
	const uint64_t *changed, *wide;
} et_source;
typedef struct {
	int64_t bits, wide; /* bits of the stream, and entries of the list */
} et_gathered;
typedef struct {
	uint8_t *mask, *bits;
	uint32_t *wide;
} et_gather_to;
et_gathered et_gather_records(const uint32_t *stays, int64_t n, et_source plain, et_source predicted, uint32_t width,
                              et_gather_to to);

#endif
