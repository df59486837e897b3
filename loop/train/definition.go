package train

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
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
	// Low and High bound each number of a box of float32; infinite: no bound. Actions beyond the
	// bounds are errors, observations are not.
	Low, High []float32
	// Choices is the number of choices.
	Choices int
}

// Box returns the space of vectors of n numbers from low to high.
func Box(n int, low, high float32) Space {
	return Space{Kind: Float32, Shape: []int{n}, Low: slices.Repeat([]float32{low}, n), High: slices.Repeat([]float32{high}, n)}
}

// Bytes returns the space of bytes in a shape, say of an image.
func Bytes(shape ...int) Space { return Space{Kind: Uint8, Shape: shape} }

// Choice returns the space of n choices.
func Choice(n int) Space { return Space{Kind: Int32, Choices: n} }

// maxRow bounds the numbers of one row, so that sizes of buffers do not overflow.
const maxRow = 1 << 24

// Size returns the number of numbers of one world: 1 for a choice.
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

// Row has the numbers of one world in the slice that the Kind of the space
// names; the other slice is nil.
type Row struct {
	Float32 []float32
	Uint8   []uint8
}

// Actions are the actions of all worlds. They were checked: each number is within its space.
type Actions struct {
	floats  []float32
	choices []int32
	size    int
	stride  int
}

// Row returns the action of world i, in a space of Float32.
func (a *Actions) Row(i int) []float32 { return a.floats[i*a.stride:][:a.size:a.size] }

// Choice returns the action of world i, in a space of Int32.
func (a *Actions) Choice(i int) int32 { return a.choices[i*a.stride] }

// Outcomes are the results of a step, by world.
type Outcomes struct {
	Reward     []float32
	Terminated []bool
	// Skip marks the worlds that are not stepped: their state and their outcomes must not change.
	Skip []bool
}

// Worlds are some number of worlds: in columns, which the same few instructions process world after
// world, or as a list of objects. A Batch numbers them from 0, checks actions, counts steps and begins
// episodes. Several goroutines may call different worlds at once, but each world only one at a time. A
// world must depend only on its seeds and actions.
type Worlds interface {
	// Begin begins the episode of this seed in world i, whatever its state.
	Begin(i int, seed uint64) error
	// Step advances the worlds from lo to hi-1 that out.Skip does not mark, and writes the
	// outcomes. An error names the world; this world has failed until it begins again, and
	// the state of those after it is undefined.
	Step(lo, hi int, in *Actions, out *Outcomes) error
	// Observe writes the whole observation of world i.
	Observe(i int, row Row)
	// Hash returns a hash of the state of world i.
	Hash(i int) uint64
	// AppendState appends the state, and RestoreState restores it, in world i or any other
	// of the same definition; after an error nothing has changed.
	AppendState(i int, dst []byte) ([]byte, error)
	RestoreState(i int, src []byte) error
}

// Masker is implemented by Worlds of a space of choices that know which choices make sense.
type Masker interface {
	// Mask writes for each choice whether it makes sense in world i.
	Mask(i int, of []bool)
}

// Exporter is implemented by Worlds that can write an episode into a log. See
// Batch.Export.
type Exporter interface {
	Export(i int, dir string) (Exported, error)
}

// Definition of a kind of worlds.
type Definition struct {
	// Name identifies the definition: 1 to 64 bytes of UTF-8. Save writes it.
	Name string
	// Obs is the space of observations, of Float32 or Uint8, and Action that of actions, of Float32
	// or Int32.
	Obs, Action Space
	// MaxSteps truncates an episode after so many steps. 0: never.
	MaxSteps int
	// Chunk is the number of worlds that a worker takes at a time: some microseconds of
	// work. Results do not depend on it. 0: 64.
	Chunk int
	// View is the part of the plane that pictures of a world show, in metres. Zero: all of
	// a world, or what moves in it, whatever that is in the moment of the picture.
	View physics.DrawnBox
	// New returns n worlds. They must be Exporters if recording is true.
	New func(n int, recording bool) (Worlds, error)
}

// Validate reports every fault of the definition at once.
func (d *Definition) Validate() error {
	f := fault.List{Package: "train"}
	if d.Name == "" || len(d.Name) > 64 || !utf8.ValidString(d.Name) {
		f.Add(fault.ErrRange, "Definition.Name", fmt.Sprintf("%.80q", d.Name))
	}
	f.Join(d.Obs.check("train: Definition.Obs", Float32, Uint8), d.Action.check("train: Definition.Action", Float32, Int32))
	f.Range("Definition.MaxSteps", d.MaxSteps, 0, maxSteps)
	f.Range("Definition.Chunk", d.Chunk, 0, math.MaxInt)
	if d.View != (physics.DrawnBox{}) {
		f.Join(d.View.Validate("train: Definition.View"))
	}
	if d.New == nil {
		f.Add(fault.ErrRange, "Definition.New", "nil")
	}
	return f.Err()
}
