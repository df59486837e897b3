package publish

import (
	"fmt"
	"testing"
	"time"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
)

// BenchmarkPublish measures what a Publisher adds to a frame, while a tick moves all entities
// between two publications: p50-ns and p10-ns of a publication. ns/op includes the tick. In Run the
// present of one copy is the past of the next. Other hosts may write between frames, so both are
// copied.
func BenchmarkPublish(b *testing.B) {
	const rows = ecs.DefaultCapacity
	for _, columns := range []struct {
		name  string
		names []string
	}{
		{"position+rotation+scale", nil},
		{"position+rotation", transformNames[:7]},
		{"plane", []string{"position.x", "position.y", "rotation.z", "rotation.w"}},
	} {
		for _, quiet := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/run=%t", columns.name, quiet), func(b *testing.B) {
				w, p := benchCopies(b, rows, columns.names)
				state := State{OnlyTicks: quiet}
				var spent loop.Histogram
				b.ReportAllocs()
				for b.Loop() {
					w.KeepPrevious()
					moveAll(w)
					state.Tick++
					start := time.Now()
					p.Fill(state)
					p.Publish()
					spent.Add(time.Since(start).Nanoseconds())
				}
				b.ReportMetric(float64(spent.Quantile(0.5)), "p50-ns")
				b.ReportMetric(float64(spent.Quantile(0.1)), "p10-ns")
			})
		}
	}
}

// BenchmarkAcquire measures a read of a fresh view, one of a view that is not fresh, and the
// interpolation of all transforms.
func BenchmarkAcquire(b *testing.B) {
	w, p := benchCopies(b, ecs.DefaultCapacity, nil)
	b.Run("fresh", func(b *testing.B) {
		for b.Loop() {
			p.buffer.publish() // without a copy
			p.Acquire()
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			p.Acquire()
		}
	})
	b.Run("interpolate", func(b *testing.B) {
		out := ecs.NewTransforms(w.Cap())
		for b.Loop() {
			if err := p.Copy(p.Acquire()).Interpolate(0.5, out); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchCopies(b *testing.B, rows int, transforms []string) (*ecs.World, *Copies) {
	w, err := ecs.New(ecs.Config{Capacity: rows, Previous: true})
	if err != nil {
		b.Fatal(err)
	}
	if err := w.SpawnN(make([]ecs.ID, rows)); err != nil {
		b.Fatal(err)
	}
	level, err := native.Resolve(native.Auto)
	if err != nil {
		b.Fatal(err)
	}
	p, err := New(w, level, Config{Transforms: transforms})
	if err != nil {
		b.Fatal(err)
	}
	for range 10 { // so that all pages exist, and nothing has jumped
		w.KeepPrevious()
		p.Fill(State{})
		p.Publish()
		p.Acquire()
	}
	return w, p
}

// moveAll writes to all transforms, as a tick does.
func moveAll(w *ecs.World) {
	for _, column := range transformColumns(&ecs.Transforms{Position: w.Position, Rotation: w.Rotation, Scale: w.Scale}) {
		for i := range *column {
			(*column)[i]++
		}
	}
}
