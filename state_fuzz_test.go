package evertick_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/frame/frametest"
)

const (
	simMagic   = "evtk.sim"
	simVersion = 1
)

// fixChecksums corrects the checksums of a snapshot and of those within it.
func fixChecksums(data []byte) []byte {
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

// For any bytes, with right checksums or not, Restore refuses them and leaves the Sim as
// it was, or makes it a state that can be saved and stepped without a panic.
func FuzzRestore(f *testing.F) {
	p := newPark(f, parkConfig())
	r := record(f, p, 61)
	for _, k := range []int{0, 9, 20, 61} {
		f.Add(r.snaps[k])
	}
	good := r.snaps[33]
	p.forged = true
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [...][]byte{data, fixChecksums(data)} {
			restore(t, p.sim, good)
			base := snapshot(t, p.sim) // with tags that were forged before: they stay registered
			if err := p.sim.Restore(data); err != nil {
				if after := snapshot(t, p.sim); !bytes.Equal(after, base) {
					t.Fatalf("a Restore that failed has changed the Sim: %v", err)
				}
				wantDocumented(t, err)
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

// The test makes each frame of a snapshot shorter and longer, leaves it out, doubles it, and changes
// words in it, with right checksums: Restore refuses the data or makes it a valid state.
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
		err := p.sim.Restore(fixChecksums(frametest.Forge(simMagic, simVersion, list)))
		if err == nil {
			taken++
			_ = p.sim.Step()
			restore(t, p.sim, good)
			base = snapshot(t, p.sim)
			return
		}
		refused++
		wantDocumented(t, err)
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

// wantDocumented checks that an error is one that Sim.Restore documents. The states of the park
// have errors of their own.
func wantDocumented(t *testing.T, err error) {
	t.Helper()
	if !frametest.Documented(err) && !strings.Contains(err.Error(), "evertick: Restore: state ") {
		t.Fatalf("an error that Restore does not promise: %v", err)
	}
}

// A snapshot with right checksums that contradicts itself, at any depth, is refused with
// one of the documented errors, and leaves the Sim as it was.
func TestRestoreRefusals(t *testing.T) {
	p := newPark(t, parkConfig())
	r := record(t, p, 40)
	good := r.snaps[40]
	p.forged = true
	base := good
	refused := map[error]int{}
	n := uint64(6000)
	if testing.Short() {
		n = 600
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 14))
		err := p.sim.Restore(mutated(rng, good))
		if err == nil {
			_ = p.sim.Step()
			restore(t, p.sim, good)
			base = snapshot(t, p.sim) // with tags that were forged: they stay registered
			continue
		}
		if wantDocumented(t, err); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		for _, e := range []error{evertick.ErrCorrupt, evertick.ErrUnsupported, evertick.ErrCapacity} {
			if errors.Is(err, e) {
				refused[e]++
			}
		}
		if !bytes.Equal(snapshot(t, p.sim), base) {
			t.Fatalf("seed %d: refused, but the Sim was changed: %v", seed, err)
		}
	}
	t.Logf("of %d mutations, refused: %v", n, refused)
	if refused[evertick.ErrCorrupt] == 0 || refused[evertick.ErrUnsupported] == 0 {
		t.Error("some refusals were never met")
	}
}

// mutated changes frames of a snapshot, or frames within one of them.
func mutated(rng *rand.Rand, good []byte) []byte {
	frames := frametest.Split(good)
	i := rng.IntN(len(frames))
	for magic, version := range map[string]uint32{"evtk.ecs": 2, "evtk.rig": 3} {
		if bytes.HasPrefix(frames[i], []byte(magic)) {
			frames[i] = frametest.Forge(magic, version, frametest.Mutate(rng, frametest.Split(frames[i])))
			return frametest.Forge(simMagic, simVersion, frames)
		}
	}
	return fixChecksums(frametest.Forge(simMagic, simVersion, frametest.Mutate(rng, frames)))
}

// A body of an entity beyond the world of the snapshot contradicts that world, however large the Sim is.
func TestRestoreBodyBeyondWorld(t *testing.T) {
	p := newPark(t, parkConfig())
	r := record(t, p, 5)
	frames := frametest.Split(r.snaps[5])
	met := 0
	for i, f := range frames {
		if !bytes.HasPrefix(f, []byte("evtk.rig")) {
			continue
		}
		inner := frametest.Split(f)
		const bodyBytes = 98 // of which the slots are bytes 88 to 91, column by column
		rows := len(inner[1]) / bodyBytes
		for _, slot := range []uint32{uint32(p.sim.World.Cap()), 1 << 24, 1064509617, 1<<32 - 2} {
			binary.LittleEndian.PutUint32(inner[1][88*rows:], slot)
			frames[i] = frametest.Forge("evtk.rig", 3, inner)
			err := p.sim.Restore(frametest.Forge(simMagic, simVersion, frames))
			want := fmt.Sprintf("physics: snapshot: slot of body[0] = %d", slot)
			if !errors.Is(err, evertick.ErrCorrupt) || errors.Is(err, evertick.ErrCapacity) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			met++
		}
	}
	if met != 4 {
		t.Errorf("%d slots were tried", met)
	}
}
