package profile_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
)

func TestPin(t *testing.T) {
	undo, err := profile.Pin(0)
	if runtime.GOOS != "linux" {
		if !errors.Is(err, evertick.ErrUnsupported) {
			t.Errorf("on %s: %v", runtime.GOOS, err)
		}
		return
	}
	if errors.Is(err, evertick.ErrRange) {
		t.Skip("not run: this process may not use CPU 0")
	} else if err != nil {
		t.Fatal(err)
	}
	pinned := func() int {
		r, err := profile.New(profile.Config{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Run().Noise.Pinned
	}
	if cpu := pinned(); cpu != 0 {
		t.Errorf("pinned to %d", cpu)
	}
	undo()
	undo()
	if cpu := pinned(); cpu != -1 && runtime.NumCPU() > 1 {
		t.Errorf("still pinned to %d", cpu)
	}
}

func TestPinRefuses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("not run: Linux only")
	}
	for _, cpu := range []int{-1, 1024, 1 << 30, 1023} {
		if undo, err := profile.Pin(cpu); err == nil {
			undo()
			if cpu != 1023 { // somebody may have one
				t.Errorf("pinned to %d", cpu)
			}
		} else if !errors.Is(err, evertick.ErrRange) {
			t.Errorf("%d: %v", cpu, err)
		}
	}
}
