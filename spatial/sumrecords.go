package spatial

import "github.com/evertick/evertick/internal/neighbours"

// recordChunk is the number of records that a worker copies at a time.
const recordChunk = 1024

// hitsFirst is the number of points per query above which Sum gathers the values of the neighbours that it finds
// instead of those of all points.
const hitsFirst = 16

// fillRecords fills the records of all points, unless the neighbours have fewer. It reads the
// columns in sequence, and writes each record at once, to the place of its point.
func (t *sumTask) fillRecords(p *pools) error {
	limit := t.ix.points.Limit
	t.byHit = t.self == nil && limit > hitsFirst*t.centres
	n := limit
	if t.self != nil {
		t.findPlaces()
	}
	if t.byPlace {
		n = t.ix.n
	}
	for i := range t.groups {
		g := &t.groups[i]
		if g.ones {
			g.records = append(g.records[:0], neighbours.Record{1, 1, 1, 1, 1, 1, 1, 1})
		} else if !t.byHit {
			g.records = aligned(g.records, n, i)
		}
	}
	if t.byHit || len(t.groups) == 0 {
		return nil
	}
	t.fill.sumTask = t
	return p.run(t.ix, limit, recordChunk, &t.fill)
}

// findPlaces notes at which place the point of each slot is.
func (t *sumTask) findPlaces() {
	limit := t.ix.points.Limit
	t.place = aligned(t.place, limit, 0)
	if t.ix.n < limit {
		for i := range t.place {
			t.place[i] = NoSlot
		}
	}
	for at := 0; at < t.ix.n; at += neighbours.BlockLen {
		for i, slot := range t.ix.points.Blocks[at/neighbours.BlockLen].Slot[:min(neighbours.BlockLen, t.ix.n-at)] {
			t.place[slot] = uint32(at + i)
		}
	}
}

// fillTask is the native.Task of fillRecords.
type fillTask struct{ *sumTask }

func (t *fillTask) Do(_, chunk int) {
	first, last := chunk*recordChunk, min((chunk+1)*recordChunk, t.ix.points.Limit)
	var place []uint32
	if t.byPlace {
		place = t.place
	}
	for i := range t.groups {
		if g := &t.groups[i]; !g.ones {
			neighbours.FillRecords(t.ix.level, g.of[:g.values], 1, place, first, last, g.records)
		}
	}
}

// spreadSums writes the results to their columns, in the order of slots.
func (t *sumTask) spreadSums(p *pools) error {
	if t.self == nil {
		for i, at := range t.columns {
			term := &t.s.Terms[i]
			for j, sum := range t.sums(term, at)[:t.centres] {
				term.To[j] = sum[at.value]
			}
		}
		return nil
	}
	if len(t.columns) == 0 {
		return nil
	}
	t.spread.sumTask = t
	return p.run(t.ix, t.ix.points.Limit, recordChunk, &t.spread)
}

// sums returns where the results of a term are.
func (t *sumTask) sums(term *Term, at sumColumn) []neighbours.Record {
	return t.groups[at.group].sums[term.op()][term.Weight]
}

// spreadTask is the native.Task of spreadSums.
type spreadTask struct{ *sumTask }

func (t *spreadTask) Do(_, chunk int) {
	first, last := chunk*recordChunk, min((chunk+1)*recordChunk, t.ix.points.Limit)
	var from [neighbours.SpreadColumns][]neighbours.Record
	var value [neighbours.SpreadColumns]int
	var to [neighbours.SpreadColumns][]float32
	n := 0
	for i, at := range t.columns {
		term := &t.s.Terms[i]
		from[n], value[n], to[n] = t.sums(term, at), at.value, term.To
		if n++; n == neighbours.SpreadColumns || i == len(t.columns)-1 {
			neighbours.SpreadRecords(t.ix.level, from[:n], value[:n], t.place, first, last, to[:n])
			n = 0
		}
	}
}

// gather sets value i of records[j] to row rows[j] of column i, or to none if that column is nil.
func gather(records []neighbours.Record, columns *[neighbours.RecordLen][]float32, values int, none float32, rows []uint32) {
	for i, column := range columns[:values] {
		if column == nil {
			for j := range records {
				records[j][i] = none
			}
			continue
		}
		for j := range records {
			records[j][i] = column[rows[j]]
		}
	}
}
