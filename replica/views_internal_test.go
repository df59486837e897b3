package replica

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/netcode"
)

// still is a rig whose entities stay where the test puts them.
func still(t testing.TB, c Config, at ...float32) *rig {
	g := newRig(t, 1, c)
	for _, x := range at {
		id, _, err := g.w.SpawnSlot()
		if err != nil {
			t.Fatal(err)
		}
		g.ids = append(g.ids, id)
		g.move(len(g.ids)-1, x)
	}
	return g
}

func (g *rig) move(i int, x float32) {
	slot, _ := g.w.Slot(g.ids[i])
	g.w.Position.X[slot] = x
	g.w.Position.Touch()
}

// next captures and sends, and returns the slots that the first client has.
func (g *rig) next() (slots []uint32) {
	g.observe()
	g.capture()
	g.send()
	for _, e := range g.seats[0].c.state().list {
		slots = append(slots, e.slot)
	}
	return slots
}

func (g *rig) wantList(what string, want ...uint32) {
	g.t.Helper()
	if got := g.next(); !slices.Equal(got, want) {
		g.t.Errorf("%s: the client has %v, want %v", what, got, want)
	}
}

// TestHysteresis: an entity enters at Enter and leaves beyond Leave; the next one in its slot is another one.
func TestHysteresis(t *testing.T) {
	g := still(t, Config{View: ViewConfig{Enter: 10, Leave: 15}}, 10, 10.5, 16)
	seat := g.join(1, true)
	seat.v.centre = centre{point: true}
	g.wantList("at first", 0)
	g.move(0, 15)
	g.move(1, 12)
	g.move(2, 10)
	g.wantList("between", 0, 2)
	g.move(0, 15.1)
	g.move(2, -14)
	g.wantList("beyond", 2)
	g.move(0, 12)
	g.wantList("back between", 2)
	slot, _ := g.w.Slot(g.ids[2])
	g.w.Despawn(g.ids[2])
	g.ids[2], _, _ = g.w.SpawnSlot()
	g.move(2, -14)
	if again, _ := g.w.Slot(g.ids[2]); again != slot {
		t.Fatal("another slot")
	}
	g.wantList("another entity in the slot")
	if f := seat.c.last; f.leaves != 1 || f.dead != 1 {
		t.Errorf("%d leaves, %d dead", f.leaves, f.dead)
	}
	g.move(2, 0)
	g.wantList("near", 2)
	g.w.Position.X[slot] = float32(math.Inf(1))
	g.w.Position.Touch()
	g.wantList("nowhere")
}

// TestViewsOfOwners: owned entities and global ones are in the view wherever they are; the centre is the first owned
// entity, what the client follows, or where that was.
func TestViewsOfOwners(t *testing.T) {
	c := Config{Columns: everything().Columns, Owner: "owner", View: ViewConfig{Enter: 10, Global: "global"}}
	g := still(t, c, 0, 5, 100, 105, 200, float32(math.NaN()))
	seat := g.join(3, true)
	own := func(i int, session uint16) {
		slot, _ := g.w.Slot(g.ids[i])
		g.owner.Values()[slot] = session
		g.owner.Touch()
	}
	g.wantList("no centre")
	own(0, 3)
	own(4, 3)
	g.wantList("around the first", 0, 1, 4)
	if f := seat.c.last; f.flags&flagOwn == 0 || !slices.Equal(seat.c.state().own, []uint32{0, 4}) {
		t.Errorf("flags %#x, owns %v", f.flags, seat.c.state().own)
	}
	g.secret.Values()[4] = -3
	g.secret.Touch()
	g.global.Set(g.ids[5])
	g.wantList("with a global one at NaN", 0, 1, 4, 5)
	if f := seat.c.last; f.flags&flagOwn != 0 {
		t.Error("Own, though nothing has changed")
	}
	seat.v.centre = centre{follow: g.ids[2]}
	g.wantList("following", 0, 2, 3, 4, 5)
	g.w.Despawn(g.ids[2])
	g.wantList("where it died", 0, 3, 4, 5)
	own(0, 0)
	g.wantList("no owner any more", 3, 4, 5)
	if !slices.Equal(seat.c.state().own, []uint32{4}) {
		t.Errorf("owns %v", seat.c.state().own)
	}
	g.w.Despawn(g.ids[4])
	_, slot, _ := g.w.SpawnSlot() // 2
	_, again, _ := g.w.SpawnSlot()
	g.owner.Values()[again] = 3
	g.owner.Touch()
	if slot != 2 || again != 4 {
		t.Fatal("other slots")
	}
	g.wantList("another owned one in the slot", 3, 4, 5)
	if seat.c.last.flags&flagOwn == 0 {
		t.Error("the owner lanes of the old entity")
	}
	seat.v.centre = centre{point: true, x: 5}
	g.wantList("a point", 0, 1, 2, 4, 5)
	seat.v.centre = centre{point: true, x: float32(math.NaN())}
	g.wantList("not a point", 0, 1, 2, 4, 5)
	seat.v.centre = centre{follow: 1000}
	g.wantList("not born yet", 0, 1, 2, 4, 5)
}

