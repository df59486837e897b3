package evertick_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
)

const (
	simMagic   = "evtk.sim"
	simVersion = 1
)

// resealed repairs the checksums of a snapshot and of those within it.
func resealed(data []byte) []byte {
	if len(data) < 12 {
		return data
	}
	data = bytes.Clone(data)
	for at := 12; at+8 <= len(data); {
		n := int(binary.LittleEndian.Uint32(data[at:]))
		if n > len(data)-at-8 {
			break
		}
		part := data[at+4 : at+4+n]
		for _, magic := range [...]string{"evtk.ecs", "evtk.rig"} {
			if bytes.HasPrefix(part, []byte(magic)) {
				copy(part, frametest.Reseal(part))
			}
		}
		at += n + 8
	}
	return frametest.Reseal(data)
}

// Whatever bytes come, checksums right or not, Restore refuses them and leaves the Sim as
// it was, or makes it one that can be saved, and steps without a panic.
func FuzzRestore(f *testing.F) {
	p := newPark(f, parkConfig())
	r := record(f, p, 61)
	for _, k := range []int{0, 9, 20, 61} {
		f.Add(r.snaps[k])
	}
	good := r.snaps[33]
	p.forged = true
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [...][]byte{data, resealed(data)} {
			restore(t, p.sim, good)
			base := snapshot(t, p.sim) // with tags that were forged before: they stay registered
			if err := p.sim.Restore(data); err != nil {
				if after := snapshot(t, p.sim); !bytes.Equal(after, base) {
					t.Fatalf("a Restore that failed has changed the Sim: %v", err)
				}
				continue
			}
			again := snapshot(t, p.sim)
			restore(t, p.sim, again)
			if !bytes.Equal(snapshot(t, p.sim), again) {
				t.Fatal("what was restored is not what it saves")
			}
			_ = p.sim.Step() // may fail: numbers may be anything
		}
	})
}

// Each frame of a snapshot is made shorter and longer, left out, doubled, and has words in it
// changed, with right checksums: what is not refused is a state.
func TestRestoreForged(t *testing.T) {
	p := newPark(t, parkConfig())
	r := record(t, p, 40)
	good := r.snaps[40]
	p.forged = true
	frames := frametest.Split(good)
	if !bytes.Equal(frametest.Forge(simMagic, simVersion, frames), good) {
		t.Fatal("the snapshot is not made of frames")
	}
	refused, taken := 0, 0
	base := good // and the tags that were forged: they stay registered
	try := func(what string, i int, list [][]byte) {
		t.Helper()
		err := p.sim.Restore(resealed(frametest.Forge(simMagic, simVersion, list)))
		if err == nil {
			taken++
			_ = p.sim.Step()
			restore(t, p.sim, good)
			base = snapshot(t, p.sim)
			return
		}
		refused++
		if !bytes.Equal(snapshot(t, p.sim), base) {
			t.Fatalf("frame %d %s: refused, but the Sim was changed: %v", i, what, err)
		}
	}
	with := func(i int, f []byte) [][]byte {
		list := append([][]byte{}, frames...)
		list[i] = f
		return list
	}
	for i, f := range frames {
		try("left out", i, append(append([][]byte{}, frames[:i]...), frames[i+1:]...))
		try("doubled", i, append(append([][]byte{}, frames[:i+1]...), frames[i:]...))
		try("longer", i, with(i, append(bytes.Clone(f), 0)))
		if len(f) > 0 {
			try("shorter", i, with(i, f[:len(f)-1]))
			try("empty", i, with(i, nil))
		}
		step := max(1, len(f)/150)
		if testing.Short() {
			step = max(1, len(f)/15)
		}
		for at := 0; at+4 <= len(f); at += step {
			for _, word := range [...]uint32{0, 1, 0x7fffffff, 0xffffffff, 0x7fc00000} {
				g := bytes.Clone(f)
				binary.LittleEndian.PutUint32(g[at:], word)
				try("forged", i, with(i, g))
			}
		}
	}
	if !testing.Short() && (refused < 500 || taken < 500) {
		t.Errorf("%d refused, %d taken: not the test that it should be", refused, taken)
	}
}
