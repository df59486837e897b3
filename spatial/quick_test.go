package spatial

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/evertick/evertick/native"
)

func TestQuick(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, lv := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			for trial := 0; trial < 60; trial++ {
				n := r.IntN(3000)
				x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
				slots := []uint32{}
				for i := range x {
					x[i], y[i], z[i] = r.Float32()*200, r.Float32()*2, r.Float32()*200
					if r.IntN(8) > 0 {
						slots = append(slots, uint32(i))
					}
				}
				ix, err := New(Config{Level: lv, Workers: workers, CellSize: float32(trial % 3 * 8)})
				if err != nil {
					t.Fatal(err)
				}
				if err := ix.Build(x, y, z, slots); err != nil {
					t.Fatal(err)
				}
				q := &Queries{Order: Order(trial % 3), SkipDist2: trial%5 == 0}
				for i := 0; i < 200; i++ {
					q.X = append(q.X, r.Float32()*220-10)
					q.Y = append(q.Y, r.Float32()*2)
					q.Z = append(q.Z, r.Float32()*220-10)
					q.Radius = append(q.Radius, r.Float32()*30)
				}
				var a, b Result
				if err := ix.Radius(q, &a); err != nil {
					t.Fatal(err)
				}
				if err := ix.RadiusOracle(q, &b); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(a.Offsets, b.Offsets) || !reflect.DeepEqual(append([]uint32{}, a.Slots...), append([]uint32{}, b.Slots...)) || !reflect.DeepEqual(append([]float32{}, a.Dist2...), append([]float32{}, b.Dist2...)) {
					t.Fatal(lv, workers, trial, len(a.Slots), len(b.Slots))
				}
			}
		}
	}
}

func BenchmarkRadius(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	n := 2000
	x, y, z := make([]float32, 16384), make([]float32, 16384), make([]float32, 16384)
	slots := []uint32{}
	for i := range n {
		x[i], z[i] = r.Float32()*200, r.Float32()*200
		slots = append(slots, uint32(i))
	}
	for _, lv := range native.Levels() {
		for _, o := range []Order{BySlot, Grid, ByDistance} {
			b.Run("level="+lv.String()+"/order="+[]string{"slot", "dist", "grid"}[o], func(b *testing.B) {
				ix, _ := New(Config{Level: lv, CellSize: 15})
				q := &Queries{X: make([]float32, 200), Y: make([]float32, 200), Z: make([]float32, 200), Radius: make([]float32, 200), Order: o}
				var out Result
				var build int64
				for b.Loop() {
					for i := range q.X {
						q.X[i], q.Z[i], q.Radius[i] = r.Float32()*200, r.Float32()*200, 15
					}
					if err := ix.Build(x, y, z, slots); err != nil {
						b.Fatal(err)
					}
					if err := ix.Radius(q, &out); err != nil {
						b.Fatal(err)
					}
				}
				_ = build
				b.ReportMetric(float64(len(out.Slots))/200, "hits/q")
			})
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	n := 2000
	x, y, z := make([]float32, 16384), make([]float32, 16384), make([]float32, 16384)
	slots := []uint32{}
	for i := range n {
		x[i], z[i] = r.Float32()*200, r.Float32()*200
		slots = append(slots, uint32(i))
	}
	ix, _ := New(Config{CellSize: 15})
	for b.Loop() {
		ix.Build(x, y, z, slots)
	}
}
