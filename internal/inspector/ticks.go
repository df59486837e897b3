package inspector

import "context"

// recordedTicks is how many ticks steps and hashes show.
const recordedTicks = 4096

// ticks is a ring of the last ticks, in ascending order.
type ticks struct {
	rows [recordedTicks]tickRow // row i is at i%recordedTicks
	next int                    // rows written in all, less those taken back
	len  int
}

type tickRow struct {
	tick, hash uint64
	stepNs     int64
}

// add records a tick. A Sim that has gone back repeats ticks: it replaces what it had of them.
func (t *ticks) add(tick, hash uint64, stepNs int64) {
	t.undo(tick)
	t.rows[t.next%recordedTicks] = tickRow{tick: tick, hash: hash, stepNs: stepNs}
	t.next++
	t.len = min(t.len+1, recordedTicks)
}

// undo removes the ticks from one on.
func (t *ticks) undo(from uint64) {
	for t.len > 0 && t.at(t.len-1).tick >= from {
		t.next--
		t.len--
	}
}

// at returns row i of those that the ring holds, in ascending order of ticks.
func (t *ticks) at(i int) *tickRow {
	return &t.rows[(t.next-t.len+i)%recordedTicks]
}

// after returns the rows of the ticks after one.
func (t *ticks) after(tick uint64) (rows []tickRow) {
	for i := range t.len {
		if r := t.at(i); r.tick > tick {
			rows = append(rows, *r)
		}
	}
	return rows
}

// rowsAfter returns what was recorded of the ticks after the one that a request names.
func rowsAfter(r *Request, s subject) ([]tickRow, error) {
	after, err := wholeNumber(r.Query, "after", 0)
	if err != nil {
		return nil, err
	}
	d := s.records()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ticks.after(after), nil
}

// hashes answers GET hashes.
func (in *Inspector) hashes(_ context.Context, r *Request, s subject) Answer {
	rows, err := rowsAfter(r, s)
	if err != nil {
		return errorAnswer(err)
	}
	a := struct {
		Ticks []uint64 `json:"ticks"`
		Own   []string `json:"own"`
	}{[]uint64{}, []string{}}
	for _, row := range rows {
		a.Ticks, a.Own = append(a.Ticks, row.tick), append(a.Own, HashText(row.hash))
	}
	return JSON(&a)
}

// steps answers GET steps.
func (in *Inspector) steps(_ context.Context, r *Request, s subject) Answer {
	rows, err := rowsAfter(r, s)
	if err != nil {
		return errorAnswer(err)
	}
	var st status
	s.report(&st)
	a := struct {
		BudgetNs int64    `json:"budget_ns"`
		Ticks    []uint64 `json:"ticks"`
		Ns       []int64  `json:"ns"`
	}{st.BudgetNs, []uint64{}, []int64{}}
	for _, row := range rows {
		a.Ticks, a.Ns = append(a.Ticks, row.tick), append(a.Ns, row.stepNs)
	}
	return JSON(&a)
}
