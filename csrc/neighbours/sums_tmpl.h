#include "queries.h"
#include "sums_lanes.h"

/* t, or 0 where it is negative or NaN. */
HELPER(LEVEL) V(f) not_negative(V(f) t) {
	const V(f) zero = V(set1)(0.0f);
	return V(pick)(t, zero, t, zero);
}

/* The formulas of spatial.Weight; weight is a constant at each call. */
HELPER(LEVEL) V(f) weight_at(const int weight, V(f) d2, V(f) r, V(f) softening) {
	const V(f) zero = V(set1)(0.0f), one = V(set1)(1.0f);
	if (weight == ET_INVERSE_SQUARE) {
		const V(f) soft = V(add)(d2, softening);
		return V(pick)(soft, zero, V(div)(one, soft), zero);
	}
	if (weight == ET_POLY6) {
		const V(f) t = not_negative(V(sub)(one, V(div)(d2, V(mul)(r, r))));
		return V(mul)(V(mul)(t, t), t);
	}
	const V(f) d = V(sqrt)(d2), q = V(div)(d, r), t = not_negative(V(sub)(one, q));
	if (weight == ET_LINEAR)
		return t;
	const V(f) t2 = V(mul)(t, t);
	if (weight == ET_SPIKY_GRADIENT)
		return V(pick)(d, zero, V(div)(t2, d), zero);
	const V(f) inner = V(sub)(one, V(mul)(V(set1)(6.0f), V(mul)(V(mul)(q, q), t)));
	return V(select)(V(le)(q, V(set1)(0.5f)), inner, V(mul)(V(set1)(2.0f), V(mul)(t2, t)));
}

/* The weights of whole vectors: those after the end of a row are of the next row, which overwrites them. */
HELPER(LEVEL) void weigh_rows(const int weight, float softening, const float *radius, const uint32_t *ends, int64_t rows,
                              const float *dist2, float *w) {
	const V(f) soft = V(set1)(softening);
	int64_t j = 0;
	for (int64_t i = 0; i < rows; i++) {
		const V(f) r = V(set1)(radius[i]);
		for (; j < ends[i]; j += V(LANES))
			V(store)(w + j, weight_at(weight, V(load)(dist2 + j), r, soft));
		j = ends[i];
	}
}

KERNEL(void, weigh, int32_t weight, float softening, const float *radius, const uint32_t *ends, int64_t rows,
       const float *dist2, float *w) {
	if (weight == ET_INVERSE_SQUARE)
		weigh_rows(ET_INVERSE_SQUARE, softening, radius, ends, rows, dist2, w);
	else if (weight == ET_LINEAR)
		weigh_rows(ET_LINEAR, softening, radius, ends, rows, dist2, w);
	else if (weight == ET_POLY6)
		weigh_rows(ET_POLY6, softening, radius, ends, rows, dist2, w);
	else if (weight == ET_SPIKY_GRADIENT)
		weigh_rows(ET_SPIKY_GRADIENT, softening, radius, ends, rows, dist2, w);
	else
		weigh_rows(ET_CUBIC_SPLINE, softening, radius, ends, rows, dist2, w);
}

/* The sums of the values from k on; op, with_plain and with_weighted are constants at each call. */
HELPER(LEVEL) void sum_values(const et_row_sums *s, int64_t k, const int op, const int with_plain, const int with_weighted) {
	const float first = op == ET_ADD ? 0.0f : op == ET_MIN ? __builtin_inff() : -__builtin_inff();
	const float *const w = s->weights, *const records = s->records + k;
	const uint32_t *const index = s->index, *const ends = s->ends;
	const uint32_t plain_means = s->plain_means >> k, weighted_means = s->weighted_means >> k, means = plain_means | weighted_means;
	uint32_t j = 0;
	for (int64_t i = 0; i < s->rows; i++) {
		const int64_t row = i * ET_RECORD + k;
		const V(pair) own = V(pair_load)(s->own + row);
		V(pair) all = V(pair_set)(first);
		const uint32_t begin = j, end = ends[i];
#pragma GCC unroll 4
		for (; j < end; j++) {
			V(pair) v = V(pair_sub)(V(pair_load)(records + (size_t)index[j] * ET_RECORD), own);
			if (with_weighted)
				v = V(pair_weigh)(v, w[j]);
			all = op == ET_ADD ? V(pair_add)(all, v) : op == ET_MIN ? V(pair_min)(v, all) : V(pair_max)(v, all);
		}
		if (begin == end)
			all = V(pair_set)(0.0f);
		else if (means)
			all = V(pair_share)(all, (float)(end - begin), plain_means, weighted_means);
		V(pair_store)(all, with_plain ? s->plain + row : 0, with_weighted ? s->weighted + row : 0, with_plain, with_weighted);
	}
}

KERNEL(void, sum_rows, const et_row_sums *s) {
	const uint32_t lanes = (1u << V(PAIR_LANES)) - 1u;
	for (int64_t k = 0; k < ET_RECORD; k += V(PAIR_LANES)) {
		switch (s->op << 2 | ((s->plain_values >> k & lanes) != 0) << 1 | ((s->weighted_values >> k & lanes) != 0)) {
#define FORM(op, plain, weighted)                        \
		case (op) << 2 | (plain) << 1 | (weighted):      \
			sum_values(s, k, op, plain, weighted);   \
			break
#define FORMS(op) FORM(op, 0, 1); FORM(op, 1, 0); FORM(op, 1, 1)
			FORMS(ET_ADD); FORMS(ET_MIN); FORMS(ET_MAX);
#undef FORMS
#undef FORM
		}
	}
}

#ifdef DISPATCH
void et_weigh(int32_t level, int32_t weight, float softening, const float *radius, const uint32_t *ends, int64_t rows,
              const float *dist2, float *w) {
	DISPATCH(level, weigh, weight, softening, radius, ends, rows, dist2, w);
}

void et_sum_rows(int32_t level, et_row_sums sums) {
	DISPATCH(level, sum_rows, &sums);
}
#endif
