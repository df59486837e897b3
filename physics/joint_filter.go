package physics

// jointPreventsCollision reports whether a joint keeps two bodies from colliding.
func (s *solver) jointPreventsCollision(a, b uint32) bool {
	t := s.jointTable
	if len(t.head) == 0 {
		return false
	}
	if t.count[b] < t.count[a] {
		a, b = b, a // the one with fewer joints
	}
	for end := t.head[a]; end != 0; end = t.next[end-1] {
		if t.body[(end-1)^1] == b && !s.joints.rows[(end-1)/2].has(jointCollides) {
			return true
		}
	}
	return false
}
