//go:build !plane

package command

import (
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/scenes3"
	"github.com/evertick/evertick/native"
)

// A program reads the results of each scene in space, whose hash is that of every level and number of workers.
func TestSpaceJSON(t *testing.T) {
	for _, d := range scenes3.All() {
		args := []string{"-scene", d.Name, "-n", "2", "-ticks", "12", "-warmup", "3", "-seed", "7"}
		alone, shared := profiled(t, append(args, "-level", "go")...), profiled(t, append(args, "-workers", "2", "-sleep")...)
		if alone.Hash != shared.Hash && param(shared, "sleep") != "on" {
			t.Errorf("%s: hashes %s and %s", d.Name, alone.Hash, shared.Hash)
		}
		if alone.Scene != d.Name || alone.Seed != 7 || alone.Level != "go" || alone.Warmup != 3 || param(alone, "n") != "2" || param(alone, "ticks") != "12" {
			t.Errorf("%s: %+v", d.Name, alone)
		}
	}
}

// The report names the stages of the solver, and -stages what helpers do in them.
func TestSpaceStages(t *testing.T) {
	args := []string{"-scene", "pyramid3", "-n", "4", "-ticks", "40", "-warmup", "4", "-level", native.Go.String()}
	out := mustRun(t, append(args, "-ladder", "off", "-out", outNone)...)
	for _, part := range []string{"scene pyramid3", "n 4", "bodies 10", "shapes 11", "bounds", "pairs", "solve", "finalize", "contacts"} {
		if !strings.Contains(out, part) {
			t.Errorf("the text lacks %q:\n%s", part, out)
		}
	}
	if out := mustRun(t, append(args, "-stages")...); !strings.Contains(out, "barriers a step") {
		t.Errorf("%s", out)
	}
}
