package netcode

import "github.com/evertick/evertick/native"

// DeltaLanes are the lanes of a record, which Delta makes of each row.
type DeltaLanes struct {
	Lanes int      // 1 to 8
	Bits  [8]uint8 // of each lane, 1 to 32
	Width [8]uint8 // bits of each lane in the record, at most as many as the lane has; their sum is at most 32
}

// valid reports whether the shape is one that Delta takes.
func (s *DeltaLanes) valid() bool {
	if s.Lanes < 1 || s.Lanes > len(s.Bits) {
		return false
	}
	sum := 0
	for l, bits := range s.Bits[:s.Lanes] {
		if bits < 1 || bits > 32 || s.Width[l] > bits {
			return false
		}
		sum += int(s.Width[l])
	}
	return sum <= 32
}

// Delta computes how the lanes of a group differ between two states, row by row. now and base are the indices of arena
// at which the states begin; lane l begins l*stride after that. previous is the index of a third state, or negative if
// there is none. Row i of lane l has the difference, modulo 2^32 and then reduced to the bits of the lane,
//
//	d[l] = now[i] - base[i]                               // without previous
//	d[l] = (now[i] - base[i]) - (base[i] - previous[i])   // with it: the error of a linear prediction
//
// where reducing to b bits keeps the low b bits as a number in two's complement.
//
// Bit i%64 of changed[i/64] is set if any d[l] is not 0. The same bit of wide is set if any d[l] does not fit into Width[l]
// bits in two's complement; 0 bits hold the number 0 alone. The bits of rows from len(records) on are 0. records[i] has
// the low Width[l] bits of each d[l], the first lane lowest, without gaps.
//
// changed and wide have (len(records)+63)/64 words. Delta panics if they do not, if a lane does not lie within arena, if
// the shape is out of range, and on a level that Resolve refuses. It allocates nothing.
func Delta(level native.Level, arena []int32, stride, now, base, previous int, shape *DeltaLanes, records []uint32, changed, wide []uint64) {
	n := len(records)
	if len(changed) != (n+63)/64 || len(wide) != len(changed) {
		panic("netcode: Delta: changed and wide need a bit for each record")
	}
	if !shape.valid() {
		panic("netcode: Delta: the shape is out of range")
	}
	if shape.Lanes > 1 && (stride < 0 || stride > len(arena)) {
		panic("netcode: Delta: stride is out of range")
	}
	last := (shape.Lanes-1)*stride + n
	if now < 0 || base < 0 || max(now, base, previous) > len(arena)-last {
		panic("netcode: Delta: a state does not lie within arena")
	}
	if level = must(level); level == native.Go || n == 0 {
		deltaGo(arena, stride, now, base, previous, shape, records, changed, wide)
	} else {
		deltaC(level, arena, stride, now, base, previous, shape, records, changed, wide)
	}
}

func deltaGo(arena []int32, stride, now, base, previous int, shape *DeltaLanes, records []uint32, changed, wide []uint64) {
	clear(changed)
	clear(wide)
	for i := range records {
		record, at := uint32(0), 0
		for l := range shape.Lanes {
			row := l*stride + i
			d := arena[now+row] - arena[base+row]
			if previous >= 0 {
				d -= arena[base+row] - arena[previous+row]
			}
			d = signExtend(d, int(shape.Bits[l]))
			width := int(shape.Width[l])
			if d != 0 {
				changed[i/64] |= 1 << (i % 64)
			}
			if signExtend(d, width) != d {
				wide[i/64] |= 1 << (i % 64)
			}
			record |= uint32(d) & (1<<width - 1) << at
			at += width
		}
		records[i] = record
	}
}
