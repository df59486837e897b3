/* Each stage of a step as a function for Go, and all stages in one call. level_c.c includes this file after its kernels. */
#define STAGE(name)                                                                        \
	void et_space_##name(int32_t level, et_space_system s, int64_t lo, int64_t hi) {   \
		DISPATCH(level, space_##name, &s, lo, hi);                                 \
	}
STAGE(prepare_bodies)
STAGE(prepare_contacts)
STAGE(warm_start)
STAGE(solve_contacts)
STAGE(integrate_positions)
STAGE(relax_contacts)
STAGE(apply_restitution)
STAGE(store_impulses)
STAGE(finalize_bodies)
STAGE(prepare_joints)
STAGE(warm_start_joints)
STAGE(solve_joints)
STAGE(relax_joints)
STAGE(store_joint_impulses)
#undef STAGE

void et_space_integrate_velocities(int32_t level, et_space_system s, int64_t sub, int64_t lo, int64_t hi) {
	DISPATCH(level, space_integrate_velocities, &s, sub, lo, hi);
}

/* Runs a stage over all spans. */
#define EACH_SPAN(name, ...)                           \
	for (int64_t k = 0; k < s.span_count; k++)     \
	DISPATCH(level, space_##name, __VA_ARGS__, s.spans[k].lo, s.spans[k].hi)

void et_space_solve(int32_t level, et_space_system s) {
	const int64_t blocks = s.block_count, joints = s.joint_block_count;
	uint32_t flags = 0;
	EACH_SPAN(prepare_bodies, &s);
	DISPATCH(level, space_prepare_joints, &s, 0, joints);
	DISPATCH(level, space_prepare_contacts, &s, 0, blocks);
	for (int64_t n = 0; n < blocks; n++)
		flags |= s.blocks[n].flags;
	for (int64_t sub = 0; sub < s.step.sub_steps; sub++) {
		EACH_SPAN(integrate_velocities, &s, sub);
		if (sub == 0) {
			DISPATCH(level, space_warm_start_joints, &s, 0, joints);
			DISPATCH(level, space_warm_start, &s, 0, blocks);
		}
		DISPATCH(level, space_solve_joints, &s, 0, joints);
		DISPATCH(level, space_solve_contacts, &s, 0, blocks);
		EACH_SPAN(integrate_positions, &s);
		DISPATCH(level, space_relax_joints, &s, 0, joints);
		DISPATCH(level, space_relax_contacts, &s, 0, blocks);
		if (flags & ET_SPACE_RESTITUTION)
			DISPATCH(level, space_apply_restitution, &s, 0, blocks);
	}
	DISPATCH(level, space_store_joint_impulses, &s, 0, joints);
	DISPATCH(level, space_store_impulses, &s, 0, blocks);
	EACH_SPAN(finalize_bodies, &s);
}
#undef EACH_SPAN
