package valley

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

// newValley returns the world, and what New builds it with.
func newValley(t testing.TB, c evertick.Config) (*evertick.Sim, *valley) {
	t.Helper()
	v, err := build(c)
	if err != nil {
		t.Fatal(err)
	}
	return v.sim, v
}

// throwAt pushes an input: a ball that is thrown from the south at a point.
func throwAt(t testing.TB, sim *evertick.Sim, tick uint64, at [3]float32) {
	t.Helper()
	eye := [3]float32{10, 30, 60}
	r := Ray{Origin: eye, Direction: [3]float32{at[0] - eye[0], at[1] - eye[1], at[2] - eye[2]}}
	seq := sim.InputStats().Pushed
	if err := sim.Push(evertick.Input{Tick: tick, Seq: seq, Kind: Throw, Data: r.Append(nil)}); err != nil {
		t.Fatal(err)
	}
}

// golden lists hashes of a run in which balls are thrown at the tower, the bridge, the stairs and the sky.
func golden(t testing.TB, c evertick.Config, ticks int) string {
	sim, _ := newValley(t, c)
	for i, at := range [][3]float32{{towerX, 5, 0}, {27, bridgeHeight, 0}, {stairsX - 3, 2, 0}, {0, 200, 0}} {
		throwAt(t, sim, uint64(40+25*i), at)
	}
	var text bytes.Buffer
	for tick := 1; tick <= ticks; tick++ {
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		if tick%50 == 0 {
			fmt.Fprintf(&text, "%d %016x\n", tick, sim.Hash())
		}
	}
	return text.String()
}

