package physics3_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// Helpers take part in all that tests compute.
func init() { pace.Always = true }

// hashesOf returns the hash of each of the next steps.
func hashesOf(t *testing.T, w *physics3.World, n int) (all []uint64) {
	t.Helper()
	for range n {
		steps(t, w, 1)
		all = append(all, w.Hash())
	}
	return all
}

// restored returns a new world with the state of a snapshot.
func restored(t *testing.T, data []byte, c physics3.Config) *physics3.World {
	t.Helper()
	w := must[*physics3.World](t)(physics3.New(c))
	check(t, w.Restore(data))
	return w
}

// sameHashes fails at the first step that differs.
func sameHashes(t *testing.T, what string, w *physics3.World, want []uint64) {
	t.Helper()
	for i, h := range want {
		steps(t, w, 1)
		if w.Hash() != h {
			t.Fatalf("%s: after %d steps the hashes differ", what, i+1)
		}
	}
}

// Case 119: a world that was saved while a pusher hits crates continues with the same bits.
func TestCase119SavedAtTheImpact(t *testing.T) {
	config := physics3.Config{Capacity: 40}
	w := newWorld(t, config)
	for i := range 30 {
		addBox(t, w, dynamicAt(float32(i%5)*1.02, 0.5+float32(i/15)*1.01, float32(i/5%3)*1.02), [3]float32{0.5, 0.5, 0.5})
	}
	d := physics3.DefaultBodyDef()
	d.Type, d.Position, d.LinearVelocity = physics3.KinematicBody, [3]float32{-6, 1, 1}, [3]float32{3, 0, 0}
	addBox(t, w, d, [3]float32{0.5, 1, 3})
	last, every := 360, 1
	if testing.Short() {
		last, every = 160, 5
	}
	steps(t, w, 79)
	hashes := make([]uint64, 80)
	saved := map[int][]byte{}
	for step := 80; step <= last; step++ {
		steps(t, w, 1)
		if step <= 100 && step%every == 0 {
			saved[step] = must[[]byte](t)(w.Snapshot(nil))
		}
		hashes = append(hashes, w.Hash())
	}
	if len(w.Events().Moved) < 10 {
		t.Fatalf("only %d bodies move", len(w.Events().Moved))
	}
	for step := 80; step <= 100; step += every {
		sameHashes(t, "saved in contact", restored(t, saved[step], config), hashes[step+1:])
	}
}

// Case 120: what is asleep, falls asleep or wakes is a part of the state.
func TestCase120Sleepers(t *testing.T) {
	config := physics3.Config{Capacity: 40}
	w := newWorld(t, config)
	first := tower(t, w, 5)
	for i := range 5 { // another pile, which comes to rest later
		addBox(t, w, dynamicAt(10, 1.5+1.5*float32(i), 0), [3]float32{0.5, 0.5, 0.5})
	}
	steps(t, w, 20)
	long := 600
	if testing.Short() {
		long = 100
	}
	for round := range 12 { // until all sleep
		data := must[[]byte](t)(w.Snapshot(nil))
		original, copied := must[*physics3.World](t)(w.Clone()), restored(t, data, config)
		for _, world := range []*physics3.World{original, copied} {
			check(t, world.ApplyLinearImpulseToCenter(first[4], [3]float32{0.3, 0, 0}))
		}
		sameHashes(t, "saved while bodies fall asleep", copied, hashesOf(t, original, long))
		steps(t, w, 3+round*3)
	}
	if w.AwakeCount() != 0 {
		t.Errorf("%d bodies are awake", w.AwakeCount())
	}
}

// ballsOf drops eight balls on a line at (x, z), one after the other.
func ballsOf(t *testing.T, w *physics3.World, x, z float32) (balls []physics3.Body) {
	t.Helper()
	for i := range 8 {
		balls = append(balls, addSphereOf(t, w, dynamicAt(x+[2]float32{0, 0.51}[i%2]+float32(i/2)*1.01, 1.25, z), 0.25, material(0.6, 0.7)))
	}
	return balls
}

// Case 121: the same scene has the same bits on every level, with any number of workers. Copies of it at places that are powers of two have
// the same heights and velocities, in whatever order they were made.
func TestCase121OrderOfIslands(t *testing.T) {
	count := 200
	if testing.Short() {
		count = 100
	}
	var want []uint64
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 4} {
			w := newWorld(t, physics3.Config{Capacity: 64, Level: level, Workers: workers})
			ballsOf(t, w, 0, 0)
			if want == nil {
				want = hashesOf(t, w, count)
			} else {
				sameHashes(t, level.String(), w, want)
			}
		}
	}
	places := [][2]float32{{0, 0}, {0, 16}, {0, 32}, {0, -16}}
	var heights [2][]uint32
	for k, order := range [][]int{{0, 1, 2, 3}, {2, 0, 3, 1}} {
		w := newWorld(t, physics3.Config{Capacity: 64})
		sets := make([][]physics3.Body, len(places))
		for _, i := range order {
			sets[i] = ballsOf(t, w, places[i][0], places[i][1])
		}
		steps(t, w, count)
		c := w.Columns()
		for _, set := range sets {
			for _, b := range set {
				i := b.Index()
				heights[k] = append(heights[k], math.Float32bits(c.X[i]), math.Float32bits(c.Y[i]), math.Float32bits(c.VX[i]), math.Float32bits(c.VY[i]), math.Float32bits(c.VZ[i]))
			}
		}
	}
	for i := range heights[0] {
		if heights[0][i] != heights[1][i] || heights[0][i] != heights[0][i%(8*5)] {
			t.Fatalf("value %d of ball %d in set %d: %g, %g, and %g in the first set", i%5, i/5%8, i/40,
				math.Float32frombits(heights[0][i]), math.Float32frombits(heights[1][i]), math.Float32frombits(heights[0][i%40]))
		}
	}
}