// TestMask: a client sees entities in its categories, and with mask 0 none.
func TestMask(t *testing.T) {
	for _, enter := range []float32{0, 10} {
		g := still(t, Config{View: ViewConfig{Category: "teams", Enter: enter}}, 0, 1, 2, 3)
		copy(g.teams.Values(), []uint32{1, 2, 3, 0})
		g.teams.Touch()
		seat := g.join(1, true)
		seat.v.centre = centre{point: true}
		g.wantList("none")
		for mask, want := range [][]uint32{{}, {0, 2}, {1, 2}, {0, 1, 2}, {}, {0, 2}} {
			seat.v.mask = uint32(mask)
			g.wantList("masked", want...)
		}
		seat.v.mask = 0xffffffff
		g.wantList("all that are in a category", 0, 1, 2)
		seat.v.mask = 0
		g.wantList("none again")
		g.teams.Values()[0] = 2
		g.teams.Touch()
		seat.v.mask = 1
		g.wantList("a category has changed", 2)
	}
}

// TestSharedBody: clients that see all entities share their bodies, and keep no lists of their own.
func TestSharedBody(t *testing.T) {
	g := newRig(t, 1, Config{})
	g.glide = true
	g.spawn(200)
	for range 3 {
		g.join(0, true)
	}
	for range 80 {
		if g.r.IntN(4) == 0 {
			g.spawn(1)
			g.w.Despawn(g.ids[0])
			g.ids = g.ids[1:]
		}
		g.step(true)
		g.send()
		made := 0
		for _, d := range g.s.deltas.list[:g.s.deltas.used] {
			for i := range d.bodies {
				if d.bodies[i].made {
					made++
				}
			}
		}
		if made != 1 {
			t.Fatalf("%d bodies for three equal clients", made)
		}
		if !slices.Equal(g.seats[0].last, g.seats[2].last) { // messages of the other seat have no inputs
			t.Fatal("different frames")
		}
		if v := g.seats[0].v; len(v.base.list) > 0 {
			t.Fatal("a list of all entities in each client")
		}
	}
	if g.seats[0].guessed < 40 {
		t.Errorf("%d predicted frames", g.seats[0].guessed)
	}
}

// TestWidths: widths hold what they must, their sum is at most 32, and a rare large difference goes to the wide part
// instead of making all records longer.
func TestWidths(t *testing.T) {
	var w scratch
	choose := func(bits []uint8, rows ...[]int32) netcode.DeltaLanes {
		shape := netcode.DeltaLanes{Lanes: len(bits)}
		copy(shape.Bits[:], bits)
		w.samples = w.samples[:0]
		for _, row := range rows {
			w.addSample(row)
		}
		w.chooseWidths(&shape)
		return shape
	}
	if got := choose([]uint8{25, 25, 10}, []int32{1, -2, 0}, []int32{0, 3, 0}).Width; got != [8]uint8{2, 3} {
		t.Errorf("widths %v", got)
	}
	var rows [][]int32
	for i := range int32(100) {
		rows = append(rows, []int32{i%7 - 3, 0})
	}
	rows = append(rows, []int32{1 << 20, 0})
	if got := choose([]uint8{25, 25}, rows...).Width; got != [8]uint8{3} {
		t.Errorf("widths %v with a rare large difference", got)
	}
	full := []int32{math.MinInt32, math.MaxInt32, -1}
	if got := choose([]uint8{32, 32, 32}, full, full).Width; got[0]+got[1]+got[2] > 32 {
		t.Errorf("widths %v", got)
	}
	if got := choose([]uint8{32}, []int32{math.MinInt32}).Width; got != [8]uint8{32} {
		t.Errorf("widths %v", got)
	}
	for v, want := range map[int32]uint8{0: 0, -1: 1, 1: 2, -2: 2, 2: 3, 127: 8, -128: 8, 128: 9, math.MinInt32: 32, math.MaxInt32: 32} { // order-free: independent
		if got := bitsOf(v); got != want {
			t.Errorf("%d needs %d bits, want %d", v, got, want)
		}
	}
}

