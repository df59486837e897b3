package scenes_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// fallen is how towers of hinged boxes come to rest: after which tick the last of them
// fell asleep, and the hash of the world then. A change needs a line under "Determinism" in
// CHANGELOG.md.
type fallen struct {
	tick int
	hash uint64
}

var wantFallen = fallen{321, 0xa5a6f3e0f0b3441e}

// fall steps the scene until nothing is awake.
func fall(t *testing.T, c physics.Config) (f fallen) {
	t.Helper()
	s, err := scenes.New("hinges", 40, 1, c)
	if err != nil {
		t.Fatal(err)
	}
	for range 3600 {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
		f.tick++
		if awake(s) == 0 {
			f.hash = s.World.Hash()
			return f
		}
	}
	t.Fatalf("%d bodies are awake after a minute", awake(s))
	return f
}

func awake(s *scenes.Scene) (n int) {
	flags := s.World.Columns().Flags
	for _, b := range s.Bodies {
		if flags[b.Index()]&physics.FlagAsleep == 0 {
			n++
		}
	}
	return n
}

// Islands, joints and contacts are the same for any number of workers, on every level.
func TestFallingHinges(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: golden hashes of an instrumented build")
	}
	configs := map[string]physics.Config{}
	step := 1
	if testing.Short() {
		step = 5
	}
	for workers := 1; workers <= 16; workers += step {
		configs[fmt.Sprintf("%d workers", workers)] = physics.Config{Workers: workers}
	}
	for _, level := range native.Levels() {
		configs["level "+level.String()] = physics.Config{Level: level}
	}
	for name, c := range configs {
		if got := fall(t, c); got != wantFallen {
			t.Errorf("%s: fallen{%d, %#016x}, want fallen{%d, %#016x}", name, got.tick, got.hash, wantFallen.tick, wantFallen.hash)
		}
	}
}
