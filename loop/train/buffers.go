package train

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

// Buffers belong to the caller, who may give the same ones each time: a Batch reads and
// writes them during a call and keeps none. World i has row i of each. Rows follow each other
// without a gap, in slices of exactly that length, unless a stride says otherwise.
type Buffers struct {
	// Obs or ObsUint8, as the space says, is what worlds show.
	Obs      []float32
	ObsUint8 []uint8
	// Actions or Choices, as the space says, is what worlds are told. Step only.
	Actions []float32
	Choices []int32
	// Reward is what the step has earned. Step only, as all that follows.
	Reward []float32
	// Terminated says that the step has led to an end, Truncated that time is up.
	Terminated, Truncated []bool
	// Final says that FinalObs or FinalObsUint8 has a row of the world: what it showed
	// at the end of the episode, where Obs has what the next begins with. SameStep only;
	// the other modes leave FinalObs as it is, and want neither.
	FinalObs      []float32
	FinalObsUint8 []uint8
	Final         []bool
	// Mask, if not nil, gets for each choice whether it is of use: of others worlds know
	// what to make, too. All true if they have no opinion. Reset fills it as well.
	Mask []bool

	// Strides are distances from row to row, in numbers, at least the length of a row.
	// 0: that.
	ObsStride, ActionStride, FinalStride, MaskStride int
}

// shape is what buffers have to look like.
type shape struct {
	worlds, obs, action, choices int
	obsKind, actionKind          Kind
	final                        bool // obs are asked for
}

// check compares the lengths of all that a call needs.
func (b *Buffers) check(s *shape, call string, step bool) error {
	if err := b.checkObs(s, call); err != nil {
		return err
	}
	if s.choices > 0 && b.Mask != nil {
		if err := length(call, "Mask", len(b.Mask), s.worlds, s.choices, b.MaskStride); err != nil {
			return err
		}
	} else if b.Mask != nil {
		return fault.Field(fault.ErrUnsupported, "train: "+call+": Buffers.Mask of a space without choices, length", len(b.Mask))
	}
	if !step {
		return nil
	}
	return b.checkStep(s, call)
}

func (b *Buffers) checkObs(s *shape, call string) error {
	if s.obsKind == Uint8 {
		return length(call, "ObsUint8", len(b.ObsUint8), s.worlds, s.obs, b.ObsStride)
	}
	return length(call, "Obs", len(b.Obs), s.worlds, s.obs, b.ObsStride)
}

func (b *Buffers) checkStep(s *shape, call string) error {
	var err error
	if s.actionKind == Int32 {
		err = length(call, "Choices", len(b.Choices), s.worlds, 1, b.ActionStride)
	} else {
		err = length(call, "Actions", len(b.Actions), s.worlds, s.action, b.ActionStride)
	}
	for _, f := range [...]struct {
		name string
		n    int
	}{{"Reward", len(b.Reward)}, {"Terminated", len(b.Terminated)}, {"Truncated", len(b.Truncated)}} {
		if err == nil {
			err = length(call, f.name, f.n, s.worlds, 1, 0)
		}
	}
	if err != nil || !s.final {
		return err
	}
	if err := length(call, "Final", len(b.Final), s.worlds, 1, 0); err != nil {
		return err
	}
	if s.obsKind == Uint8 {
		return length(call, "FinalObsUint8", len(b.FinalObsUint8), s.worlds, s.obs, b.FinalStride)
	}
	return length(call, "FinalObs", len(b.FinalObs), s.worlds, s.obs, b.FinalStride)
}

// length compares that of one buffer.
func length(call, name string, n, worlds, row, stride int) error {
	switch {
	case stride == 0:
		if n != worlds*row {
			return fmt.Errorf("%w, wants %d: %d for each of %d worlds", fault.Field(fault.ErrRange, "train: "+call+": length of Buffers."+name, n), worlds*row, row, worlds)
		}
	case stride < row || stride > maxRow:
		return fmt.Errorf("%w, a row has %d", fault.Field(fault.ErrRange, "train: "+call+": stride of Buffers."+name, stride), row)
	case n < (worlds-1)*stride+row:
		return fmt.Errorf("%w, wants %d at least: a row of %d in every %d for %d worlds", fault.Field(fault.ErrRange, "train: "+call+": length of Buffers."+name, n), (worlds-1)*stride+row, row, stride, worlds)
	}
	return nil
}

// rowOf returns the row of world i of one of two slices.
func rowOf(f []float32, u []uint8, kind Kind, i, size, stride int) Row {
	if stride == 0 {
		stride = size
	}
	if kind == Uint8 {
		return Row{Uint8: u[i*stride:][:size:size]}
	}
	return Row{Float32: f[i*stride:][:size:size]}
}

// actions returns the actions, for worlds.
func (b *Buffers) actions(s *shape) Actions {
	a := Actions{floats: b.Actions, choices: b.Choices, size: s.action, stride: b.ActionStride}
	if a.stride == 0 {
		a.stride = a.size
	}
	return a
}

// NewBuffers returns buffers of the right lengths, without gaps, and with a mask if actions
// are choices.
func (b *Batch) NewBuffers() *Buffers {
	s := &b.shape
	n := s.worlds
	buf := &Buffers{Reward: make([]float32, n), Terminated: make([]bool, n), Truncated: make([]bool, n), Final: make([]bool, n)}
	if s.obsKind == Uint8 {
		buf.ObsUint8 = make([]uint8, n*s.obs)
		buf.FinalObsUint8 = make([]uint8, n*s.obs)
	} else {
		buf.Obs = make([]float32, n*s.obs)
		buf.FinalObs = make([]float32, n*s.obs)
	}
	if s.actionKind == Int32 {
		buf.Choices = make([]int32, n)
		buf.Mask = make([]bool, n*s.choices)
	} else {
		buf.Actions = make([]float32, n*s.action)
	}
	return buf
}
