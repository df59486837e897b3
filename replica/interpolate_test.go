package replica

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
)

const interval = int64(16_666_666)

// arrive gives the client the truth as a Keyframe, with the time of the server in ns.
func (b *bench) arrive(n *naiveEncoder, last, truth *naiveState, at int64) *naiveState {
	b.t.Helper()
	truth.at = uint64(at / 1000)
	message, after := n.encode(last, last, truth)
	b.must(b.Receive(message))
	return after
}

// What is drawn is between the two states around the moment, for entities that are in both and did not
// jump.
func TestPlaybackEqualsBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 31))
	drawn, entered, jumped, moved, nans := 0, 0, 0, 0, 0
	for _, schema := range []*Schema{&testSchemas[0].Schema, &testSchemas[1].Schema, &testSchemas[2].Schema} {
		n := &naiveEncoder{Rand: r, schema: schema, seen: map[string]int{}}
		world := newNaiveWorld(r, schema, 20)
		b := newBench(t, ClientConfig{Ordered: true})
		p := b.Playback()
		b.join(plainWelcome(*schema))
		if p.Advance() || p.State() != nil {
			t.Error("there is a state before the first frame")
		}
		states := map[uint64]*naiveState{}
		var last *naiveState
		at, shown := int64(9e9), int64(math.MinInt64)
		for range casesOf(120, 300) {
			at += interval + r.Int64N(2e6)
			b.clock.Set(at + 40e6 + r.Int64N(3e6) - 1.5e6)
			if r.IntN(6) == 0 {
				world.reorder()
			}
			last = b.arrive(n, last, world.advance(), at)
			states[last.tick] = last
			for range 2 {
				b.clock.Add(r.Int64N(6e6))
				if !p.Advance() {
					t.Fatal("no state")
				}
				if p.shown < shown {
					t.Fatalf("time goes back from %d to %d", shown, p.shown)
				}
				shown = p.shown
				before, after := b.around(shown)
				if p.State() != after || p.from != before {
					t.Fatalf("states of ticks %d and %d, want %d and %d", p.from.tick, p.to.tick, before.tick, after.tick)
				}
				alpha := 1.0
				if before != after && shown < int64(after.at)*1000 {
					alpha = max(0, float64(shown-int64(before.at)*1000)) / float64(int64(after.at-before.at)*1000)
				}
				for _, g := range schema.Groups {
					for _, f := range g.Fields {
						for c := range f.values() {
							got, err := p.Append(nil, f.Name, c)
							if plain := f.Codec == KindExact || f.Codec == KindTags || g.Owner; plain != errors.Is(err, fault.ErrUnsupported) {
								t.Fatalf("%s: %v", f.Name, err)
							} else if plain {
								continue
							}
							for k, id := range after.IDs() {
								want := b.between(f, before, after, id, k, c, alpha)
								drawn++
								if i, ok := before.place(id); !ok {
									entered++
								} else if slices.Contains(after.Jumped(), uint32(k)) {
									jumped++
								} else if before.slots[i] != after.slots[k] {
									moved++
								}
								if want != want {
									nans++
								}
								if far := originsApart(before, after); !near(float64(got[k]), want, f) && !(math.Abs(float64(got[k])-want) < 1e-6*far) {
									t.Fatalf("%s[%d] of place %d at alpha %g: %g, want %g", f.Name, c, k, alpha, got[k], want)
								}
							}
						}
					}
				}
			}
		}
	}
	if drawn < 10000 || entered < 50 || jumped < 50 || moved < 50 || nans < 50 {
		t.Errorf("%d values: %d of entities that entered, %d that jumped, %d in other slots, %d NaN", drawn, entered, jumped, moved, nans)
	}
}

// originsApart returns by how much the origins of two states differ at most.
func originsApart(a, b *State) (far float64) {
	p, q := a.Origin(), b.Origin()
	for k := range p {
		far = max(far, math.Abs(p[k]-q[k]))
	}
	return far
}

// near compares angles in the circle.
func near(a, b float64, f Field) bool {
	switch {
	case a != a || b != b:
		return a != a && b != b
	case f.Codec == KindAngle || f.Codec == KindPlanar:
		return math.Abs(math.Remainder(a-b, 2*math.Pi)) < 1e-5 && a >= -math.Pi-1e-6 && a <= math.Pi+1e-6
	}
	return math.Abs(a-b) <= 1e-5*max(1, math.Abs(a), math.Abs(b), float64(f.Step)*float64(int(1)<<f.Bits))
}

