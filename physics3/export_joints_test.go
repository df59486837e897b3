package physics3

// NumbersOf returns the numbers of a definition, with the names of their fields.
func NumbersOf(def AnyJointDef) (names []string, numbers []*float32) {
	f := def.fields()
	add := func(name string, v *float32) { names, numbers = append(names, name), append(numbers, v) }
	for name, to := range map[string]*JointFrame{"FrameA": &f.common.FrameA, "FrameB": &f.common.FrameB} {
		for k := range to.Point {
			add(name+".Point", &to.Point[k])
		}
		for k := range to.Rotation {
			add("Rotation", &to.Rotation[k])
		}
	}
	d := f.common
	add("BreakForce", &d.BreakForce)
	add("BreakTorque", &d.BreakTorque)
	add("ForceThreshold", &d.ForceThreshold)
	add("TorqueThreshold", &d.TorqueThreshold)
	add("ConstraintHertz", &d.ConstraintHertz)
	add("ConstraintDamping", &d.ConstraintDamping)
	if f.kind != 0 {
		for i, rule := range jointKinds[f.kind].numbers {
			add(rule.Name, f.numbers[i])
		}
	}
	return names, numbers
}
