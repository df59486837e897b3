package replica

import "math"

// A message with a prediction predicts the rotations of a Quat: that they turn again as they did with the last message. All numbers are whole. They are
// computed in float64, which holds them, and rounds the quotients and square roots finely enough that their floors are exact: see docs/replica-wire.md.

// quatSpan is a Quat in a predicted group: four lanes from first on, of which three have so many bits.
type quatSpan struct {
	first int
	bits  uint8
}

// quatSpans returns those of a group, whose first lane is number 0.
func quatSpans(g *Group) (list []quatSpan) {
	first := 0
	for _, f := range g.Fields {
		if g.Predicted && f.Codec == KindQuat {
			list = append(list, quatSpan{first, f.Bits})
		}
		first += f.laneCount()
	}
	return list
}

// numbers returns the four components of a rotation in units of 1/(√2·limit).
func (s quatSpan) numbers(lanes [4]int32) (q [4]float64) {
	limit := float64(int32(1)<<(s.bits-1) - 1)
	x, y, z, out := float64(lanes[1]), float64(lanes[2]), float64(lanes[3]), lanes[0]&3
	q[0], q[1], q[2] = x, y, z
	copy(q[out+1:], q[out:3])
	q[out] = math.Floor(math.Sqrt(max(2*limit*limit-(x*x+y*y+z*z), 0)) + 0.5)
	return q
}

// turned returns the rotation to which the turn from p to q leads when it is made again, q·p⁻¹·q = 2(p·q)q/(q·q) - p, on the shorter way. Neither is 0.
func turned(p, q [4]float64) (r [4]float64) {
	dot, square, sign := 0.0, 0.0, 1.0
	for k := range q {
		dot += p[k] * q[k]
		square += q[k] * q[k]
	}
	if dot < 0 {
		dot, sign = -dot, -1
	}
	for k := range q {
		r[k] = math.Floor(2*dot*q[k]/square+0.5) - sign*p[k]
	}
	return r
}

// turn is the prediction of one rotation.
type turn struct {
	place uint32
	r     [4]float64
}

// predict returns the rotation to which a turn leads when it is made again, and the component that it leaves out: the one of the largest magnitude, of equals the one that
// the lanes leave out, or else the first. It is false if the lanes have not changed: they then stay as they are.
func (s quatSpan) predict(before, lanes [4]int32) (r [4]float64, index int32, ok bool) {
	if before == lanes {
		return r, 0, false
	}
	r = turned(s.numbers(before), s.numbers(lanes))
	index = lanes[0] & 3
	for k, v := range r {
		if math.Abs(v) > math.Abs(r[index]) {
			index = int32(k)
		}
	}
	return r, sx(2, index), true
}

// codesWithout returns the codes of a rotation that leaves out a component, which becomes positive.
func codesWithout(r *[4]float64, index int32) (codes [3]int32) {
	out, sign, i := int(index&3), 1.0, 0
	if r[out] < 0 {
		sign = -1
	}
	for k, v := range r {
		if k != out {
			codes[i] = int32(sign * v)
			i++
		}
	}
	return codes
}

// difference replaces, in a row of differences to the linear prediction, those of the rotation.
func (s quatSpan) difference(row []int32, before, lanes, now [4]int32) {
	r, index, ok := s.predict(before, lanes)
	if !ok {
		return
	}
	row[s.first] = sx(2, now[0]-index)
	for i, code := range codesWithout(&r, now[0]) {
		row[s.first+1+i] = sx(s.bits, now[1+i]-code)
	}
}

// quatAt returns the lanes of a rotation in a capture whose lanes of the group begin at an index of the arena.
func (s *source) quatAt(g *group, span quatSpan, capture, slot int) (lanes [4]int32) {
	for i := range lanes {
		lanes[i] = g.arena[capture+(span.first+i)*s.present.stride+slot]
	}
	return lanes
}

// turnRecord puts the differences of an entity to the prediction from the capture before the base into its record, which has those to a linear one. It
// does so once, when a message first needs it: most entities may be in no view.
func (s *source) turnRecord(r *records, g int, base uint64, slot uint32, row []int32) {
	word, bit := slot>>6, uint64(1)<<(slot&63)
	if r.turned[word]&bit != 0 {
		return
	}
	r.turned[word] |= bit
	group := s.groups[g]
	s.difference(row, group, g, &stay{slot: slot, since: base, before: base - 1}, true)
	record, at := uint32(0), uint8(0)
	r.Changed[word] &^= bit
	r.Wide[word] &^= bit
	for lane, v := range row {
		width := group.record.Width[lane]
		if v != 0 {
			r.Changed[word] |= bit
		}
		if sx(width, v) != v || width == 0 && v != 0 {
			r.Wide[word] |= bit
		}
		record |= uint32(v) & (1<<width - 1) << at
		at += width
	}
	r.Records[slot] = record
}

// turns reports whether a lane of the group is one of a rotation that is predicted.
func (sp *span) turns(lane int) bool {
	for _, q := range sp.quats {
		if lane >= q.first && lane < q.first+4 {
			return true
		}
	}
	return false
}

// predictTurns sets the lanes of rotations to their prediction: the index, and codes of 0, to which finishTurns adds those of the prediction when the
// differences are known. Lanes that the last message has not changed stay as they are.
func (d *decoder) predictTurns(sp *span, included []uint32) {
	d.turns = d.turns[:0]
	for _, q := range sp.quats {
		lanes := d.dst.lanes[sp.first+q.first:][:4]
		for _, i := range included {
			var now, before [4]int32
			for k, lane := range lanes {
				now[k] = lane[i]
				before[k] = sx(sp.bits[q.first+k], now[k]-d.base.added[sp.first+q.first+k][d.from[i]])
			}
			r, index, ok := q.predict(before, now)
			if !ok {
				continue
			}
			lanes[0][i], lanes[1][i], lanes[2][i], lanes[3][i] = index, 0, 0, 0
			d.turns = append(d.turns, turn{i, r})
		}
		d.ends = append(d.ends, len(d.turns))
	}
}

// finishTurns adds the codes of the predictions to the differences.
func (d *decoder) finishTurns(sp *span) {
	from := 0
	for n, q := range sp.quats {
		lanes := d.dst.lanes[sp.first+q.first:][:4]
		for _, t := range d.turns[from:d.ends[n]] {
			for i, code := range codesWithout(&t.r, lanes[0][t.place]) {
				lanes[1+i][t.place] = sx(q.bits, lanes[1+i][t.place]+code)
			}
		}
		from = d.ends[n]
	}
	d.ends = d.ends[:0]
}
