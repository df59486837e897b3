//go:build cgo

package clib

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
	"github.com/evertick/evertick/worldlog"
)

// A handle names one batch only: its slot is used again with another handle.
func TestHandles(t *testing.T) {
	a, b := new(batch), new(batch)
	first := add(a)
	if find(first) != a {
		t.Fatal("a handle does not find its batch")
	}
	if drop(first) != a || find(first) != nil || drop(first) != nil {
		t.Error("a handle that was dropped finds something")
	}
	second := add(b)
	if uint32(second) != uint32(first) || second == first || find(second) != b || find(first) != nil {
		t.Errorf("handles %#x and then %#x", first, second)
	}
	for _, h := range []uint64{0, 1, second + 1, second | 1<<63, 1 << 32, ^uint64(0)} {
		if find(h) != nil {
			t.Errorf("%#x finds a batch", h)
		}
	}
	handles.slots[uint32(second)-1].generation = ^uint32(0)
	last := uint64(^uint32(0))<<32 | uint64(uint32(second))
	if drop(last) != b {
		t.Fatal("the last handle of a slot finds nothing")
	}
	if third := add(a); uint32(third) == uint32(second) {
		t.Error("a slot is used again whose handles are used up")
	} else {
		drop(third)
	}
}

// The header declares the exported functions, and only those. That the signatures agree is checked by
// the C compiler in every build: exports.c includes the header.
func TestHeader(t *testing.T) {
	header, err := os.ReadFile("evertick_train.h")
	if err != nil {
		t.Fatal(err)
	}
	var source []byte
	for _, name := range []string{"clib.go", "render.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	exports, err := os.ReadFile("exports.c")
	if err != nil {
		t.Fatal(err)
	}
	names := func(pattern string, text []byte) (found []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
			found = append(found, string(m[1]))
		}
		slices.Sort(found)
		return found
	}
	declared, exported := names(`(?m)^int32_t evertick_train_(\w+)\(`, header), names(`(?m)^//export evertick_train_go_(\w+)$`, source)
	guarded := append(names(`(?m)^FORWARD\((\w+),`, exports), names(`(?m)^EXPORT int32_t evertick_train_(\w+)\(`, exports)...)
	slices.Sort(guarded)
	if len(declared) == 0 || !slices.Equal(declared, exported) || !slices.Equal(declared, guarded) {
		t.Errorf("declared %q, exported %q, guarded %q", declared, exported, guarded)
	}
	for i, line := range bytes.Split(header, []byte("\n")) {
		if k := bytes.IndexFunc(line, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }); k >= 0 {
			t.Errorf("evertick_train.h:%d: byte %#x", i+1, line[k])
		}
	}
}

// Codes of the header that say what the caller may do next.
const (
	world = -8
	file  = -11
	other = -12
)

// The code of a failed world is that of failed worlds alone: it asks for a reset of all.
func TestCodes(t *testing.T) {
	full := fmt.Errorf("write: %w", syscall.ENOSPC)
	for err, want := range map[error]int{
		errors.New("broken"): other,
		replay.ErrDiverged:   other,
		full:                 file,
		fmt.Errorf("%w: %w", worldlog.ErrPoisoned, full): file,
		worldlog.ErrLocked: file,
		&fs.PathError{Op: "open", Path: "x", Err: errors.ErrUnsupported}: file,
		fs.ErrPermission:                                       file,
		fmt.Errorf("%w: broken", train.ErrWorld):               world,
		fmt.Errorf("%w: %w", train.ErrWorld, full):             world,
		fmt.Errorf("%w: %w", train.ErrWorld, fault.ErrCorrupt): world,
		fault.ErrCorrupt:                                       -4,
		fault.Field(fault.ErrCapacity, "room", 3):              -6,
	} {
		if got := int(codeOf(err)); got != want {
			t.Errorf("%v: code %d, want %d", err, got, want)
		}
	}
	if codeOf(nil) != 0 {
		t.Error("no error has a code")
	}
}

// Wherever a log cannot be written, Export says so, and the worlds go on.
func TestExportCodes(t *testing.T) {
	b, err := train.New(worlds.PushBox().Definition(), train.Config{Record: true})
	if err != nil {
		t.Fatal(err)
	}
	buf := b.NewBuffers()
	if err := errors.Join(b.Reset(train.Options{}, buf), b.Step(buf)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	plain, locked, taken := filepath.Join(dir, "plain"), filepath.Join(dir, "locked"), filepath.Join(dir, "taken")
	if err := errors.Join(os.WriteFile(plain, nil, 0o666), os.Mkdir(locked, 0o555)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Export(0, taken); err != nil {
		t.Fatal(err)
	}
	folders := []string{plain, filepath.Join(plain, "below"), taken, filepath.Join(dir, strings.Repeat("n", 300)), ""}
	if os.WriteFile(filepath.Join(locked, "try"), nil, 0o666) != nil { // root can write everywhere
		folders = append(folders, filepath.Join(locked, "below"), locked)
	}
	for _, folder := range folders {
		if _, err := b.Export(0, folder); int(codeOf(err)) != file {
			t.Errorf("%.40q: code %d, %v", folder, codeOf(err), err)
		}
		if err := b.Step(buf); err != nil {
			t.Error(err)
		}
	}
}

// The estimate is what a batch of the size allocates, whatever else its definition has.
func TestEstimate(t *testing.T) {
	for _, def := range []train.Definition{worlds.CartPole(), worlds.PushBox().Definition(), worlds.TagRaster().Definition(), worlds.TagTeam().Definition()} {
		for _, n := range []int{2, 7, 16, 100, 200} {
			cfg := train.Config{Worlds: n, Record: n == 100 && def.Name != "cartpole"}
			got, want := estimate(def, cfg), allocated(def, cfg, uint64(n))
			if got+20_000 < want*9/10 || got > want*11/10+20_000 {
				t.Errorf("%s, %d worlds: an estimate of %d bytes for %d", def.Name, n, got, want)
			}
		}
	}
	failing := worlds.CartPole()
	failing.New = func(int, bool) (train.Worlds, error) { panic("broken down") }
	if got := estimate(failing, train.Config{Worlds: 50}); got != 0 {
		t.Errorf("an estimate of %d for what panics", got)
	}
	if !enough(1<<20) || enough(1<<62) || room(1<<62, "data", 7) == nil {
		t.Error("room for what there is none, or none for a little")
	}
}
