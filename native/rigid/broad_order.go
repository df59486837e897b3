package rigid

import "github.com/evertick/evertick/native"

// ordering brings found pairs into order.
type ordering struct {
	ends   []uint32 // where the pairs of each shape A end
	met    []uint32 // by shape B: pairs of a lower shape
	sorter native.Sorter
}

// shortRow is the length up to which the pairs of a shape are sorted by insertion.
const shortRow = 16

// sort replaces out by the pairs of raw of which the filters agree, in order and
// without those that are too many.
func (o *ordering) sort(level native.Level, n int, raw *found, r *rule, out *Pairs) {
	if !r.all {
		r.keep(raw)
	}
	out.A, out.B = resized(out.A, raw.fill), resized(out.B, raw.fill)
	o.ends = resized(o.ends, n)
	if longest := scatter(level, raw, o.ends, out); longest > shortRow {
		o.sortLong(level, n, out)
		if longest > MaxPairs {
			o.thin(n, out)
		}
	}
}

// keep takes out the pairs of which the filters do not agree.
func (r *rule) keep(raw *found) {
	n := 0
	for i, a := range raw.a[:raw.fill] {
		b := raw.b[i]
		raw.a[n], raw.b[n] = a, b
		if r.agrees(a, b) {
			n++
		}
	}
	raw.fill = n
}

// scatterGo puts the pairs in order of A, and where they are not more than shortRow
// of one A, of B. ends[i] becomes the end of those of shape i. It returns the largest
// number of one A.
func scatterGo(raw *found, ends []uint32, out *Pairs) (longest uint32) {
	clear(ends)
	for _, a := range raw.a[:raw.fill] {
		ends[a]++
	}
	sum := uint32(0)
	for i, count := range ends {
		longest = max(longest, count)
		ends[i], sum = sum, sum+count
	}
	for i, a := range raw.a[:raw.fill] {
		out.A[ends[a]], out.B[ends[a]] = a, raw.b[i]
		ends[a]++
	}
	begin := uint32(0)
	for _, end := range ends {
		if end-begin <= shortRow {
			insert(out.B[begin:end])
		}
		begin = end
	}
	return longest
}

// insert sorts by insertion.
func insert(s []uint32) {
	for i := 1; i < len(s); i++ {
		v, k := s[i], i
		for ; k > 0 && s[k-1] > v; k-- {
			s[k] = s[k-1]
		}
		s[k] = v
	}
}

// sortLong sorts the rows that scatter leaves.
func (o *ordering) sortLong(level native.Level, n int, out *Pairs) {
	begin := uint32(0)
	for i, end := range o.ends {
		if end-begin > shortRow {
			native.SortRows(level, native.BySlot, n, int(begin), o.ends[i:i+1], out.B, nil, &o.sorter)
		}
		begin = end
	}
}

// thin takes out the pairs that have too many others between their shapes, on both
// sides. From the highest shape A down, the number of pairs met by shape B so far is
// that of its pairs with shapes between the two.
func (o *ordering) thin(n int, out *Pairs) {
	const out31 = 1 << 31 // marks a pair to take out
	o.met = resized(o.met, n)
	clear(o.met)
	for i := n - 1; i >= 0; i-- {
		begin := uint32(0)
		if i > 0 {
			begin = o.ends[i-1]
		}
		for k, b := range out.B[begin:o.ends[i]] {
			if k >= MaxPairs && o.met[b] >= MaxPairs {
				out.B[int(begin)+k] |= out31
			}
			o.met[b]++
		}
	}
	kept := 0
	for i, b := range out.B {
		out.A[kept], out.B[kept] = out.A[i], b
		if b < out31 {
			kept++
		}
	}
	out.A, out.B = out.A[:kept], out.B[:kept]
}
