package neighbours_test

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
)

// guard holds the arrays that a kernel sees against guard pages, by name, each
// gap elements away from the page on one side.
type guard struct {
	t    *testing.T
	most int // elements of an array
	side paritytest.Side
	gap  int

	floats map[string]*paritytest.Buffer[float32]
	words  map[string]*paritytest.Buffer[uint32]
}

func newGuard(t *testing.T, most int) *guard {
	return &guard{t: t, most: most, floats: map[string]*paritytest.Buffer[float32]{}, words: map[string]*paritytest.Buffer[uint32]{}}
}

func (g *guard) float(name string) *paritytest.Buffer[float32] {
	if g.floats[name] == nil {
		g.floats[name] = paritytest.NewBuffer[float32](g.t, g.most)
	}
	return g.floats[name]
}

func (g *guard) word(name string) *paritytest.Buffer[uint32] {
	if g.words[name] == nil {
		g.words[name] = paritytest.NewBuffer[uint32](g.t, g.most)
	}
	return g.words[name]
}

// copyFloats and copyWords return guarded copies, and nil for nil.
func (g *guard) copyFloats(name string, s []float32) []float32 {
	if s == nil {
		return nil
	}
	return g.float(name).PlaceCopy(s, g.side, g.gap)
}

func (g *guard) copyWords(name string, s []uint32) []uint32 {
	if s == nil {
		return nil
	}
	return g.word(name).PlaceCopy(s, g.side, g.gap)
}

// blocks returns a guarded copy of blocks, at any multiple of four bytes.
func (g *guard) blocks(of []neighbours.Block) []neighbours.Block {
	const floats = int(unsafe.Sizeof(neighbours.Block{}) / 4)
	mem := g.float("blocks").Place(len(of)*floats, g.side, g.gap)
	placed := unsafe.Slice((*neighbours.Block)(unsafe.Pointer(unsafe.SliceData(mem))), len(of))
	copy(placed, of)
	return placed
}

// live returns a guarded copy of 16-bit words, which stand against the page to
// within two bytes.
func (g *guard) live(of []uint16) []uint16 {
	if of == nil {
		return nil
	}
	pairs := g.word("live").Place((len(of)+1)/2, g.side, 0)
	placed := unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(pairs))), 2*len(pairs))
	if g.side == paritytest.After {
		placed = placed[len(placed)-len(of):]
	}
	placed = placed[:len(of):len(of)]
	copy(placed, of)
	return placed
}

// place puts the slots of rows, and with dist2 their squared distances, into
// guarded memory with exactly the given room, and keeps what they hold up to Fill.
func (g *guard) place(rows *neighbours.Rows, room int, dist2 bool) {
	slots, d2 := slices.Clone(rows.Slots[:rows.Fill]), slices.Clone(rows.Dist2[:min(rows.Fill, len(rows.Dist2))])
	rows.Slots = g.word("out").Place(room, g.side, g.gap)
	copy(rows.Slots, slots)
	if dist2 {
		rows.Dist2 = g.float("dist2").Place(room, g.side, g.gap)
		copy(rows.Dist2, d2)
	}
}

// check returns an error if anything around an array was written to.
func (g *guard) check() error {
	for name, b := range g.floats {
		if err := b.Check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, b := range g.words {
		if err := b.Check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func expectPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	f()
}
