/* The cell list, as functions of LEVEL. */
static TARGET int32_t AT(cell)(const cl_grid *g, int axis, float v) {
	int32_t c = (int32_t)((v - g->min[axis]) * g->inv);
	return c < 0 ? 0 : c >= g->n[axis] ? g->n[axis] - 1 : c;
}

static TARGET void AT(sort)(cl_list l, const float *x, const float *y, const float *z, int64_t n) {
	const cl_grid *g = &l.grid;
	uint32_t *start = l.start;
	int64_t cells = (int64_t)g->n[0] * g->n[1] * g->n[2];
	memset(start, 0, (size_t)(cells + 1) * sizeof *start);
	for (int64_t i = 0; i < n; i++) {
		int32_t c = (AT(cell)(g, 2, z[i]) * g->n[1] + AT(cell)(g, 1, y[i])) * g->n[0] + AT(cell)(g, 0, x[i]);
		start[l.cell_of[i] = (uint32_t)c]++;
	}
	for (int64_t c = 1; c <= cells; c++)
		start[c] += start[c - 1];
	for (int64_t i = n - 1; i >= 0; i--)
		l.points[--start[l.cell_of[i]]] = (cl_point){x[i], y[i], z[i], (uint32_t)i};
}

static TARGET int64_t AT(find)(cl_list l, const cl_point *centres, int64_t count, float radius, uint32_t *ends,
			       uint32_t *slots, int64_t room) {
	const cl_grid *g = &l.grid;
	int64_t n = 0;
	float square = radius * radius, reach = radius * 1.0001f;
	for (int64_t i = 0; i < count; i++) {
		cl_point q = centres[i];
		int32_t x0 = AT(cell)(g, 0, q.x - reach), x1 = AT(cell)(g, 0, q.x + reach);
		int32_t y0 = AT(cell)(g, 1, q.y - reach), y1 = AT(cell)(g, 1, q.y + reach);
		int32_t z0 = AT(cell)(g, 2, q.z - reach), z1 = AT(cell)(g, 2, q.z + reach);
		for (int32_t z = z0; z <= z1; z++)
			for (int32_t y = y0; y <= y1; y++) {
				const uint32_t *row = l.start + (int64_t)(z * g->n[1] + y) * g->n[0];
				const cl_point *p = l.points + row[x0], *end = l.points + row[x1 + 1];
				if (n + (end - p) > room)
					return -1;
				for (; p < end; p++) {
					float dx = p->x - q.x, dy = p->y - q.y, dz = p->z - q.z;
					slots[n] = p->slot;
					n += dx * dx + dy * dy + dz * dz <= square;
				}
			}
		ends[i] = (uint32_t)n;
	}
	return n;
}
