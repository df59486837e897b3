package physics3_test

import (
	"testing"

	"github.com/evertick/evertick/physics3"
)

// pile returns n boxes that have fallen on a heap for two seconds.
func pile(b *testing.B, n int) *physics3.World {
	w := newWorld(b, physics3.Config{DisableSleep: true})
	for i := range n {
		x, z, y := i%20, i/20%20, i/400
		addBox(b, w, dynamicAt(float32(x)*1.3-13+float32(y%3)*0.2, 1+float32(y)*1.2, float32(z)*1.3-13), [3]float32{0.5, 0.5, 0.5})
	}
	steps(b, w, 120)
	return w
}

func BenchmarkSnapshot(b *testing.B) {
	w := pile(b, 10000)
	b.ReportMetric(float64(w.ContactCount()), "contacts")
	var data []byte
	for b.Loop() {
		data, _ = w.Snapshot(data[:0])
	}
	b.SetBytes(int64(len(data)))
}

func BenchmarkRestore(b *testing.B) {
	w := pile(b, 10000)
	data, err := w.Snapshot(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := w.Restore(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCopyFrom(b *testing.B) {
	w := pile(b, 10000)
	o, err := w.Clone()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := o.CopyFrom(w); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	w := pile(b, 10000)
	for b.Loop() {
		w.Hash()
	}
}
