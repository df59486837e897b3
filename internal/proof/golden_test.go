package proof

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

const goldenHead = `# Hashes of the scene with everything in it: seed, ticks, hash. They hold on every
# architecture, on every level and in every build. Changing them needs a line under
# "Determinism" in CHANGELOG.md; regenerate with
#	go test ./internal/proof -run TestGolden -update
`

// Recordings show differences between builds, golden hashes those between versions.
func TestGolden(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: golden hashes of an instrumented build")
	}
	text := []byte(goldenHead)
	for _, seed := range []uint64{1, 2} {
		r, err := Record(Config{Seed: seed}, 300, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, tick := range []int{1, 60, 300} {
			text = fmt.Appendf(text, "%d %d %016x\n", seed, tick, r.Hashes[tick-1])
		}
	}
	path := filepath.Join("testdata", "golden.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("%s says\n%s\nthe runs\n%s", path, want, text)
	}
}
