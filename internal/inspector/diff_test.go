package inspector

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
)

// bruteForce lists the differences of two pits another way: by the API that programs use, entity by entity and value by
// value, as lines of text without an order.
func bruteForce(a, b *evertick.Sim) []string {
	var lines []string
	add := func(column, place string, component int, x, y string) {
		if x != y {
			lines = append(lines, fmt.Sprintf("%s|%s|%d|%s|%s", column, place, component, x, y))
		}
	}
	add("ticks", "", 0, fmt.Sprint(a.Ticks()), fmt.Sprint(b.Ticks()))
	add("seed", "", 0, fmt.Sprint(a.Seed()), fmt.Sprint(b.Seed()))
	add("mode", "", 0, fmt.Sprint(a.Mode()), fmt.Sprint(b.Mode()))
	for slot := range ecs.Slot(a.World.Cap()) {
		x, inA := a.World.ID(slot)
		y, inB := b.World.ID(slot)
		if x != y {
			name := func(id ecs.ID, in bool) string {
				if !in {
					return "none"
				}
				return id.String()
			}
			add("id", fmt.Sprintf("%v/%d", max(x, y), slot), 0, name(x, inA), name(y, inB))
			continue
		}
		if !inA {
			continue
		}
		place := fmt.Sprintf("%v/%d", x, slot)
		for _, tag := range []string{"hot"} {
			s, _ := a.World.Tag(tag)
			t, _ := b.World.Tag(tag)
			add("tag:"+tag, place, 0, fmt.Sprint(s.Has(x)), fmt.Sprint(t.Has(x)))
		}
		s, _ := a.World.Blobs("note")
		t, _ := b.World.Blobs("note")
		p, inA := s.Get(x)
		q, inB := t.Get(x)
		if inA != inB || !bytes.Equal(p, q) {
			add("blob.note", place, 0, blobText(p, inA), blobText(q, inB))
		}
		for _, c := range a.World.Columns() {
			d, _ := b.World.ColumnNamed(c.Name())
			for i := range c.Components() {
				add(c.Name(), place, i, valueText(c.Value(slot, i)), valueText(d.Value(slot, i)))
			}
		}
	}
	for row := range max(a.Physics.Rows(), b.Physics.Rows()) {
		alive := func(s *evertick.Sim) bool { return row < s.Physics.Rows() && s.Physics.Columns().Alive[row] == 1 }
		if alive(a) != alive(b) {
			add("body", rowPlace(a, b, row), 0, bodyText(alive(a)), bodyText(alive(b)))
			continue
		}
		if row >= min(a.Physics.Rows(), b.Physics.Rows()) {
			continue
		}
		for i, c := range a.Physics.BodyColumns() {
			d := b.Physics.BodyColumns()[i]
			add("body."+c.Name(), rowPlace(a, b, row), 0, valueText(c.Value(uint32(row), 0)), valueText(d.Value(uint32(row), 0)))
		}
	}
	identity := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "id|") || strings.HasPrefix(l, "tag:") })
	hashes := [2]map[string]string{{}, {}}
	for i, s := range []*evertick.Sim{a, b} {
		for _, h := range s.AppendColumnHashes(nil) {
			hashes[i][h.Name] = fmt.Sprintf("hash %016x", h.Hash)
		}
		for _, c := range s.World.Columns() {
			delete(hashes[i], c.Name())
		}
		for _, c := range s.Physics.BodyColumns() {
			delete(hashes[i], "body."+c.Name())
		}
		for _, name := range []string{"seed", "ticks", "mode", "blob.note"} {
			delete(hashes[i], name)
		}
		if identity {
			delete(hashes[i], "identity")
		}
	}
	for name, x := range hashes[0] {
		add(name, "", 0, x, cmp.Or(hashes[1][name], "none"))
	}
	for name, y := range hashes[1] {
		if hashes[0][name] == "" {
			add(name, "", 0, "none", y)
		}
	}
	return lines
}

