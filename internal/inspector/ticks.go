package inspector

// recordedTicks is how many ticks steps and hashes show.
const recordedTicks = 4096

// ticks is a ring of the last ticks, in ascending order.
type ticks struct {
	rows []tickRow // the tick of row i%recordedTicks
	next int       // rows written in all, less those taken back
	len  int
}

type tickRow struct {
	tick, hash uint64
	stepNs     int64
	server     uint64 // hash that a server has named for this tick
	hasServer  bool
}

// add records a tick. A Sim that has gone back repeats ticks: it replaces what it had of them.
func (t *ticks) add(tick, hash uint64, stepNs int64) {
	if t.rows == nil {
		t.rows = make([]tickRow, recordedTicks)
	}
	for t.len > 0 && t.at(t.len-1).tick >= tick {
		t.next--
		t.len--
	}
	t.rows[t.next%recordedTicks] = tickRow{tick: tick, hash: hash, stepNs: stepNs}
	t.next++
	t.len = min(t.len+1, recordedTicks)
}

// at returns row i of those that the ring holds, in ascending order of ticks.
func (t *ticks) at(i int) *tickRow {
	return &t.rows[(t.next-t.len+i)%recordedTicks]
}
