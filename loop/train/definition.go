package train

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
)

// Kind is the type of the numbers of a Space.
type Kind uint8

const (
	Float32 Kind = iota // a box: each number from Low to High
	Uint8               // a box of bytes, for observations
	Int32               // a choice from 0 to Choices-1, for actions
)

// String returns the name of the type as Go and NumPy have it.
func (k Kind) String() string { return enum.Name([]string{"float32", "uint8", "int32"}, k, "Kind") }

// Space is what the observation or the action of one world looks like.
type Space struct {
	Kind Kind
	// Shape of a box, row by row as NumPy has it; empty for a choice.
	Shape []int
	// Low and High bound each number of a box of float32; infinite: no bound. What a
	// world observes beyond is no error, what it is told to do is.
	Low, High []float32
	// Choices is how many there are.
	Choices int
}

// Box returns the space of vectors of n numbers from low to high.
func Box(n int, low, high float32) Space {
	return Space{Kind: Float32, Shape: []int{n}, Low: slices.Repeat([]float32{low}, n), High: slices.Repeat([]float32{high}, n)}
}

// Bytes returns the space of bytes in a shape, as of an image.
func Bytes(shape ...int) Space { return Space{Kind: Uint8, Shape: shape} }

// Choice returns the space of n choices.
func Choice(n int) Space { return Space{Kind: Int32, Choices: n} }

// maxRow bounds the numbers of one row, so that sizes of buffers do not overflow.
const maxRow = 1 << 24

// Size returns how many numbers stand for one world: 1 for a choice.
func (s Space) Size() int {
	if s.Kind == Int32 {
		return 1
	}
	n := 1
	for _, d := range s.Shape {
		if d < 1 || d > maxRow || n > maxRow {
			return 0
		}
		n *= d
	}
	return n
}

func (s Space) check(field string, kinds ...Kind) error {
	if !slices.Contains(kinds, s.Kind) {
		return fault.Field(fault.ErrUnsupported, field+".Kind", s.Kind)
	}
	if s.Kind == Int32 {
		if s.Choices < 1 || s.Choices > maxRow {
			return fault.Field(fault.ErrRange, field+".Choices", s.Choices)
		}
		return nil
	}
	n := s.Size()
	if len(s.Shape) == 0 || n < 1 || n > maxRow {
		return fault.Field(fault.ErrRange, field+".Shape", s.Shape)
	}
	if s.Kind != Float32 {
		return nil
	}
	if len(s.Low) != n || len(s.High) != n {
		return fault.Field(fault.ErrRange, field+": bounds for the numbers", fmt.Sprintf("%d, %d for %d", len(s.Low), len(s.High), n))
	}
	for i := range n {
		if !(s.Low[i] <= s.High[i]) {
			return fault.Element(fault.ErrRange, field+".Low, High", i, fmt.Sprint(s.Low[i], ", ", s.High[i]))
		}
	}
	return nil
}

// Row is where the numbers of one world stand: in the slice that the Kind of the space
// names; the other is nil.
type Row struct {
	Float32 []float32
	Uint8   []uint8
}

// Actions tell worlds what to do. They were checked: each number is within its space.
type Actions struct {
	floats  []float32
	choices []int32
	size    int
	stride  int
}

// Row returns the numbers that world i is told, of a space of Float32.
func (a *Actions) Row(i int) []float32 { return a.floats[i*a.stride:][:a.size:a.size] }

// Choice returns what world i is told, of a space of Int32.
func (a *Actions) Choice(i int) int32 { return a.choices[i*a.stride] }

// Outcomes is what a step has led to, by world.
type Outcomes struct {
	Reward     []float32
	Terminated []bool
	// Skip marks the worlds that have not to be stepped: nothing of them may change,
	// not here either.
	Skip []bool
}

// Worlds are some number of worlds side by side: in columns, where the same few
// instructions step one after the other, or as a list of objects. A Batch numbers them from
// 0; it checks what comes in, counts steps and begins episodes. Different worlds are called
// upon by several goroutines at once, the same by one at a time. What a world does depends
// on the seeds and actions that it was given and on nothing else.
type Worlds interface {
	// Begin puts world i at the start of the episode of this seed, whatever it was in.
	Begin(i int, seed uint64) error
	// Step advances the worlds from lo to hi-1 that are not to be skipped, and says in
	// out what of. An error names the world; that one has failed until it begins anew, and
	// those behind it are in no defined state.
	Step(lo, hi int, in *Actions, out *Outcomes) error
	// Observe writes all numbers of what world i shows.
	Observe(i int, row Row)
	// Hash returns a hash of all that decides what world i will do.
	Hash(i int) uint64
	// AppendState appends that, and RestoreState takes it back, in world i or any other
	// of the same definition; with an error nothing has changed.
	AppendState(i int, dst []byte) ([]byte, error)
	RestoreState(i int, src []byte) error
}

// Masker is implemented by Worlds of a space of choices that know which of them are of use.
type Masker interface {
	// Mask writes for each choice whether it is of use in world i.
	Mask(i int, of []bool)
}

// Exporter is implemented by Worlds that can write an episode into a log. See
// Batch.Export.
type Exporter interface {
	Export(i int, dir string) (Exported, error)
}

// Definition of a kind of worlds.
type Definition struct {
	// Name tells definitions apart: 1 to 64 bytes of UTF-8. It stands in what Save writes.
	Name string
	// Obs is what a world shows, of Float32 or Uint8, and Action what it is told, of Float32
	// or Int32.
	Obs, Action Space
	// MaxSteps truncates an episode after so many steps. 0: never.
	MaxSteps int
	// Chunk is the number of worlds that a worker takes at a time: some microseconds of
	// work. Results do not depend on it. 0: 64.
	Chunk int
	// New returns n worlds. Recording says that Export will be asked for.
	New func(n int, recording bool) (Worlds, error)
}

// Validate reports every fault of the definition at once.
func (d *Definition) Validate() error {
	var errs []error
	if d.Name == "" || len(d.Name) > 64 || !utf8.ValidString(d.Name) {
		errs = append(errs, fault.Field(fault.ErrRange, "train: Definition.Name", fmt.Sprintf("%.80q", d.Name)))
	}
	errs = append(errs,
		d.Obs.check("train: Definition.Obs", Float32, Uint8),
		d.Action.check("train: Definition.Action", Float32, Int32))
	if d.MaxSteps < 0 || d.MaxSteps > maxSteps {
		errs = append(errs, fault.Field(fault.ErrRange, "train: Definition.MaxSteps", d.MaxSteps))
	}
	if d.Chunk < 0 {
		errs = append(errs, fault.Field(fault.ErrRange, "train: Definition.Chunk", d.Chunk))
	}
	if d.New == nil {
		errs = append(errs, fault.Field(fault.ErrRange, "train: Definition.New", "nil"))
	}
	return errors.Join(errs...)
}