func rowPlace(a, b *evertick.Sim, row int) string {
	for _, s := range []*evertick.Sim{a, b} {
		if row < s.Physics.Rows() {
			if slot := s.Physics.Columns().Slot[row]; slot != math.MaxUint32 {
				id, _ := s.World.ID(slot)
				return fmt.Sprintf("%v/%d/%d", id, slot, row)
			}
		}
	}
	return fmt.Sprintf("//%d", row)
}

// valueText returns the shortest text that reads as the value.
func valueText(v any) string {
	switch v := v.(type) {
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

func (d *difference) line() string {
	place := d.Entity
	if d.Slot != nil {
		place = fmt.Sprintf("%s/%d", d.Entity, *d.Slot)
	} else if d.Row != nil {
		place = "/"
	}
	if d.Row != nil {
		place += fmt.Sprintf("/%d", *d.Row)
	}
	return fmt.Sprintf("%s|%s|%d|%s|%s", d.Column, place, d.Component, d.A, d.B)
}

// compareAll checks differences against brute force.
func compareAll(t *testing.T, a, b *evertick.Sim) []string {
	t.Helper()
	list, total := differences(a, b, maxDifferences, func() {})
	var got []string
	for i := range list {
		got = append(got, list[i].line())
	}
	want := bruteForce(a, b)
	sorted := slices.Sorted(slices.Values(got))
	slices.Sort(want)
	if total != len(list) || !slices.Equal(sorted, want) {
		t.Fatalf("%d differences:\n%s\nwant:\n%s", total, strings.Join(sorted, "\n"), strings.Join(want, "\n"))
	}
	if short, n := differences(a, b, 2, func() {}); n != total || len(short) != min(2, total) {
		t.Errorf("limit 2: %d of %d", len(short), n)
	}
	if d, found := evertick.Diff(a, b); found && total == 0 {
		t.Errorf("%d differences, and evertick.Diff finds %v, %v", total, d, found)
	}
	return got
}

// pitAt returns a pit after so many ticks.
func pitAt(t *testing.T, ticks int) *pit {
	t.Helper()
	p, err := newPit(7)
	if err != nil {
		t.Fatal(err)
	}
	for range ticks {
		if err := p.sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// Differences that a test plants, each alone and all at once, are found, and nothing else.
func TestDifferencesPlanted(t *testing.T) {
	flip := func(v *float32) { *v = math.Float32frombits(math.Float32bits(*v) ^ 1) }
	plants := map[string]func(p *pit){
		"hp|":         func(p *pit) { flip(&p.hp.Values()[3]) },
		"position.z|": func(p *pit) { flip(&p.sim.World.Position.Z[5]) },
		"tag:hot|": func(p *pit) {
			if id := p.ids[4]; p.hot.Has(id) {
				p.hot.Unset(id)
			} else {
				p.hot.Set(id)
			}
		},
		"blob.note|":   func(p *pit) { _ = p.notes.Set(p.ids[6], []byte("another")) },
		"body.VX|":     func(p *pit) { flip(&p.sim.Physics.Columns().VX[2]) },
		"state.count|": func(p *pit) { p.count.n ^= 1 },
		"id|":          func(p *pit) { _, _ = p.sim.World.Spawn() },
		"body|": func(p *pit) {
			b, _ := p.sim.Body(p.ids[7])
			_ = p.sim.Physics.DestroyBody(b)
		},
	}
	if same := compareAll(t, pitAt(t, 40).sim, pitAt(t, 40).sim); len(same) != 0 {
		t.Errorf("equal Sims differ: %q", same)
	}
	all := pitAt(t, 40)
	for column, plant := range plants {
		p := pitAt(t, 40)
		plant(p)
		plant(all)
		got := compareAll(t, pitAt(t, 40).sim, p.sim)
		if len(got) == 0 || !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, column) }) {
			t.Errorf("%s: %q", column, got)
		}
	}
	compareAll(t, pitAt(t, 40).sim, all.sim)
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 0))
	for range 10 {
		x, y := rng.IntN(120), rng.IntN(120)
		t.Logf("ticks %d and %d", x, y)
		compareAll(t, pitAt(t, x).sim, pitAt(t, y).sim)
	}
}

