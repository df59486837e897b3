/* Each stage of a step as a function for Go. level_c.c includes this file after its kernels. */
#define STAGE(name)                                                                        \
	void et_space_##name(int32_t level, et_space_system s, int64_t lo, int64_t hi) {   \
		DISPATCH(level, space_##name, &s, lo, hi);                                 \
	}
STAGE(warm_start)
STAGE(solve_contacts)
STAGE(relax_contacts)
STAGE(apply_restitution)
#undef STAGE
