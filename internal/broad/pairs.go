package broad

import "github.com/evertick/evertick/internal/buffer"

// pairSorter sorts the pairs that were found.
type pairSorter struct {
	partitioned pairBuffer           // by parts of shapes A
	partStart   [maxParts + 1]uint32 // first pair of each part
	longest     [maxParts]uint32     // most pairs of one shape, by part
	ends        []uint32             // end of the pairs of each shape A
	rank        [2][]uint32          // by shape B: its pairs with a lower shape that does not move, and that does
	scratch     [maxParts][]uint32   // by part, to sort its long rows
}

const (
	// shortRow is the largest number of pairs of a shape that scatterPairs sorts. Most shapes have fewer.
	shortRow = 16

	// countedRow is the largest that is sorted by counting which shapes are smaller, or by insertion in Go. More are radix
	// sorted, in linear time.
	countedRow = 64
)

// sortPairs replaces out by the pairs that were found, sorted and without those in excess. It returns how many
// it left out.
func (b *Phase) sortPairs(n int) (omitted int) {
	o, raw, parts := &b.sorter, &b.buffers[0], 1
	if _, split := b.shapeParts(n); split {
		raw, parts = &o.partitioned, b.pairOffsets(n)
		b.each(len(b.buffers), b.tasks.partition)
	}
	b.out.A, b.out.B = buffer.Resized(b.out.A, raw.n), buffer.Resized(b.out.B, raw.n)
	o.ends = buffer.Resized(o.ends, n)
	b.each(parts, b.tasks.sort)
	longest := uint32(0)
	for _, l := range o.longest[:parts] {
		longest = max(longest, l)
	}
	if longest > MaxPairs && o.mayHaveExcess(n, b.out) || longest > shortRow && len(b.out.A) > maxTotalPairs(n, MinPairs) {
		return o.dropExcess(b.cache.filter.filters.Moves, b.out)
	}
	return 0
}

// shapeParts returns how pairs are split by their shape A: the bits from shift on number the part.
func (b *Phase) shapeParts(n int) (shift uint, split bool) {
	for ; (n-1)>>shift >= maxParts || 1<<shift < b.partSize(n); shift++ {
	}
	return shift, b.inParts(n)
}

// pairOffsets computes where the pairs of each part and group go, and returns the number of parts.
func (b *Phase) pairOffsets(n int) (parts int) {
	o, at := &b.sorter, uint32(0)
	shift, _ := b.shapeParts(n)
	parts = (n-1)>>shift + 1
	for i := range parts {
		o.partStart[i] = at
		for k := range b.buffers {
			next := &b.buffers[k].partStart[i]
			*next, at = at, at+*next
		}
	}
	o.partStart[parts] = at
	p := &o.partitioned
	p.a, p.b, p.n = buffer.Resized(p.a, int(at)), buffer.Resized(p.b, int(at)), int(at)
	return parts
}

// partitionPart moves the pairs of a group into their parts.
func (b *Phase) partitionPart(group int) {
	shift, _ := b.shapeParts(b.cache.n)
	raw, to := &b.buffers[group], &b.sorter.partitioned
	b.kernels.partition(raw, shift, to)
}

// countPairsGo counts pairs by part.
func countPairsGo(raw *pairBuffer, shift uint) {
	for _, a := range raw.a[:raw.n] {
		raw.partStart[a>>shift%maxParts]++
	}
}

// partitionGo moves each pair to the next position of its part.
func partitionGo(raw *pairBuffer, shift uint, to *pairBuffer) {
	for i, a := range raw.a[:raw.n] {
		next := &raw.partStart[a>>shift%maxParts]
		to.a[*next], to.b[*next] = a, raw.b[i]
		*next++
	}
}

// sortPairsPart sorts the pairs of a part.
func (b *Phase) sortPairsPart(i int) {
	o, n := &b.sorter, b.cache.n
	shift, split := b.shapeParts(n)
	if !split {
		raw := &b.buffers[0]
		b.sortRange(i, raw.a[:raw.n], raw.b[:raw.n], 0, o.ends, *b.out)
		return
	}
	lo := i << shift
	first, last := o.partStart[i], o.partStart[i+1]
	ends := o.ends[lo:min(lo+1<<shift, n)]
	b.sortRange(i, o.partitioned.a[first:last], o.partitioned.b[first:last], uint32(lo), ends, Pairs{b.out.A[first:last], b.out.B[first:last]})
	for k := range ends {
		ends[k] += first
	}
}

// sortRange sorts the pairs of part i, whose lower shapes are those from lo on that have an element of ends.
func (b *Phase) sortRange(i int, as, bs []uint32, lo uint32, ends []uint32, out Pairs) {
	o := &b.sorter
	longest := b.kernels.scatterPairs(as, bs, lo, ends, out)
	if o.longest[i] = longest; longest > shortRow {
		o.scratch[i] = buffer.Resized(o.scratch[i], int(longest))
		b.kernels.sortRows(ends, out.B, o.scratch[i])
	}
}