func (s *State) place(id ecs.ID) (int, bool) {
	i := slices.Index(s.ids, id)
	return i, i >= 0
}

// around returns the last state that ended before a moment and the one after it.
func (b *bench) around(at int64) (before, after *State) {
	for i, s := range b.states {
		if int64(s.at)*1000 >= at || i == len(b.states)-1 {
			return b.states[max(i-1, 0)], s
		}
	}
	return nil, nil
}

// between computes a value in float64.
func (b *bench) between(f Field, before, after *State, id ecs.ID, k, c int, alpha float64) float64 {
	value := func(s *State, place, c int) float64 {
		list, err := AppendValues([]float32(nil), s, f.Name, c)
		b.must(err)
		return float64(list[place])
	}
	y := value(after, k, c)
	i, ok := before.place(id)
	if !ok || slices.Contains(after.Jumped(), uint32(k)) {
		return y
	}
	x := value(before, i, c)
	if k := slices.Index([]string{"position.x", "position.y", "position.z"}, f.Name); k >= 0 && f.Codec == KindQuantised {
		x += before.Origin()[k] - after.Origin()[k]
	}
	switch {
	case x != x || y != y:
		return y
	case f.Codec == KindAngle || f.Codec == KindPlanar:
		by := math.Remainder(y-x, 2*math.Pi)
		if math.Abs(by) > math.Pi-1e-6 {
			by = -math.Pi
		}
		return x + by*alpha
	case f.Codec == KindQuat:
		var p, q [4]float64
		dot, sum := 0.0, 0.0
		for j := range p {
			p[j], q[j] = value(before, i, j), value(after, k, j)
			dot += p[j] * q[j]
		}
		for j := range p {
			p[j] += (math.Copysign(1, dot)*q[j] - p[j]) * alpha
			sum += p[j] * p[j]
		}
		if alpha == 1 { // the state itself
			return q[c]
		}
		return p[c] / math.Sqrt(sum)
	}
	return x + (y-x)*alpha
}

// The delay is two intervals while messages come in time, follows their lateness, and is bounded.
func TestPlaybackDelay(t *testing.T) {
	for _, c := range []struct {
		name   string
		late   func(i int, r *rand.Rand) int64
		lo, hi int64 // of the delay after the soonest message
	}{
		{"in time", func(int, *rand.Rand) int64 { return 0 }, 2 * interval, 2 * interval},
		{"one frame in 64", func(i int, _ *rand.Rand) int64 {
			if i%64 == 0 {
				return 80e6
			}
			return 0
		}, 2 * interval, 2 * interval},
		{"uniform up to 60 ms", func(_ int, r *rand.Rand) int64 { return r.Int64N(60e6) }, interval + 45e6, interval + 60e6},
	} {
		r := rand.New(rand.NewPCG(paritytest.Seed(), 37))
		schema := &testSchemas[2].Schema
		n := &naiveEncoder{Rand: r, schema: schema, seen: map[string]int{}}
		world := newNaiveWorld(r, schema, 5)
		b := newBench(t, ClientConfig{Ordered: true})
		b.join(plainWelcome(*schema))
		p := b.Playback()
		var last *naiveState
		at, before, shown := int64(9e9), int64(0), int64(0)
		const travel = 30e6
		for i := range 600 {
			at += interval
			b.clock.Set(max(b.clock.Now(), at+travel+c.late(i, r)))
			last = b.arrive(n, last, world.advance(), at)
			now := b.clock.Now()
			p.Advance()
			if by, time := p.shown-shown, now-before; shown != 0 && (by < 0 || by > time+time/8+1 || i > 100 && by < time-time/8) {
				t.Fatalf("%s: %d ns are shown in %d", c.name, by, time)
			}
			before, shown = now, p.shown
		}
		if delay := p.offset - travel; delay < c.lo-1e6 || delay > c.hi+1e6 {
			t.Errorf("%s: a delay of %d ns, want %d to %d", c.name, delay, c.lo, c.hi)
		}
	}
}

