package train_test

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/train"
)

// saved returns a world in its third step.
func saved(t testing.TB) []byte {
	b, buf := begun(t, counter(nil), train.Config{Worlds: 2, Seed: 4})
	for range 3 {
		if err := b.Step(buf); err != nil {
			t.Fatal(err)
		}
	}
	data, err := b.Save(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every truncation and every flipped bit is refused, and leaves the world as it was.
func TestLoadCorrupt(t *testing.T) {
	b, _ := begun(t, counter(nil), train.Config{Worlds: 2, Seed: 9})
	was := b.Hash(0)
	data := saved(t)
	refused := func(data []byte, what string, at int) {
		t.Helper()
		if err := b.Load(0, data); err == nil || b.Hash(0) != was {
			t.Fatalf("%s %d: %v", what, at, err)
		}
	}
	for n := range data {
		refused(data[:n], "cut to", n)
	}
	for bit := range 8 * len(data) {
		bad := slices.Clone(data)
		bad[bit/8] ^= 1 << (bit % 8)
		refused(bad, "bit", bit)
	}
	refused(append(slices.Clone(data), 0), "longer by", 1)
	if err := b.Load(0, data); err != nil {
		t.Error(err)
	}
}

func TestLoadUnsupported(t *testing.T) {
	data := saved(t)
	def := counter(nil)
	def.Name = "another"
	other, _ := begun(t, def, train.Config{})
	wantError(t, other.Load(0, data), fault.ErrUnsupported, `"counter"`, `"another"`)
	short, _ := begun(t, counter(nil), train.Config{MaxSteps: 2})
	wantError(t, short.Load(0, data), fault.ErrUnsupported, "steps", "3")

	b, buf := begun(t, counter(nil), train.Config{})
	buf.Choices[0] = 1
	if err := b.Step(buf); err != nil {
		t.Fatal(err)
	}
	over, err := b.Save(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	same, _ := begun(t, counter(nil), train.Config{Autoreset: train.SameStep})
	wantError(t, same.Load(0, over), fault.ErrUnsupported, "SameStep")
	next, nextBuf := begun(t, counter(nil), train.Config{Seed: 77})
	if err := next.Load(0, over); err != nil {
		t.Fatal(err)
	}
	if err := next.Step(nextBuf); err != nil || nextBuf.Obs[0] != firstObs(0, 0, 1) {
		t.Errorf("behind the end %v, %v", nextBuf.Obs, err)
	}

	raw, err := train.New(counter(nil), train.Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = raw.Save(0, nil)
	wantError(t, err, fault.ErrStale)
	if err := raw.Load(0, data); err != nil {
		t.Errorf("into a world that has not begun: %v", err)
	}
}

// Whatever the number of steps: a world that Load has accepted is saved, and what Save has written is loaded, as long as
// nothing limits the steps of an episode.
func TestLoadAnyStep(t *testing.T) {
	data := saved(t)
	def := counter(nil)
	def.MaxSteps = 7
	for _, cfg := range []train.Config{{MaxSteps: train.NoLimit}, {MaxSteps: 1 << 30}} {
		b, buf := begun(t, def, cfg)
		for _, steps := range []uint64{0, 6, 7, 1<<30 - 2, 1<<30 - 1, 1 << 30, 1<<31 - 1, 1 << 31, 1 << 32, 1 << 53, 1<<63 - 3, 1<<63 - 2, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
			forged := slices.Clone(data)
			binary.LittleEndian.PutUint64(forged[12+4+3*8:], steps)
			reseal(forged)
			most := uint64(1<<63 - 1)
			if cfg.MaxSteps > 0 {
				most = uint64(cfg.MaxSteps)
			}
			err := b.Load(0, forged)
			if (err == nil) != (steps < most) {
				t.Errorf("MaxSteps %d: a running episode after %d steps: %v", cfg.MaxSteps, steps, err)
			}
			if err != nil {
				wantError(t, err, fault.ErrUnsupported, "steps")
				continue
			}
			if err := b.Step(buf); err != nil {
				t.Fatal(err)
			}
			if want := steps+1 == most; buf.Truncated[0] != want {
				t.Errorf("MaxSteps %d, step %d: truncated %v", cfg.MaxSteps, steps+1, buf.Truncated[0])
			}
			again, err := b.Save(0, nil)
			if err == nil {
				err = b.Load(0, again)
			}
			if err != nil {
				t.Errorf("MaxSteps %d: saved after %d steps: %v", cfg.MaxSteps, steps+1, err)
			}
		}
	}
	b, buf := begun(t, def, train.Config{MaxSteps: train.NoLimit})
	for range 50 {
		if err := b.Step(buf); err != nil || buf.Truncated[0] {
			t.Fatalf("truncated %v, %v", buf.Truncated[0], err)
		}
	}
}

// reseal corrects the checksums, so that the code after their check is tested.
func reseal(data []byte) {
	table := crc32.MakeTable(crc32.Castagnoli)
	at, crc, from := 12, uint32(0), 0
	for at+8 <= len(data) {
		n := uint64(binary.LittleEndian.Uint32(data[at:]))
		if n > uint64(len(data)-at-8) {
			return
		}
		end := at + 4 + int(n)
		crc = crc32.Update(crc, table, data[from:end])
		binary.LittleEndian.PutUint32(data[end:], crc)
		from, at = end, end+4
	}
}

// FuzzLoad loads any bytes: they are refused with the world as it was, or make a world that is saved
// as the same bytes and can be stepped.
func FuzzLoad(f *testing.F) {
	data := saved(f)
	f.Add(data, false)
	f.Add(data, true)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		b, buf := begun(t, counter(nil), train.Config{Seed: 1})
		was := b.Hash(0)
		data = slices.Clone(data)
		if sealed {
			reseal(data)
		}
		if err := b.Load(0, data); err != nil {
			if b.Hash(0) != was {
				t.Errorf("refused with %v, and changed", err)
			}
			return
		}
		if again, err := b.Save(0, nil); err != nil || !slices.Equal(again, data) {
			t.Errorf("saved again %x, %v, loaded %x", again, err, data)
		}
		if err := b.Step(buf); err != nil {
			t.Error(err)
		}
	})
}
