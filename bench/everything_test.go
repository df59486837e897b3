package main

import (
	"path/filepath"
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
	var rep report
	decode(t, mustRun(t, "-scene", proof.SceneName, "-seed", "2", "-ticks", "24", "-json", "-hashes", filepath.Join(t.TempDir(), "hashes")), &rep)
	if rep.Hash != columnText(want.Hashes[ticks-1]) {
		t.Errorf("hash %s, the proof has %016x", rep.Hash, want.Hashes[ticks-1])
	}
	if rep.Entities < 200 || rep.Bodies < 100 {
		t.Errorf("%d entities, %d bodies", rep.Entities, rep.Bodies)
	}
}
