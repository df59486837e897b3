package twin

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// read returns the files of a folder, and of those in it.
func read(t *testing.T, dir string) *files {
	t.Helper()
	var f files
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		return errors.Join(err, f.add(filepath.ToSlash(rel), data))
	})
	if err != nil {
		t.Fatal(err)
	}
	return &f
}

// record writes a log of so many ticks of the scenario, and returns its last hash.
func record(t *testing.T, dir string, ticks uint64) uint64 {
	t.Helper()
	sim, err := drift.New(1)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, drift.Name, sim, replay.Options{SnapshotTicks: 50, Log: worldlog.Options{SegmentTicks: 60, Compress: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sim.StepN(ticks), rec.Close()); err != nil {
		t.Fatal(err)
	}
	return sim.Hash()
}

// A log in memory has what the log on the disk has.
func TestFilesLog(t *testing.T) {
	dir := t.TempDir()
	hash := record(t, filepath.Join(dir, "a", "run"), 200)
	record(t, filepath.Join(dir, "b"), 10)
	f := read(t, dir)
	if got := f.logs(); !slices.Equal(got, []string{"a/run", "b"}) {
		t.Fatal(got)
	}
	report, err := replay.Verify("a/run", drift, replay.VerifyOptions{FS: f})
	if err != nil || report.Ticks != 200 || report.Hash != hash {
		t.Errorf("%+v, %v", report, err)
	}
	snapshots, err := worldlog.Snapshots("a/run", f)
	if err != nil || len(snapshots) == 0 {
		t.Errorf("%d snapshots, %v", len(snapshots), err)
	}
}

func TestFilesRead(t *testing.T) {
	var f files
	for name, data := range map[string]string{"x": "12", "d/y": "345", "d/e/z": ""} {
		if err := f.add(name, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	names, err := f.ReadDir("d")
	if err != nil || !slices.Equal(names, []string{"y"}) {
		t.Error(names, err)
	}
	file, err := f.Open(filepath.Join("d", "y"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(file)
	if size, _ := file.Size(); string(data) != "345" || err != nil || size != 3 || file.Close() != nil {
		t.Error(string(data), err, size)
	}
	if _, err := f.Open("y"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := f.ReadDir("nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestFilesRefuse(t *testing.T) {
	f := files{bytes: mostFileBytes - 1}
	for _, name := range []string{"", "/", "..", "../x", "a/../../x"} {
		if err := f.add(name, nil); !errors.Is(err, fault.ErrRange) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := f.add("x", []byte("12")); !errors.Is(err, fault.ErrCapacity) || len(f.data) != 0 {
		t.Error(err)
	}
	if err := f.add("/x", []byte("1")); err != nil {
		t.Error(err)
	}
	_, create := f.Create("y")
	_, appending := f.Append("x", 0)
	_, lock := f.Lock("x")
	for i, err := range []error{create, appending, lock, f.MkdirAll("d"), f.Rename("x", "y"), f.Remove("x"), f.SyncDir(".")} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%d: %v", i, err)
		}
	}
	open, err := f.Open("x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.Write([]byte("2")); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}
