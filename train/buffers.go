package train

import (
	"cmp"
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

// Buffers belong to the caller, which may pass the same ones each time: a Batch reads and
// writes them during a call and keeps none. World i has row i of each; with n agents world i has the rows
// from i*n to i*n+n-1, a row for each agent. Rows follow each other without a gap, in slices of exactly that
// length, unless a stride says otherwise.
type Buffers struct {
	// Obs or ObsUint8, depending on the space, has the observations.
	Obs      []float32
	ObsUint8 []uint8
	// Actions or Choices, depending on the space, has the actions. Step only.
	Actions []float32
	Choices []int32
	// Reward of the step. Step only, as all that follows.
	Reward []float32
	// Terminated says that the step has ended the episode, Truncated that its time is up.
	Terminated, Truncated []bool
	// Final says that FinalObs or FinalObsUint8 has a row of the world: the last observation
	// of the ended episode, where Obs has the first one of the next. SameStep only;
	// the other modes do not use them, and they may be nil.
	FinalObs      []float32
	FinalObsUint8 []uint8
	Final         []bool
	// Mask, if not nil, gets for each choice whether it makes sense; worlds accept the others,
	// too. All true for worlds without masks. Reset fills it as well.
	Mask []bool
	// FinalMask, if not nil, gets the mask that belongs to FinalObs, in the same rows. SameStep only.
	FinalMask []bool
	// Live, if not nil, gets for each row whether it takes part in the next step: an agent until it has ended.
	// Reset fills it as well.
	Live []bool

	// Strides are distances from row to row, in numbers, at least the length of a row.
	// 0: the length of a row.
	ObsStride, ActionStride, FinalStride, MaskStride, FinalMaskStride int
}

// shape has the required sizes of buffers.
type shape struct {
	rows, obs, action, mask int
	choices                 []int // of each number of an action
	obsKind, actionKind     Kind
	final                   bool // Final and FinalObs are needed
}

// check compares the lengths of all buffers that a call needs.
func (b *Buffers) check(s *shape, call string, step bool) error {
	if err := s.checkObs(call, "Obs", b.Obs, b.ObsUint8, b.ObsStride); err != nil {
		return err
	}
	if b.Live != nil {
		if err := length(call, "Live", len(b.Live), s.rows, 1, 0); err != nil {
			return err
		}
	}
	if err := s.checkMask(call, "Mask", b.Mask, b.MaskStride); err != nil {
		return err
	}
	if !step {
		return nil
	}
	return b.checkStep(s, call)
}

func (s *shape) checkMask(call, name string, mask []bool, stride int) error {
	if mask == nil {
		return nil
	}
	if s.mask == 0 {
		return fault.Field(fault.ErrUnsupported, "train: "+call+": Buffers."+name+" of a space without choices, length", len(mask))
	}
	return length(call, name, len(mask), s.rows, s.mask, stride)
}

func (s *shape) checkObs(call, name string, f []float32, u []uint8, stride int) error {
	n := len(f)
	if s.obsKind == Uint8 {
		name, n = name+"Uint8", len(u)
	}
	return length(call, name, n, s.rows, s.obs, stride)
}

func (b *Buffers) checkStep(s *shape, call string) error {
	var err error
	if s.actionKind == Int32 {
		err = length(call, "Choices", len(b.Choices), s.rows, s.action, b.ActionStride)
	} else {
		err = length(call, "Actions", len(b.Actions), s.rows, s.action, b.ActionStride)
	}
	for _, f := range [...]struct {
		name string
		n    int
	}{{"Reward", len(b.Reward)}, {"Terminated", len(b.Terminated)}, {"Truncated", len(b.Truncated)}} {
		if err == nil {
			err = length(call, f.name, f.n, s.rows, 1, 0)
		}
	}
	if err != nil || !s.final {
		return err
	}
	if err := length(call, "Final", len(b.Final), s.rows, 1, 0); err != nil {
		return err
	}
	if err := s.checkMask(call, "FinalMask", b.FinalMask, b.FinalMaskStride); err != nil {
		return err
	}
	return s.checkObs(call, "FinalObs", b.FinalObs, b.FinalObsUint8, b.FinalStride)
}

// length checks the length and the stride of one buffer.
func length(call, name string, n, rows, row, stride int) error {
	switch {
	case stride == 0:
		if n != rows*row {
			return fmt.Errorf("%w, wants %d: %d for each of %d rows", fault.Field(fault.ErrRange, "train: "+call+": length of Buffers."+name, n), rows*row, row, rows)
		}
	case stride < row || stride > maxRow:
		return fmt.Errorf("%w, a row has %d", fault.Field(fault.ErrRange, "train: "+call+": stride of Buffers."+name, stride), row)
	case n < (rows-1)*stride+row:
		return fmt.Errorf("%w, wants %d at least: a row of %d in every %d for %d rows", fault.Field(fault.ErrRange, "train: "+call+": length of Buffers."+name, n), (rows-1)*stride+row, row, stride, rows)
	}
	return nil
}

// rowOf returns row i of one of two slices.
func rowOf(f []float32, u []uint8, kind Kind, i, size, stride int) Row {
	if stride == 0 { // not cmp.Or: it runs for each world in each step
		stride = size
	}
	if kind == Uint8 {
		return Row{Uint8: u[i*stride:][:size:size]}
	}
	return Row{Float32: f[i*stride:][:size:size]}
}

// actions returns the actions, for worlds.
func (b *Buffers) actions(s *shape) Actions {
	return Actions{floats: b.Actions, choices: b.Choices, size: s.action, stride: cmp.Or(b.ActionStride, s.action)}
}

// NewBuffers returns buffers of the right lengths, without gaps, with masks if actions are choices, and with
// Live if worlds have several agents.
func (b *Batch) NewBuffers() *Buffers {
	s := &b.shape
	n := s.rows
	buf := &Buffers{Reward: make([]float32, n), Terminated: make([]bool, n), Truncated: make([]bool, n), Final: make([]bool, n)}
	if s.obsKind == Uint8 {
		buf.ObsUint8 = make([]uint8, n*s.obs)
		buf.FinalObsUint8 = make([]uint8, n*s.obs)
	} else {
		buf.Obs = make([]float32, n*s.obs)
		buf.FinalObs = make([]float32, n*s.obs)
	}
	if s.actionKind == Int32 {
		buf.Choices = make([]int32, n*s.action)
		buf.Mask, buf.FinalMask = make([]bool, n*s.mask), make([]bool, n*s.mask)
	} else {
		buf.Actions = make([]float32, n*s.action)
	}
	if b.live != nil {
		buf.Live = make([]bool, n)
	}
	return buf
}