// TestWithoutOrder: without acknowledgements a client gets a Keyframe every eighth capture; then changes of the
// newest state that it acknowledged, until it must have forgotten that.
func TestWithoutOrder(t *testing.T) {
	g := still(t, Config{Ring: 100}, 0, 1)
	v := newViewer(1, false)
	sent := func() byte {
		g.next()
		if g.s.begin([]*viewer{v}) != nil {
			t.Fatal("begin")
		}
		defer g.s.end()
		message := g.s.append(nil, v, appliedInput{})
		if again := len(g.s.append(nil, v, appliedInput{})); again != len(message) {
			t.Errorf("%d bytes, %d before the frame was refused", again, len(message))
		}
		v.sent()
		if len(message) == 0 {
			return 0
		}
		return message[0]
	}
	g.join(2, true)
	for i := range 17 {
		if kind := sent(); (kind == kindKeyframe) != (i%keyframePause == 0) || kind == kindUpdate {
			t.Errorf("capture %d: kind %d", i, kind)
		}
	}
	if !v.acked(9) || v.acked(10) || v.acked(1) {
		t.Error("acknowledged 9, not 10, which was not sent, nor 1, which is older")
	}
	for i := range mostFlight + 1 {
		want := byte(kindUpdate)
		if i == mostFlight-1 { // the message of tick 17 is in flight, too
			want = kindKeyframe
		}
		if i == mostFlight {
			want = 0
		}
		if kind := sent(); kind != want {
			t.Fatalf("frame %d after an acknowledgement: kind %d, want %d", i, kind, want)
		}
	}
}

// TestResumeView: a session goes on from a message that the viewer knows, ordered or not.
func TestResumeView(t *testing.T) {
	g := still(t, Config{View: ViewConfig{Enter: 10}}, 0, 1, 2)
	seat := g.join(1, true)
	seat.v.centre = centre{point: true}
	for i := range 20 {
		g.move(i%3, float32(i))
		g.next()
	}
	if seat.v.resume(20-orderedFlight, true) {
		t.Error("resumed from a frame that is not kept")
	}
	seat.c.keep = 9
	for i := range 10 {
		g.move(i%3, float32(i))
		g.next()
	}
	held := seat.c.states[3]
	seat.c.states, seat.before = append(seat.c.states[:0], held), held.list
	if !seat.v.resume(held.tick, true) {
		t.Fatal("not resumed")
	}
	g.next()
	if f := seat.c.last; f.kind != kindUpdate || f.age != 31-held.tick || f.flags&flagPredicted != 0 {
		t.Errorf("kind %d, age %d, flags %#x", f.kind, f.age, f.flags)
	}
	if n := seat.v.bytes(); n < 8*128 || n > 8*1024 {
		t.Errorf("%d bytes", n)
	}
}

// TestStarvation: with n visible entities of equal weight and distance that all change, of which at least b are sent in
// a message, none waits longer than ⌈n/b⌉ + keepFor messages; and no message is larger than the budget.
func TestStarvation(t *testing.T) {
	for _, enter := range []float32{0, 10} {
		c := Config{Columns: everything().Columns[:5], Budget: 400, Ring: 200, View: ViewConfig{Enter: enter}}
		const n = 200
		g := still(t, c, make([]float32, n)...)
		seat := g.join(1, true)
		seat.v.centre = centre{point: true}
		least, waited, longest := n, make([]int, n), 0
		for message := range 150 {
			for slot := range n {
				g.hp.Values()[slot] += int32(1 + g.r.IntN(9))
				g.big.Values()[slot] = g.r.Uint64() >> 50
			}
			g.hp.Touch()
			g.big.Touch()
			g.next()
			if len(seat.last) > c.Budget {
				t.Fatalf("frame %d has %d bytes", message, len(seat.last))
			}
			if len(seat.c.state().list) < n {
				continue // still coming into view
			}
			f := seat.c.last
			if f.flags&flagPartial == 0 {
				t.Fatalf("frame %d is not partial", message)
			}
			sent := slices.Concat(f.included, f.entered)
			least = min(least, len(sent))
			for slot := range waited {
				waited[slot]++
				if slices.Contains(sent, uint32(slot)) {
					waited[slot] = 0
				}
				longest = max(longest, waited[slot])
			}
		}
		bound := (n+least-1)/least + keepFor
		if least < 5 || least > n/2 || longest > bound || longest < n/least/3 {
			t.Errorf("at least %d are sent, the longest wait is %d frames, want at most %d", least, longest, bound)
		}
	}
}

