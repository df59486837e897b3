package physics_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// BenchmarkStep is a step of the scenes that go run ./bench compares, once they have begun
// to move.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		scene string
		n     int
	}{
		{"arena", 256}, {"arena", 1024}, {"arena", 4096}, {"arena", 16384},
		{"tumbler", 2000}, {"pyramid", 100}, {"pyramids", 400},
	} {
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("scene=%s/n=%d/level=%v", c.scene, c.n, level), func(b *testing.B) {
				s, err := scenes.New(c.scene, c.n, 1, physics.Config{Level: level})
				if err != nil {
					b.Fatal(err)
				}
				step := func() {
					if err := s.Step(); err != nil {
						b.Fatal(err)
					}
				}
				for range 30 {
					step()
				}
				b.ReportAllocs()
				for b.Loop() {
					step()
				}
			})
		}
	}
}
