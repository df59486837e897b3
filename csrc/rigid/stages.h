/* Each stage of a step as a function for Go, and all stages in one call. level_c.c includes this file after its
 * kernels. */
#define STAGE(name)                                                                \
	void et_##name(int32_t level, et_system s, int64_t lo, int64_t hi) {       \
		DISPATCH(level, name, &s, lo, hi);                                 \
	}
STAGE(load_states)
STAGE(prepare_joints)
STAGE(prepare_contacts)
STAGE(warm_start_joints)
STAGE(warm_start_contacts)
STAGE(integrate_positions)
STAGE(apply_restitution)
STAGE(store_states)
#undef STAGE

void et_integrate_velocities(int32_t level, et_system s, int32_t sub, int64_t lo, int64_t hi) {
	DISPATCH(level, integrate_velocities, &s, sub, lo, hi);
}

void et_solve_joints(int32_t level, et_system s, int32_t use_bias, int64_t lo, int64_t hi) {
	DISPATCH(level, solve_joints, &s, use_bias, lo, hi);
}

void et_solve_contacts(int32_t level, et_system s, int32_t use_bias, int64_t lo, int64_t hi) {
	DISPATCH(level, solve_contacts, &s, use_bias, lo, hi);
}

void et_solve(int32_t level, et_system s) {
	const int64_t bodies = s.body_count, blocks = s.block_count, joints = s.joint_block_count;
	DISPATCH(level, load_states, &s, 0, bodies);
	DISPATCH(level, prepare_joints, &s, 0, joints);
	DISPATCH(level, prepare_contacts, &s, 0, blocks);
	for (int32_t sub = 0; sub < s.step.sub_steps; sub++) {
		DISPATCH(level, integrate_velocities, &s, sub, 0, bodies);
		if (sub == 0) {
			DISPATCH(level, warm_start_joints, &s, 0, joints);
			DISPATCH(level, warm_start_contacts, &s, 0, blocks);
		}
		DISPATCH(level, solve_joints, &s, 1, 0, joints);
		DISPATCH(level, solve_contacts, &s, 1, 0, blocks);
		DISPATCH(level, integrate_positions, &s, 0, bodies);
		DISPATCH(level, solve_joints, &s, 0, 0, joints);
		DISPATCH(level, solve_contacts, &s, 0, 0, blocks);
	}
	DISPATCH(level, apply_restitution, &s, 0, blocks);
	et_store_joint_impulses(s, 0, joints);
	et_store_contact_impulses(s, 0, blocks);
	DISPATCH(level, store_states, &s, 0, bodies);
}