// The hashes of testdata/golden.txt on every level; in full with one worker and two.
func TestGolden(t *testing.T) {
	const file = "golden.txt"
	if *update {
		if err := os.WriteFile(filepath.Join("testdata", file), []byte(golden(t, evertick.Config{Seed: 1, Level: native.Go}, 1000)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	ticks, most := 1000, 2
	if testing.Short() {
		ticks, most = 100, 1
	}
	for _, level := range native.Levels() {
		for workers := 1; workers <= most; workers++ {
			got := golden(t, evertick.Config{Seed: 1, Level: level, Workers: workers}, ticks)
			if got == "" || !bytes.HasPrefix(want, []byte(got)) {
				t.Errorf("level %v, %d workers:\n%swant\n%s", level, workers, got, want)
			}
		}
	}
}

// Cars go round, ragdolls come down the stairs, the tower falls and stands again, and walkers run.
func TestStaysAlive(t *testing.T) {
	sim, v := newValley(t, evertick.Config{Seed: 3})
	var around [cars]float64 // angle that a car has gone
	var last [cars]float64
	fell, rebuilt, afraid, down, far := false, false, 0, 0, float32(0)
	for tick := range 800 {
		for i, body := range v.chassis {
			at, err := v.world.Position(body)
			if err != nil {
				t.Fatal(err)
			}
			angle := math.Atan2(float64(at[2]), float64(at[0]))
			around[i] += math.Remainder(angle-last[i], 2*math.Pi)
			last[i] = angle
			if tick == 0 {
				around[i] = 0
			}
			far = max(far, abs(length(at[0], at[2])-road))
		}
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		rebuilt = rebuilt || fell && v.fallen == 0
		fell = fell || v.fallen != 0
		for i := range v.dolls { // one is on its way, the next one in turn is about to be dropped again
			if pelvis := v.dolls[i][0]; tick%dropEvery == dropEvery-1 && v.world.Valid(pelvis) && (tick/dropEvery+1)%dolls == i {
				if at, _ := v.world.Position(pelvis); at[1] < 2 && at[0] > stairsX-3 {
					down++
				}
			}
		}
		for _, f := range v.Fear.Values() {
			if f > 0.9 {
				afraid++
			}
		}
	}
	for i, a := range around {
		if a < 3 { // one may have been hit by a ball
			t.Errorf("car %d went %.1f rad along the road", i, a)
		}
	}
	text := fmt.Sprintf("fell %t, built again %t, %d ragdolls came down, %d frights, cars up to %.1f m from the road, %d balls", fell, rebuilt, down, afraid, far, v.Ball.Count())
	if !fell || !rebuilt || down < 4 || afraid < 1000 || far > 12 || v.Ball.Count() == 0 {
		t.Error(text)
	}
	t.Log(text)
	if v.isOutOfPlace() {
		t.Error("the tower does not stand again")
	}
}

func abs(x float32) float32 { return max(x, -x) }

// A Sim that restores a snapshot goes on with the same bits, and what is no state is refused.
func TestRestore(t *testing.T) {
	sim, _ := newValley(t, evertick.Config{Seed: 5})
	if err := sim.StepN(290); err != nil { // the tower falls
		t.Fatal(err)
	}
	data, err := sim.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, v := newValley(t, evertick.Config{Seed: 5})
	if err := other.Restore(data); err != nil {
		t.Fatal(err)
	}
	throwAt(t, sim, 0, [3]float32{27, 4, 0})
	throwAt(t, other, 0, [3]float32{27, 4, 0})
	for range 60 {
		if err := errors.Join(sim.Step(), other.Step()); err != nil {
			t.Fatal(err)
		}
		if sim.Hash() != other.Hash() {
			d, _ := evertick.Diff(sim, other)
			t.Fatalf("after tick %d: %v", sim.Ticks(), d)
		}
	}
	state := v.AppendState(nil)
	for _, bad := range [][]byte{nil, state[:stateBytes-1], state[:len(state)-1]} {
		if err := v.RestoreState(bad); !errors.Is(err, evertick.ErrCorrupt) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
	if !bytes.Equal(v.AppendState(nil), state) {
		t.Error("a refused state has changed something")
	}
}

// A ball flies into what its ray meets, the oldest one goes when there are too many, and what is no ray throws nothing.
func TestThrow(t *testing.T) {
	sim, v := newValley(t, evertick.Config{Seed: 1})
	for i, bad := range [][]byte{nil, make([]byte, rayBytes), make([]byte, rayBytes+1)} {
		if err := sim.Push(evertick.Input{Seq: uint64(i), Kind: Throw, Data: bad}); err != nil {
			t.Fatal(err)
		}
	}
	throwAt(t, sim, 3, [3]float32{27, bridgeHeight, 0})
	var nearest float32 = 99
	for range 60 {
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		for slot := range sim.World.Query(ecs.With(v.Ball)) {
			p := &sim.World.Position
			nearest = min(nearest, length(length(p.X[slot]-27, p.Y[slot]-bridgeHeight), p.Z[slot]))
		}
	}
	if nearest > 1.2 || v.Ball.Count() != 1 {
		t.Errorf("%d balls, and the nearest comes to %.1f m", v.Ball.Count(), nearest)
	}
	for range 2 * mostBalls {
		throwAt(t, sim, 0, [3]float32{0, 50, -40})
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if v.Ball.Count() != mostBalls {
		t.Errorf("%d balls", v.Ball.Count())
	}
}

func FuzzParseRay(f *testing.F) {
	f.Add((&Ray{Direction: [3]float32{0, -3, 4}}).Append(nil))
	f.Add(make([]byte, rayBytes))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, ok := parseRay(data)
		d := r.Direction
		if n := math.Hypot(math.Hypot(float64(d[0]), float64(d[1])), float64(d[2])); ok && math.Abs(n-1) > 1e-5 {
			t.Errorf("%v has the length %g", d, n)
		}
	})
}

// BenchmarkStep measures ticks one after the other, and their 95th percentile; run it for at least 2,000, which have all that happens.
func BenchmarkStep(b *testing.B) {
	sim, _ := newValley(b, evertick.Config{Seed: 1})
	for b.Loop() {
		if err := sim.Step(); err != nil {
			b.Fatal(err)
		}
	}
	_, step := sim.Stats()
	b.ReportMetric(float64(step.P95), "p95-ns")
}
