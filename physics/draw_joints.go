package physics

// joints draws the joints, ascending: a line from the point on the one body to that on the
// other, and from either to the centre of mass of its body, unless that is static.
func (p *pen) joints() {
	s := p.s
	for i := range s.joints.rows {
		r := &s.joints.rows[i]
		if r.kind == 0 {
			continue
		}
		a, b := int(s.jointTable.body[2*i]), int(s.jointTable.body[2*i+1])
		if !p.placed(a) || !p.placed(b) {
			continue
		}
		onA, onB := s.jointAnchors(i)
		if JointKind(r.kind) != MouseJoint {
			p.arm(a, onA)
		}
		p.line(onA, onB, ColorJoint)
		p.arm(b, onB)
	}
}

// arm draws how a point hangs on a body.
func (p *pen) arm(body int, at [2]float32) {
	if p.s.cols.Type[body] != StaticBody {
		p.line(p.centre(body), at, ColorJoint)
	}
}