// The delay never exceeds what the kept states cover.
func TestPlaybackDelayIsBounded(t *testing.T) {
	b := newBench(t, ClientConfig{Ordered: true, States: 4})
	b.join(plainWelcome(Schema{}))
	p := b.Playback()
	for i := range int64(100) {
		p.arrived(uint64(1e6+i), 1e9+i*1000+i%2*5e9)
	}
	if got := p.target(); got != 3*interval {
		t.Errorf("%d ns, want %d", got, 3*interval)
	}
}

// Time never goes back on a connection, neither in what Advance computes nor in what is drawn, if messages are suddenly
// late or early by seconds, the clock stops or leaps, or nothing comes for a while.
func TestPlaybackNeverGoesBack(t *testing.T) {
	schema := &testSchemas[0].Schema
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 77))
		n := &naiveEncoder{Rand: r, schema: schema, seen: map[string]int{}}
		world := newNaiveWorld(r, schema, 5)
		b := newBench(t, ClientConfig{Ordered: true})
		p := b.Playback()
		b.join(plainWelcome(*schema))
		var last *naiveState
		at, lag, drawn, now := int64(9e9), int64(0), int64(0), int64(9e9)
		for range 400 {
			at += interval
			switch r.IntN(60) {
			case 0:
				lag = r.Int64N(5e9)
			case 1:
				lag = 0
			case 2:
				now += 3e9
			case 3:
				at += 2e9
			}
			now = max(now+r.Int64N(2e6), at+lag)
			b.clock.Set(now)
			last = b.arrive(n, last, world.advance(), at)
			for range r.IntN(3) {
				now += r.Int64N(8e6)
				b.clock.Set(now)
				if !p.Advance() {
					t.Fatal("no state")
				}
				a, z := int64(p.from.at)*1000, int64(p.to.at)*1000
				at := a + int64(float64(p.alpha)*float64(z-a))
				if at < drawn-1000 {
					t.Fatalf("seed %d: what is drawn goes back by %d ns from %d", seed, drawn-at, drawn)
				}
				drawn = at
			}
		}
	}
}

// Half a turn takes the way down, a NaN is not spread, and a rotation takes the short way.
func TestPlaybackSpecialValues(t *testing.T) {
	schema := Schema{Groups: []Group{{Fields: []Field{quantised("x", 8, 1), {"a", KindAngle, columns.Float32, 1, 8, 0}, {Rotation, KindQuat, columns.Float32, 4, 11, 0}}}}}
	b := newBench(t, ClientConfig{Ordered: true})
	b.join(plainWelcome(schema))
	n := &naiveEncoder{Rand: rand.New(rand.NewPCG(1, 1)), schema: &schema, seen: map[string]int{}}
	// The second rotation is the negative of the first in three components, which the index of the
	// fourth turns into a rotation by the opposite angle.
	one := &naiveState{tick: 1, list: []naiveEntity{{slot: 1, id: 1, lanes: []int32{-128, 10, -1, 500, 0, 0}}, {slot: 2, id: 2, lanes: []int32{100, -127, 0, 0, 0, 0}}}}
	two := &naiveState{tick: 2, list: []naiveEntity{{slot: 1, id: 1, lanes: []int32{4, 10 - 128, -1, -500, 0, 0}}, {slot: 2, id: 2, lanes: []int32{-128, 127, 0, 0, 0, 0}}}}
	last := b.arrive(n, nil, one, 1e9)
	b.arrive(n, last, two, 2e9)
	p := b.Playback()
	p.find(1.5e9)
	expect := func(name string, component int, want ...float32) {
		t.Helper()
		got, err := p.Append(nil, name, component)
		b.must(err)
		for i, w := range want {
			if math.Abs(float64(got[i]-w)) > 1e-5 && (w == w || got[i] == got[i]) {
				t.Errorf("%s[%d] of %d: %g, want %g", name, component, i, got[i], w)
			}
		}
	}
	turn := float32(2 * math.Pi / 256)
	expect("x", 0, 4, float32(math.NaN()))
	expect("a", 0, (10-64)*turn, -math.Pi)
	expect(Rotation, 0, 0, 1) // index 3, w, is left out of the first; index 0, x, of the second
	expect(Rotation, 3, 1, 0)
	if _, err := p.Append(nil, "b", 0); !errors.Is(err, fault.ErrRange) {
		t.Error(err)
	}
	if _, err := p.Append(nil, "x", 1); !errors.Is(err, fault.ErrRange) {
		t.Error(err)
	}
}