// The order is that of evertick.Diff: the first difference is the one that it finds.
func TestDifferencesOrder(t *testing.T) {
	a, b := pitAt(t, 40), pitAt(t, 40)
	b.count.n++
	b.sim.Physics.Columns().X[6]++
	b.sim.Physics.Columns().X[2]++
	b.hp.Values()[4]++
	b.hp.Values()[1]++
	_ = b.notes.Set(b.ids[0], nil)
	b.sim.World.Position.X[3]++
	got := compareAll(t, a.sim, b.sim)
	var columns []string
	for _, line := range got {
		columns = append(columns, strings.Join(strings.Split(line, "|")[:2], "|"))
	}
	want := []string{"hp|ent_2/1", "hp|ent_5/4", "position.x|ent_4/3", "blob.note|ent_1/0", "body.X|ent_3/2/2", "body.X|ent_7/6/6", "state.count|"}
	if !slices.Equal(columns, want) {
		t.Errorf("%q, want %q", columns, want)
	}
	if d, _ := evertick.Diff(a.sim, b.sim); d.World.Name != "hp" || d.World.Slot != 1 {
		t.Errorf("evertick.Diff: %v", d)
	}
}

// diffOf asks until the comparison is done.
func diffOf(t *testing.T, in *Inspector, query string) (*diffAnswer, []float64) {
	t.Helper()
	var progress []float64
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		a := answerTo(t, in, query)
		if a.Status != 202 {
			v := decode[diffAnswer](t, a)
			return &v, progress
		}
		var p struct{ Progress *float64 }
		if err := json.Unmarshal(a.Body, &p); err != nil || p.Progress == nil || *p.Progress < 0 || *p.Progress > 1 {
			t.Fatalf("%s: %s", query, a.Body)
		}
		progress = append(progress, *p.Progress)
	}
	t.Fatalf("%s: not done", query)
	return nil, nil
}

// A page compares two ticks of a log, and gets what brute force finds; the log does not move.
func TestDiffOfOneLog(t *testing.T) {
	sc := pitScenario(nil)
	dir, _ := logOf(t, sc, 120, replay.Options{SnapshotTicks: 50})
	in := viewer(t, dir, sc)
	at(t, in, 33)
	for _, ticks := range [][2]uint64{{0, 120}, {80, 81}, {119, 3}, {60, 60}} {
		sims := [2]*evertick.Sim{}
		for i, tick := range ticks {
			if tick == 0 {
				sims[i], _ = sc.New(7)
				continue
			}
			var err error
			if sims[i], err = replay.Seek(dir, sc, tick-1, nil); err != nil {
				t.Fatal(err)
			}
		}
		want := compareAll(t, sims[0], sims[1])
		d, _ := diffOf(t, in, fmt.Sprintf("diff?a=%d&b=%d&limit=10000", ticks[0], ticks[1]))
		if d.Total != len(want) || d.Truncated || d.First != "" || d.A != ticks[0] || d.B != ticks[1] || len(d.Differences) != len(want) {
			t.Fatalf("%d and %d: %d differences, want %d", ticks[0], ticks[1], d.Total, len(want))
		}
		for i := range want {
			if got := d.Differences[i].line(); got != want[i] {
				t.Fatalf("difference %d: %s, want %s", i, got, want[i])
			}
		}
		if a := answerTo(t, in, fmt.Sprintf("diff?a=%d&b=%d&limit=10000", ticks[0], ticks[1])); a.Status != 200 {
			t.Errorf("not kept: %d", a.Status)
		}
		if d, _ := diffOf(t, in, fmt.Sprintf("diff?a=%d&b=%d&limit=3", ticks[0], ticks[1])); d.Total != len(want) || len(d.Differences) != min(3, len(want)) || d.Truncated != (len(want) > 3) {
			t.Errorf("limit 3: %+v", d)
		}
	}
	if l := timelineOf(t, in).Log; l.At != 33 {
		t.Errorf("the log has moved to %d", l.At)
	}
}