// TestEntersAreNotStarved: all entities come into view at last, and their changes arrive, where one takes more than
// the budget, and where those that the session owns do.
func TestEntersAreNotStarved(t *testing.T) {
	sim, err := evertick.New(evertick.Config{Capacity: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var wide []Column
	for i := range 20 {
		name := fmt.Sprintf("wide%d", i)
		if _, err := ecs.AddArrayColumn[[4]uint64](sim.World, name); err != nil {
			t.Fatal(err)
		}
		wide = append(wide, Column{Name: name})
	}
	wide = append(wide, Column{Name: "big"})
	large := newRigOn(t, 1, Config{Columns: wide, Budget: leastBudget}, sim)
	owning := newRig(t, 1, Config{Columns: []Column{{Name: "big"}, {Name: "hp"}}, Owner: "owner", Budget: leastBudget})
	for name, g := range map[string]*rig{"large": large, "owning": owning} {
		g.spawn(60)
		for slot := range 60 {
			g.owner.Values()[slot] = 0
			if name == "owning" && slot < 40 {
				g.owner.Values()[slot] = 1
			}
		}
		seat := g.join(1, true)
		values, messages := make(map[uint32]int), 0
		for ; messages < 400 && len(values) < 60; messages++ {
			for slot := range 60 {
				g.big.Values()[slot] = g.r.Uint64()
			}
			g.big.Touch()
			if n := len(g.next()); n < min(60, messages) {
				t.Fatalf("%s: %d entities after %d frames", name, n, messages)
			}
			if messages < 60 {
				continue // still coming into view
			}
			for _, slot := range slices.Concat(seat.c.last.included, seat.c.last.entered) {
				values[slot]++
			}
		}
		if len(values) < 60 {
			t.Errorf("%s: %d entities got new values in %d frames", name, len(values), messages)
		}
	}
}

// TestPredictionWithinABudget: messages that leave entities out are predicted, too, and so is what comes after them.
func TestPredictionWithinABudget(t *testing.T) {
	g := newRig(t, 1, Config{Columns: []Column{{Name: "position", Codec: Quantised{}}}, Budget: leastBudget})
	g.spawn(40)
	seat := g.join(1, true)
	within, soon := 0, 0
	for tick := range 400 {
		burst := tick%20 == 10
		if burst && len(g.ids) < 80 {
			g.spawn(2)
		}
		for _, id := range g.ids {
			slot, _ := g.w.Slot(id)
			x, y := g.w.Position.X[slot]+1, g.w.Position.Y[slot]-1
			if burst {
				x, y = 600*g.r.Float32(), 600*g.r.Float32()
			}
			g.w.SetPosition(id, x, y, 0)
		}
		before, partial := seat.guessed, seat.partial
		g.next()
		guessed, left := seat.guessed > before, seat.partial > partial
		if burst && tick > 20 && !left {
			t.Fatalf("tick %d: a frame of %d bytes is not partial", tick, len(seat.last))
		}
		if guessed && left {
			within++
		}
		if guessed && tick%20 > 12 && tick%20 < 18 {
			soon++
		}
	}
	if within == 0 || soon < 40 {
		t.Errorf("%d partial frames are predicted, and %d soon after a burst", within, soon)
	}
}

// TestBudgetLowersBytes: a budget that is above what messages need on average makes them hardly longer, although the first messages were cut: those
// that leave entities out are predicted, and end soon.
func TestBudgetLowersBytes(t *testing.T) {
	measure := func(budget int) float64 {
		x := newScene(t, 1000, 10, 400, Config{Budget: budget})
		x.run(120)
		for range 30 {
			x.move()
			x.capture()
			x.send()
		}
		return float64(x.bytes) / 300
	}
	without := measure(0)
	for _, share := range []float64{1.2, 1.5, 3} {
		if with := measure(int(share * without)); with > 1.2*without {
			t.Errorf("%.0f bytes a frame with a budget of %.0f, %.0f without", with, share*without, without)
		}
	}
}

// TestNoPredictionAfterAResume: the velocities of a client that resumes are unknown, so the first message is not predicted.
func TestNoPredictionAfterAResume(t *testing.T) {
	g := newRig(t, 1, Config{Columns: []Column{{Name: "position", Codec: Quantised{}}}})
	g.spawn(40)
	seat := g.join(1, true)
	next := func() bool {
		for _, id := range g.ids {
			slot, _ := g.w.Slot(id)
			g.w.SetPosition(id, g.w.Position.X[slot]+1, g.w.Position.Y[slot]-1, 0)
		}
		before := seat.guessed
		g.next()
		return seat.guessed > before
	}
	for range 5 {
		next()
	}
	if !next() {
		t.Error("a frame of even motion is not predicted")
	}
	if !seat.v.resume(g.tick, true) {
		t.Fatal("the base is lost")
	}
	if next() {
		t.Error("the first frame after a resume is predicted")
	}
	next()
	if !next() {
		t.Error("no later frame is predicted")
	}
}

// TestOneFrameForACapture: a client that has been sent a capture is not sent it again.
func TestOneFrameForACapture(t *testing.T) {
	g := still(t, Config{}, 1)
	for _, ordered := range []bool{true, false} {
		g.join(1, ordered)
	}
	for range 3 {
		g.next()
		g.send()
		for _, seat := range g.seats {
			if len(seat.last) != 0 {
				t.Errorf("ordered %t: %d bytes", seat.v.ordered, len(seat.last))
			}
		}
	}
}

// TestPriority: of equal changes, heavier and nearer entities are sent more often; a weight of 0, NaN or less only where
// there is room.
func TestPriority(t *testing.T) {
	c := Config{Columns: []Column{{Name: "big"}}, Budget: 256, Ring: 1000, View: ViewConfig{Enter: 100, Weight: "weight"}}
	x := make([]float32, 60)
	for i := range x {
		x[i] = float32(i)
	}
	g := still(t, c, x...)
	for i := range x {
		g.weight.Values()[i] = 1
	}
	copy(g.weight.Values(), []float32{10, 0, float32(math.NaN()), -1, float32(math.Inf(1))})
	seat := g.join(1, true)
	seat.v.centre = centre{point: true}
	sent := make([]int, len(x))
	for range 300 {
		for slot := range x {
			g.big.Values()[slot] = g.r.Uint64()
		}
		g.big.Touch()
		g.next()
		for _, slot := range seat.c.last.included {
			sent[slot]++
		}
	}
	if !(sent[4] > 250 && sent[0] > 2*sent[6] && sent[6] > sent[59] && sent[59] > 5 && sent[1] == 0 && sent[2] == 0 && sent[3] == 0) {
		t.Errorf("sent %v", sent)
	}
}

// TestSendAllocates: nothing after warm-up, for clients of every kind.
func TestSendAllocates(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	tight := everything()
	tight.Budget = 500
	for _, c := range []Config{{}, everything(), tight} {
		g := newRig(t, 5, c)
		g.glide = true
		g.spawn(300)
		var viewers []*viewer
		for i := range 6 {
			v := newViewer(uint32(i), i < 4)
			v.centre = centre{point: true, x: float32(5 * i)}
			viewers = append(viewers, v)
		}
		var message []byte
		var ids [2]ecs.ID
		tick := uint64(0)
		step := func() {
			tick++
			g.drift()
			g.w.DespawnN(ids[:])
			g.w.SpawnN(ids[:])
			for i := range 40 {
				g.big.Values()[i]++
			}
			g.big.Touch()
			g.w.Jump(g.ids[tick%300])
			g.s.observe()
			g.s.capture(tick, tick)
			g.s.begin(viewers)
			for i, v := range viewers {
				if message = g.s.append(message[:0], v, appliedInput{seq: tick, present: true}); i == 3 && tick%3 == 0 {
					v.refused()
					continue
				}
				v.sent()
				v.acked(tick - 4)
			}
			g.s.end()
		}
		g.w.SpawnN(ids[:])
		for range 300 {
			step()
		}
		if n := testing.AllocsPerRun(100, step); n != 0 {
			t.Errorf("%v allocations in a send tick", n)
		}
	}
}

// TestCaptureBesideSend: a Sim that captures while another goroutine sends; each message that arrives is whole.
func TestCaptureBesideSend(t *testing.T) {
	g := newRig(t, 9, everything())
	g.spawn(100)
	v, c := newViewer(1, true), &strict{schema: g.schema, keep: 1}
	v.centre = centre{point: true}
	var messages atomic.Int64
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var message []byte
		for {
			select {
			case <-ended:
				return
			default:
				runtime.Gosched()
			}
			if err := g.s.begin([]*viewer{v}); err != nil {
				t.Error(err)
			}
			message = g.s.append(message[:0], v, appliedInput{})
			g.s.end()
			if v.sent(); len(message) > 0 {
				c.receive(message)
				messages.Add(1)
			}
		}
	}()
	captures, missed := 0, 0
	for tick := uint64(1); messages.Load() < checkEvery+5 || missed == 0; tick++ {
		g.change()
		g.s.observe()
		if g.s.capture(tick, tick) {
			captures++
		} else {
			missed++
		}
		runtime.Gosched()
	}
	close(ended)
	<-done
	t.Logf("%d captures, %d refused while frames were made, %d frames", captures, missed, messages.Load())
	if c.checks < 2 {
		t.Errorf("%d checksums", c.checks)
	}
}
