package command

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/evertick/evertick/internal/proof"
)

// The scene that bench measures is the one whose hashes the proof compares.
func TestEverything(t *testing.T) {
	const ticks = 24
	want, err := proof.Record(proof.Config{Seed: 2}, ticks, 0)
	if err != nil {
		t.Fatal(err)
	}
	run := profiled(t, "-scene", proof.SceneName, "-seed", "2", "-ticks", "24", "-hashes", filepath.Join(t.TempDir(), "hashes"))
	if run.Hash != hashText(want.Hashes[ticks-1]) {
		t.Errorf("hash %s, the proof has %016x", run.Hash, want.Hashes[ticks-1])
	}
	for name, least := range map[string]int{"entities": 200, "bodies": 100} {
		if n, err := strconv.Atoi(param(run, name)); err != nil || n < least {
			t.Errorf("%d %s, %v", n, name, err)
		}
	}
}
