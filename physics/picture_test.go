package physics_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/svg"
)

// keepPicture writes a picture of w, as it is when the test ends, and tells where, if the test
// has failed: to the artifacts of the test if those are kept (go test -artifacts), or else
// to the folder for temporary files.
func keepPicture(t testing.TB, w *physics.World) {
	t.Helper()
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		file, err := os.CreateTemp(artifacts(t), "evertick-*.svg")
		if err != nil {
			t.Log(err)
			return
		}
		defer file.Close()
		if err := svg.Write(file, w, svg.Options{Draw: everything, Title: t.Name()}); err != nil {
			t.Log(err)
			return
		}
		t.Logf("the world at the end: %s", file.Name())
	})
}

// artifacts returns the folder for what a test leaves behind, empty for the usual one.
func artifacts(t testing.TB) string {
	kept, ok := t.(interface{ ArtifactDir() string }) // from Go 1.26 on
	if f := flag.Lookup("test.artifacts"); ok && f != nil && f.Value.String() == "true" {
		return kept.ArtifactDir()
	}
	return ""
}

// failing is a test that has failed.
type failing struct {
	testing.TB
	cleanup []func()
	said    []any
}

func (f *failing) Failed() bool                    { return true }
func (f *failing) Cleanup(do func())               { f.cleanup = append(f.cleanup, do) }
func (f *failing) Logf(format string, args ...any) { f.said = args }

func TestFailuresLeaveAPicture(t *testing.T) {
	f := &failing{TB: t}
	r := newFixture(f, 0)
	r.circle(r.dynamic(0, 0), plain, 1)
	for _, do := range f.cleanup {
		do()
	}
	if len(f.said) != 1 {
		t.Fatalf("a test that failed says %v", f.said)
	}
	path := f.said[0].(string)
	picture, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(picture), "<circle") {
		t.Errorf("%s: %v\n%s", path, err, picture)
	}
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
}
