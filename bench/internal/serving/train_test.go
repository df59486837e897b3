package serving

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

// exported returns the log of an episode of 20 steps.
func exported(t *testing.T, name string) (dir string) {
	t.Helper()
	def, err := worlds.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := train.New(def, train.Config{Worlds: 2, Seed: 3, Record: true})
	if err != nil {
		t.Fatal(err)
	}
	buf := b.NewBuffers()
	if err := b.Reset(train.Options{}, buf); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := b.Step(buf); err != nil {
			t.Fatal(err)
		}
	}
	dir = filepath.Join(t.TempDir(), "log")
	if _, err := b.Export(1, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What a training world exports is a log like any other.
func TestTrainingLogs(t *testing.T) {
	for _, name := range []string{"tag", "pushbox"} {
		dir := exported(t, name)
		if got := viewed(t, 0, viewOf(dir)); !slices.Equal(got.Subjects, []string{"log"}) {
			t.Errorf("%s in a page: %+v", name, got)
		}
		for _, c := range []struct {
			says string
			args []string
		}{
			{"verified: 21 ticks and 21 inputs of train/" + name, []string{"replay", "verify", dir}},
			{"tick 20: hash ", []string{"replay", "seek", "-tick", "20", dir}},
			{"10 ticks", []string{"replay", "fork", "-tick", "5", "-ticks", "10", dir, dir + "-branch"}},
			{"verified: 16 ticks", []string{"replay", "verify", dir + "-branch"}},
		} {
			out, err := logs(t, c.args...)
			if err != nil || !strings.Contains(out, c.says) {
				t.Errorf("bench %v: %q, %v; want %q", c.args, out, err, c.says)
			}
		}
	}
}