// Two logs with one different input: the page gets the first tick that differs, and all differences of a later one.
func TestDiffOfTwoLogs(t *testing.T) {
	sc := pitScenario(nil)
	dir, _ := logOf(t, sc, 100, replay.Options{})
	w := newWriter(t, sc, replay.Options{})
	usual := w.input
	w.input = func(tick uint64) (uint32, bool) {
		kind, ok := usual(tick)
		if tick == 60 {
			kind += 2
		}
		return kind, ok
	}
	w.write(100)
	w.close()
	in := newInspector(t, nil, Config{Log: dir, Other: w.dir, Scenario: sc})
	for _, tick := range []uint64{60, 61, 90} {
		d, _ := diffOf(t, in, fmt.Sprintf("diff?a=%d&b=%[1]d&with=other&limit=10000", tick))
		a, errA := replay.Seek(dir, sc, tick-1, nil)
		b, errB := replay.Seek(w.dir, sc, tick-1, nil)
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		want := compareAll(t, a, b)
		if d.Total != len(want) || (d.Total == 0) != (tick == 60) {
			t.Errorf("tick %d: %d differences, want %d", tick, d.Total, len(want))
		}
		if !strings.HasPrefix(d.First, "tick 60: hash") || !strings.Contains(d.First, "inputs differ from tick 60 on") || d.FirstTick == nil || *d.FirstTick != 61 {
			t.Errorf("first: %q, %v", d.First, d.FirstTick)
		}
	}
	same := newInspector(t, nil, Config{Log: dir, Other: dir, Scenario: sc})
	if d, _ := diffOf(t, same, "diff?a=40&b=40&with=other"); d.Total != 0 || d.First != "" || d.FirstTick != nil {
		t.Errorf("a log and itself: %+v", d)
	}
}

// A comparison that fails is an error, and does not stay; one that runs ends with Close; one that nobody asks
// for any more makes room.
func TestDiffFails(t *testing.T) {
	dir, _ := logOf(t, pitScenario(nil), 100, replay.Options{})
	in := viewer(t, dir, pitScenario(func(p *pit) {
		_ = p.sim.Add(evertick.AfterPhysics, "wrong", func(t *evertick.Tick) error {
			if t.N == 70 {
				panic("out of luck")
			}
			time.Sleep(time.Millisecond)
			return nil
		})
	}))
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		a := answerTo(t, in, "diff?a=1&b=90")
		if a.Status == 500 && strings.Contains(string(a.Body), "out of luck") {
			break
		}
		if a.Status != 202 || time.Now().After(deadline) {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	if a := answerTo(t, in, "diff?a=2&b=60"); a.Status != 202 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := answerTo(t, in, "diff?a=3&b=60"); a.Status != 202 {
		t.Errorf("while another runs: %d %s", a.Status, a.Body)
	}
	d := &in.log("log").diffs
	d.mu.Lock()
	if d.running == nil || d.running.a != 2 {
		t.Errorf("%+v runs", d.running)
	} else {
		d.running.asked = d.running.asked.Add(-2 * abandonAfter)
	}
	d.mu.Unlock()
	if got, _ := diffOf(t, in, "diff?a=3&b=60"); got.A != 3 {
		t.Errorf("%+v", got)
	}
	_ = answerTo(t, in, "diff?a=4&b=60")
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if a := answerTo(t, in, "diff?a=5&b=60"); a.Status != 503 {
		t.Errorf("after Close: %d %s", a.Status, a.Body)
	}
}
