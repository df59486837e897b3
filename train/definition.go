package train

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

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

// Row returns the action of row i, in a space of Float32.
func (a *Actions) Row(i int) []float32 { return a.floats[i*a.stride:][:a.size:a.size] }

// Choice returns the action of row i, in a space of Int32: the first of several.
func (a *Actions) Choice(i int) int32 { return a.choices[i*a.stride] }

// Choices returns the action of row i, in a space of Int32.
func (a *Actions) Choices(i int) []int32 { return a.choices[i*a.stride:][:a.size:a.size] }

// Outcomes are the results of a step, by row.
type Outcomes struct {
	Reward     []float32
	Terminated []bool
	// Skip marks the rows that are not stepped: their state and their outcomes must not change. A world
	// with agents is skipped if all of its rows are; an agent is skipped after it has ended.
	Skip []bool
}

// Worlds are some number of worlds: in columns, which the same few instructions process world after
// world, or as a list of objects. A Batch numbers them from 0, checks actions, counts steps and begins
// episodes. Several goroutines may call different worlds at once, but each world only one at a time. A
// world must depend only on its seeds and actions.
//
// Row i of actions, outcomes, observations and masks belongs to world i. With Definition.Agents it belongs
// to agent i % n of world i / n, where n is the number of agents.
type Worlds interface {
	// Begin begins the episode of this seed in world i, whatever its state.
	Begin(i int, seed uint64) error
	// Step advances the worlds from lo to hi-1 that out.Skip does not mark, and writes the
	// outcomes. An error names the world; this world has failed until it begins again, and
	// the state of those after it is undefined.
	Step(lo, hi int, in *Actions, out *Outcomes) error
	// Observe writes the whole observation of row i, of an agent that has ended as well.
	Observe(i int, row Row)
	// Hash returns a hash of the state of world i.
	Hash(i int) uint64
	// AppendState appends the state, and RestoreState restores it, in world i or any other
	// of the same definition; after an error nothing has changed.
	AppendState(i int, dst []byte) ([]byte, error)
	RestoreState(i int, src []byte) error
}

// Rows are the rows of all worlds in the slice that the Kind of the space names. The row of world i begins at i*Stride.
type Rows struct {
	Float32 []float32
	Uint8   []uint8
	Stride  int
}

// RangeObserver is implemented by Worlds that write many observations in less time than one by one.
type RangeObserver interface {
	// ObserveRange writes what Observe writes, for the worlds from lo to hi-1.
	ObserveRange(lo, hi int, rows Rows)
}

// Masker is implemented by Worlds of a space of choices that know which choices make sense. New refuses Worlds that have a
// method with such a name and not this one: all choices would make sense, silently.
type Masker interface {
	// Mask writes for each choice whether it makes sense for row i; the choices of the
	// numbers of an action follow each other.
	Mask(i int, of []bool)
}

// Exporter is implemented by Worlds that can write an episode into a log. See
// Batch.Export.
type Exporter interface {
	Export(i int, dir string) (Exported, error)
}

// Definition of a kind of worlds.
type Definition struct {
	// Name identifies the definition: 1 to 64 bytes of UTF-8 without control characters. Save writes it.
	Name string
	// Obs is the space of observations, of Float32 or Uint8, and Action that of actions, of Float32
	// or Int32.
	Obs, Action Space
	// Agents has the name of each agent, if a world has several: each has rows of its own, with the
	// spaces above. Empty: one agent without a name.
	Agents []string
	// MaxSteps truncates an episode after so many steps. 0: never.
	MaxSteps int
	// Chunk is the number of worlds that a worker takes at a time: some microseconds of
	// work. Results do not depend on it. 0: 64.
	Chunk int
	// View is the part of the plane that pictures of a world show, in metres. Zero: all of
	// a world, or what moves in it, whatever that is in the moment of the picture.
	View physics.DrawnBox
	// Rate is the number of steps in a second of the time of a world, for films of it. 0: 60.
	Rate float64
	// New returns n worlds. They must be Exporters if recording is true.
	New func(n int, recording bool) (Worlds, error)
}

// Validate reports every fault of the definition at once.
func (d *Definition) Validate() error {
	f := fault.List{Package: "train"}
	if !validName(d.Name) {
		f.Add(fault.ErrRange, "Definition.Name", fmt.Sprintf("%.80q", d.Name))
	}
	f.Join(d.Obs.check("train: Definition.Obs", Float32, Uint8), d.Action.check("train: Definition.Action", Float32, Int32))
	f.Join(checkAgents(d.Agents))
	f.Range("Definition.MaxSteps", d.MaxSteps, 0, maxSteps)
	f.Range("Definition.Chunk", d.Chunk, 0, math.MaxInt)
	if d.View != (physics.DrawnBox{}) {
		f.Join(d.View.Validate("train: Definition.View"))
	}
	if !(d.Rate >= 0 && d.Rate <= maxRate) {
		f.Add(fault.ErrRange, "Definition.Rate", d.Rate)
	}
	if d.New == nil {
		f.Add(fault.ErrRange, "Definition.New", "nil")
	}
	return f.Err()
}

// validName reports whether a name can stand in a list with a name on each line.
func validName(name string) bool {
	return name != "" && len(name) <= maxName && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// checkMaskMethod refuses worlds or a game of choices without masks whose method set has a name under which one would
// look for them. Each name is a constant where reflect sees it, so that linkers go on to drop other methods.
func checkMaskMethod(v any, masks bool, kind Kind, want string) error {
	if masks || kind != Int32 || v == nil {
		return nil
	}
	t := reflect.TypeOf(v)
	_, mask := t.MethodByName("Mask")
	_, maskOf := t.MethodByName("MaskOf")
	_, all := t.MethodByName("Masks")
	_, allOf := t.MethodByName("MasksOf")
	_, action := t.MethodByName("ActionMask")
	_, actions := t.MethodByName("ActionMasks")
	for i, has := range [...]bool{mask, maskOf, all, allOf, action, actions} {
		if has {
			name := [...]string{"Mask", "MaskOf", "Masks", "MasksOf", "ActionMask", "ActionMasks"}[i]
			return fmt.Errorf("%w: masks are written by %s", fault.Field(fault.ErrUnsupported, fmt.Sprintf("method of %v", t), name), want)
		}
	}
	return nil
}

const (
	maxName   = 64
	maxAgents = 1 << 10
	maxRate   = 1e6
)

func checkAgents(names []string) error {
	if len(names) > maxAgents {
		return fault.Field(fault.ErrRange, "train: length of Definition.Agents", len(names))
	}
	for i, name := range names {
		if !validName(name) || slices.Contains(names[:i], name) {
			return fault.Element(fault.ErrRange, "train: Definition.Agents", i, fmt.Sprintf("%.80q", name))
		}
	}
	return nil
}
