package spatial

import "math"

// sumOracle is the specification of Sum: a loop over the rows of RadiusOracle.
func (ix *Index) sumOracle(q *Queries, s *Sums) error {
	if err := ix.checkSum(q, s); err != nil {
		return err
	}
	all := *q
	all.Order, all.SkipDist2 = Grid, false
	var rows Result
	if err := ix.RadiusOracle(&all, &rows); err != nil {
		return err
	}
	for i := range q.X {
		s.reduceRow(i, q.Radius[i], rows.Row(i), rows.Dist2Row(i))
	}
	return nil
}

// sumSelfOracle is the specification of SumSelf: a loop over the rows of radiusSelfOracle.
func (ix *Index) sumSelfOracle(q *Self, s *Sums) error {
	if err := ix.checkSumSelf(q, s); err != nil {
		return err
	}
	all := *q
	all.Order, all.SkipDist2 = Grid, false
	var rows Result
	if err := ix.radiusSelfOracle(&all, &rows); err != nil {
		return err
	}
	for i, slot := range rows.Of {
		s.reduceRow(int(slot), q.Radius, rows.Row(i), rows.Dist2Row(i))
	}
	return nil
}

// reduceRow computes the results of a centre from its row.
func (s *Sums) reduceRow(centre int, radius float32, slots []uint32, dist2 []float32) {
	nearest, least := NoSlot, float32(math.Inf(1))
	for i, slot := range slots {
		if dist2[i] < least || dist2[i] == least && slot < nearest {
			nearest, least = slot, dist2[i]
		}
	}
	if len(s.Counts) > 0 {
		s.Counts[centre] = uint32(len(slots))
	}
	if len(s.Nearest) > 0 {
		s.Nearest[centre] = nearest
	}
	if len(s.NearestDist2) > 0 {
		s.NearestDist2[centre] = least
	}
	for i := range s.Terms {
		t := &s.Terms[i]
		t.To[centre] = t.reduceRow(centre, radius, s.Softening, slots, dist2)
	}
}

func (t *Term) reduceRow(centre int, radius, softening float32, slots []uint32, dist2 []float32) float32 {
	if len(slots) == 0 {
		return 0
	}
	result := float32(0)
	switch t.Reduce {
	case Min:
		result = float32(math.Inf(1))
	case Max:
		result = float32(math.Inf(-1))
	}
	for i, slot := range slots {
		v := t.value(centre, slot)
		if t.Weight != Uniform {
			v = float32(v * t.Weight.at(dist2[i], radius, softening))
		}
		switch t.Reduce {
		case Add, Mean:
			result += v
		case Min:
			if v < result {
				result = v
			}
		case Max:
			if v > result {
				result = v
			}
		}
	}
	if t.Reduce == Mean {
		result /= float32(len(slots))
	}
	return result
}

// value is what a neighbour contributes, before it is weighted.
func (t *Term) value(centre int, slot uint32) float32 {
	if t.Of == nil {
		return 1
	}
	if t.Own == nil {
		return t.Of[slot]
	}
	return t.Of[slot] - t.Own[centre]
}

// at returns the weight at a squared distance.
func (w Weight) at(d2, r, softening float32) float32 {
	d := float32(math.Sqrt(float64(d2)))
	q := d / r
	t := notNegative(1 - q)
	switch w {
	case InverseSquare:
		if d2+softening == 0 {
			return 0
		}
		return 1 / (d2 + softening)
	case Linear:
		return t
	case Poly6:
		t = notNegative(1 - d2/float32(r*r))
		return float32(float32(t*t) * t)
	case SpikyGradient:
		if d == 0 {
			return 0
		}
		return float32(t*t) / d
	case CubicSpline:
		if q <= 0.5 {
			return 1 - float32(6*float32(float32(q*q)*t))
		}
		return float32(2 * float32(float32(t*t)*t))
	}
	return 1
}

// notNegative returns t, or 0 if it is negative or NaN.
func notNegative(t float32) float32 {
	if t > 0 {
		return t
	}
	return 0
}