func TestAppendValuesRefuses(t *testing.T) {
	s := newLayout(testSchemas[1].Schema).newState()
	for name, err := range map[string]error{
		"unknown":   errorOf(AppendValues([]float32(nil), s, "unknown", 0)),
		"component": errorOf(AppendValues([]int8(nil), s, "i8", 3)),
		"negative":  errorOf(AppendValues([]int8(nil), s, "i8", -1)),
	} {
		if !errors.Is(err, fault.ErrRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := AppendValues([]int16(nil), s, "i8", 0); !errors.Is(err, fault.ErrUnsupported) {
		t.Error(err)
	}
	if s.Has(0, "unknown") {
		t.Error("an entity has an unknown tag")
	}
}

func errorOf[T any](_ T, err error) error { return err }

// Values are those that the page gives, for each codec.
func TestValues(t *testing.T) {
	schema := testSchemas[1].Schema
	lay := newLayout(schema)
	s := lay.newState()
	s.resize(1)
	s.resizeOwn(1)
	set := func(name string, lanes ...int32) {
		f, ok := lay.find(name)
		if !ok || len(lanes) != f.laneCount() {
			t.Fatal(name)
		}
		for i, v := range lanes {
			if f.owner {
				s.owned[f.lane+i][0] = v
			} else {
				s.lanes[f.lane+i][0] = v
			}
		}
	}
	check := func(name string, component int, want any, got any, err error) {
		t.Helper()
		if got != want || err != nil {
			t.Errorf("%s[%d] = %v, want %v, %v", name, component, got, want, err)
		}
	}
	set("y", -32767)
	check("y", 0, float32(-98301), one[float32](s, "y", 0), nil)
	set("x", -2)
	if v := one[float32](s, "x", 0); v == v {
		t.Errorf("the least code is %g", v)
	}
	set("angle", -2)
	check("angle", 0, float32(-math.Pi), one[float32](s, "angle", 0), nil)
	set(Rotation, 512)
	check(Rotation, 0, float32(math.Pi/2), one[float32](s, Rotation, 0), nil)
	set("i8", -128, 127, 0)
	check("i8", 0, int8(-128), one[int8](s, "i8", 0), nil)
	set("u8", -1)
	check("u8", 0, uint8(255), one[uint8](s, "u8", 0), nil)
	set("u16", 0, -2)
	check("u16", 1, uint16(65534), one[uint16](s, "u16", 1), nil)
	set("u32", -1)
	check("u32", 0, uint32(math.MaxUint32), one[uint32](s, "u32", 0), nil)
	set("i64", -1, -2)
	check("i64", 0, int64(-1<<32-1), one[int64](s, "i64", 0), nil)
	set("u64", 0, -1<<31)
	check("u64", 0, uint64(1<<63), one[uint64](s, "u64", 0), nil)
	set("f32", int32(math.Float32bits(1.5)))
	check("f32", 0, float32(1.5), one[float32](s, "f32", 0), nil)
	bits := math.Float64bits(-1e300)
	set("f64", 0, 0, int32(uint32(bits)), int32(bits>>32))
	check("f64", 1, -1e300, one[float64](s, "f64", 1), nil)
	set("", 5)
	check("", 0, uint32(5), one[uint32](s, "", 0), nil)
	if !s.Has(0, "alive") || s.Has(0, "frozen") || !s.Has(0, "été") {
		t.Error("tags")
	}
	set("ammo", -1)
	check("ammo", 0, uint16(65535), one[uint16](s, "ammo", 0), nil)

	q := Field{Rotation, KindQuat, columns.Float32, 4, 10, 0}
	for out := range int32(4) {
		lanes := [][]int32{{sx(2, out)}, {100}, {-200}, {300}}
		sum := 0.0
		for c, v := range q.quat(lanes, 0) {
			if sum += float64(v) * float64(v); c == int(out) && v < 0 {
				t.Errorf("component %d, left out, is %g", c, v)
			}
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Errorf("a rotation of length %g", math.Sqrt(sum))
		}
	}
}

func one[T ecs.Number](s *State, name string, component int) T {
	list, err := AppendValues([]T(nil), s, name, component)
	if err != nil || len(list) != 1 {
		return 0
	}
	return list[0]
}
