package physics_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// Every level and any number of workers give the same bits, at each stage of each step.
func TestLevelsAndWorkersAgree(t *testing.T) {
	const ticks = 120
	run := func(level native.Level, workers int) (all [][]physics.ColumnHash) {
		w := newCrowd(t, physics.Config{Capacity: 300, Level: level, Workers: workers, StageHashes: true}, 150, 11)
		for range ticks {
			w.step()
			all = append(all, w.AppendColumnHashes(append([]physics.ColumnHash{eventHash(w.World)}, w.StageHashes()...)))
		}
		return all
	}
	compareRuns(t, run)
}

// The same holds where each stage has several chunks.
func TestLevelsAndWorkersAgreeInALargeHeap(t *testing.T) {
	ticks := 8
	if paritytest.Instrumented || testing.Short() {
		ticks = 2
	}
	start := packed(t, 96)
	compareRuns(t, func(level native.Level, workers int) (all [][]physics.ColumnHash) {
		w := newWorld(t, physics.Config{Capacity: start.Cap(), Level: level, Workers: workers, StageHashes: true})
		if err := w.CopyFrom(start); err != nil {
			t.Fatal(err)
		}
		for range ticks {
			steps(t, w, 1)
			all = append(all, w.AppendColumnHashes(append([]physics.ColumnHash{eventHash(w)}, w.StageHashes()...)))
		}
		return all
	})
}

// eventHash returns the hash of the encoded events of the last step.
func eventHash(w *physics.World) physics.ColumnHash {
	h := fnv.New64a()
	h.Write(w.AppendEvents(nil))
	return physics.ColumnHash{Name: "Events", Hash: h.Sum64()}
}

func compareRuns(t *testing.T, run func(native.Level, int) [][]physics.ColumnHash) {
	t.Helper()
	want := run(native.Go, 1)
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			if level == native.Go && workers == 1 {
				continue
			}
			for tick, got := range run(level, workers) {
				for k := range got {
					if got[k] != want[tick][k] {
						t.Fatalf("level %v, %d workers: tick %d: %s differs from level go, one worker", level, workers, tick, got[k].Name)
					}
				}
			}
		}
	}
}

// packed returns n² discs and boxes side by side on the ground, which overlap a little.
func packed(t testing.TB, n int) *physics.World {
	w := newWorld(t, physics.Config{Capacity: n*n + 1, Gravity: [2]float32{0, -10}})
	box(t, w, body(t, w, physics.StaticBody, 0, -1), 1000, 1)
	for i := range n * n {
		b := body(t, w, physics.DynamicBody, float32(i%n)*0.99, 0.5+float32(i/n)*0.99)
		if i%3 == 0 {
			must[physics.Shape](t)(w.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5}))
		} else {
			box(t, w, b, 0.5, 0.5)
		}
	}
	return w
}

// Stage hashes change no result, and exist only with Config.StageHashes.
func TestStageHashes(t *testing.T) {
	quiet := newCrowd(t, physics.Config{Capacity: 100}, 40, 2)
	loud := newCrowd(t, physics.Config{Capacity: 100, StageHashes: true, SubSteps: 4}, 40, 2)
	seen := map[string]bool{}
	for range 30 {
		quiet.step()
		loud.step()
		sameState(t, "with StageHashes", quiet.World, loud.World)
		if len(quiet.StageHashes()) != 0 {
			t.Fatal("stages are hashed without being asked to")
		}
		names := ""
		for _, c := range loud.StageHashes() {
			names += c.Name + " "
			key := fmt.Sprint(c)
			if seen[key] && c.Name != "pairs.A" && c.Name != "pairs.B" {
				t.Errorf("%s is as in an earlier step", c.Name)
			}
			seen[key] = true
		}
		const want = "pairs.A pairs.B manifolds matched substep.0 substep.1 substep.2 substep.3 solved "
		if names != want {
			t.Fatalf("stages %s, want %s", names, want)
		}
	}
}

func TestSolverAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			w := newWorld(t, physics.Config{Capacity: 10000, Workers: workers})
			if err := w.CopyFrom(packed(t, 48)); err != nil {
				t.Fatal(err)
			}
			b, _ := w.BodyAt(40)
			c, _ := w.BodyAt(41)
			turn := 0
			busy := func() {
				turn++
				for _, err := range []error{
					w.ApplyLinearImpulse(b, [2]float32{1, 1}, [2]float32{}), w.ApplyForce(b, [2]float32{1, 1}, [2]float32{}),
					w.SetVelocity(c, [2]float32{float32(turn % 5), 0}, 0), w.SetTransform(c, [2]float32{5, 60}, 1),
					w.Step(1. / 60),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			for range 100 {
				busy()
			}
			if n := testing.AllocsPerRun(50, busy); n != 0 {
				t.Errorf("%g allocations a step", n)
			}
		})
	}
}

// Creating and destroying thousands of shapes takes time in proportion to their number.
func TestBulkCreation(t *testing.T) {
	const n = 20000
	w := newWorld(t, physics.Config{Capacity: n + 1})
	ground := body(t, w, physics.StaticBody, 0, 0)
	var shapes []physics.Shape
	for i := range n {
		shapes = append(shapes, must[physics.Shape](t)(w.CreateSegment(ground, physics.DefaultShapeDef(),
			physics.Segment{P1: [2]float32{float32(i), 0}, P2: [2]float32{float32(i) + 1, 0}})))
	}
	var bodies []physics.Body
	for i := range n {
		b := body(t, w, physics.DynamicBody, float32(i), 0.5)
		box(t, w, b, 0.45, 0.5)
		bodies = append(bodies, b)
	}
	steps(t, w, 1)
	begun := len(w.Events().Begin)
	for _, s := range shapes {
		if err := w.DestroyShape(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range bodies {
		if err := w.DestroyBody(b); err != nil {
			t.Fatal(err)
		}
	}
	steps(t, w, 1)
	if ended := len(w.Events().End); begun < n || ended != begun || w.ShapeCount() != 0 || w.Len() != 1 {
		t.Errorf("%d contacts began, %d ended; %d shapes and %d bodies are left", begun, ended, w.ShapeCount(), w.Len())
	}
}