// apply removes the pairs that must not collide.
func (r *pairFilter) apply(raw *pairBuffer) {
	n := 0
	for i, a := range raw.a[:raw.n] {
		b := raw.b[i]
		raw.a[n], raw.b[n] = a, b
		if r.shouldCollide(a, b) {
			n++
		}
	}
	raw.n = n
}

// scatterPairsGo sorts pairs by A and, where a shape A has at most shortRow of them, by B. ends[i] becomes the
// end of the pairs of shape lo+i. It returns the largest number of pairs of one A.
func scatterPairsGo(as, bs []uint32, lo uint32, ends []uint32, out Pairs) (longest uint32) {
	clear(ends)
	for _, a := range as {
		ends[a-lo]++
	}
	sum := uint32(0)
	for i, count := range ends {
		longest = max(longest, count)
		ends[i], sum = sum, sum+count
	}
	for i, a := range as {
		at := &ends[a-lo]
		out.A[*at], out.B[*at] = a, bs[i]
		*at++
	}
	begin := uint32(0)
	for _, end := range ends {
		if end-begin <= shortRow {
			insertionSort(out.B[begin:end])
		}
		begin = end
	}
	return longest
}

// insertionSort sorts a few numbers.
func insertionSort(s []uint32) {
	for i := 1; i < len(s); i++ {
		v, k := s[i], i
		for ; k > 0 && s[k-1] > v; k-- {
			s[k] = s[k-1]
		}
		s[k] = v
	}
}

// sortRowsGo sorts the rows that scatterPairsGo leaves unsorted, of shapes, none twice. ends are the ends of the rows in s, and
// tmp has room for the longest.
func sortRowsGo(ends, s, tmp []uint32) {
	begin := uint32(0)
	for _, end := range ends {
		switch n := end - begin; {
		case n > countedRow:
			radixSort(s[begin:end], tmp)
		case n > shortRow:
			insertionSort(s[begin:end])
		}
		begin = end
	}
}

// radixSort sorts shapes by their bytes, least significant first, and leaves out those above the highest bit of any.
func radixSort(s, tmp []uint32) {
	all := uint32(0)
	for _, v := range s {
		all |= v
	}
	from, to := s, tmp[:len(s)]
	for shift := 0; all>>shift > 0; shift += 8 {
		var next [256]uint32
		for _, v := range from {
			next[uint8(v>>shift)]++
		}
		sum := uint32(0)
		for d, count := range next {
			next[d], sum = sum, sum+count
		}
		for _, v := range from {
			d := uint8(v >> shift)
			to[next[d]] = v
			next[d]++
		}
		from, to = to, from
	}
	copy(s, from)
}

// excess marks a pair to drop.
const excess = 1 << 31

// mayHaveExcess reports whether a pair has a shape A and a shape B of more than MaxPairs pairs each. Where a few walls
// enclose everything, no pair does. The check takes a fifth of the instructions of dropExcess.
func (o *pairSorter) mayHaveExcess(n int, out *Pairs) bool {
	o.rank[0] = buffer.Resized(o.rank[0], n)
	met := o.rank[0]
	clear(met)
	for _, b := range out.B {
		met[b]++
	}
	begin := uint32(0)
	for _, end := range o.ends {
		if end-begin > MaxPairs {
			for _, b := range out.B[begin:end] {
				if met[b] > MaxPairs {
					return true
				}
			}
		}
		begin = end
	}
	return false
}

// dropExcess removes the pairs in excess, and returns their number.
func (o *pairSorter) dropExcess(moves []bool, out *Pairs) (omitted int) {
	most := pairLimits{MaxPairs, MaxPairs}
	for most.halve(o.markExcess(moves, out, most)) {
	}
	kept := 0
	for i, b := range out.B {
		out.A[kept], out.B[kept] = out.A[i], b
		if b < excess {
			kept++
		}
	}
	omitted = len(out.A) - kept
	out.A, out.B = out.A[:kept], out.B[:kept]
	return omitted
}

// markExcess marks exactly the pairs whose two shapes both have as many partners of the same kind of pair between
// them as most allows. It returns the number of shapes, of unmarked pairs, and of unmarked pairs with a shape that
// does not move. It visits shapes A from the highest down: the number of pairs that shape B has so far is then that
// of its partners between the two.
func (o *pairSorter) markExcess(moves []bool, out *Pairs, most pairLimits) (n, kept, still int) {
	n = len(moves)
	for k := range o.rank {
		o.rank[k] = buffer.Resized(o.rank[k], n)
		clear(o.rank[k])
	}
	for i := n - 1; i >= 0; i-- {
		begin := uint32(0)
		if i > 0 {
			begin = o.ends[i-1]
		}
		met, rank := o.rank[bit(moves[i])], [2]uint32{}
		for k, b := range out.B[begin:o.ends[i]] {
			b &^= excess
			both := moves[i] && moves[b]
			bound, before := most.limit(both), &rank[bit(both)]
			if *before >= bound && met[b] >= bound {
				out.B[int(begin)+k] = b | excess
			} else {
				out.B[int(begin)+k] = b
				kept++
				still += 1 - bit(both)
			}
			*before++
			met[b]++
		}
	}
	return n, kept, still
}

// bit is 1 for true.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
