package train

import (
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
)

// Kind is the type of the numbers of a Space.
type Kind uint8

const (
	Float32 Kind = iota // a box: each number from Low to High
	Uint8               // a box of bytes, for observations
	Int32               // choices, each from 0 to one less than their number, for actions
)

// String returns the name of the type as Go and NumPy have it.
func (k Kind) String() string { return enum.Name([]string{"float32", "uint8", "int32"}, k, "Kind") }

// Space is what one observation or one action looks like: a row of numbers of one Kind. Box, Bytes,
// Choice, Choices and Dict return spaces.
type Space struct {
	Kind Kind
	// Shape of a box, row by row as NumPy has it; empty for choices.
	Shape []int
	// Low and High bound each number of a box of float32; infinite: no bound. Actions beyond the
	// bounds are errors, observations are not.
	Low, High []float32
	// Choices is the number of choices of an action that is one number.
	Choices int
	// Each has the number of choices of each number of the action instead, as Gymnasium's MultiDiscrete.
	Each []int
	// Parts names the parts of the row, one after the other, as Gymnasium's Dict. Empty: it has none.
	Parts []Part
}

// Part of a Space of Dict. Its own space has no parts.
type Part struct {
	Name  string // 1 to 64 bytes of UTF-8 without control characters
	Space Space
}

// Box returns the space of vectors of n numbers from low to high.
func Box(n int, low, high float32) Space {
	return Space{Kind: Float32, Shape: []int{n}, Low: slices.Repeat([]float32{low}, n), High: slices.Repeat([]float32{high}, n)}
}

// Bytes returns the space of bytes in a shape, say of an image.
func Bytes(shape ...int) Space { return Space{Kind: Uint8, Shape: shape} }

// Choice returns the space of n choices.
func Choice(n int) Space { return Space{Kind: Int32, Choices: n} }

// Choices returns the space of several choices at once: number k from 0 to each[k]-1.
func Choices(each ...int) Space { return Space{Kind: Int32, Each: each} }

// Dict returns the space of rows that have named parts, one after the other, all of one Kind. Definition.Validate
// refuses others.
func Dict(parts ...Part) Space {
	s := Space{Parts: parts}
	size := 0
	for _, p := range parts {
		s.Kind = p.Space.Kind
		s.Low, s.High = append(s.Low, p.Space.Low...), append(s.High, p.Space.High...)
		s.Each = append(s.Each, p.Space.choices()...)
		size += p.Space.Size()
	}
	if s.Kind != Int32 {
		s.Shape = []int{size}
	}
	return s
}

// maxRow bounds the numbers of one row, so that sizes of buffers do not overflow.
const maxRow = 1 << 24

// Size returns the number of numbers of a row: 1 for a choice.
func (s Space) Size() int {
	if s.Kind == Int32 {
		return max(1, len(s.Each))
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

// choices returns the number of choices of each number.
func (s Space) choices() []int {
	if s.Kind != Int32 || s.Each != nil {
		return s.Each
	}
	return []int{s.Choices}
}

// MaskSize returns the length of a row of masks: the sum of all choices, 0 without choices.
func (s Space) MaskSize() (n int) {
	for _, c := range s.choices() {
		n += c
	}
	return n
}

func (s Space) check(field string, kinds ...Kind) error {
	if !slices.Contains(kinds, s.Kind) {
		return fault.Field(fault.ErrUnsupported, field+".Kind", s.Kind)
	}
	if s.Parts != nil {
		if err := s.checkParts(field); err != nil {
			return err
		}
	}
	switch s.Kind {
	case Int32:
		return s.checkChoices(field)
	case Float32:
		return s.checkBounds(field)
	}
	return s.checkShape(field)
}

func (s Space) checkShape(field string) error {
	if n := s.Size(); len(s.Shape) == 0 || n < 1 || n > maxRow {
		return fault.Field(fault.ErrRange, field+".Shape", s.Shape)
	}
	return nil
}

func (s Space) checkBounds(field string) error {
	if err := s.checkShape(field); err != nil {
		return err
	}
	n := s.Size()
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

func (s Space) checkChoices(field string) error {
	if s.Each == nil {
		if s.Choices < 1 || s.Choices > maxRow {
			return fault.Field(fault.ErrRange, field+".Choices", s.Choices)
		}
		return nil
	}
	if s.Choices != 0 {
		return fault.Field(fault.ErrRange, field+".Choices beside Each", s.Choices)
	}
	if len(s.Each) == 0 {
		return fault.Field(fault.ErrRange, field+": length of Each", 0)
	}
	sum := 0
	for i, n := range s.Each {
		if sum += n; n < 1 || n > maxRow || sum > maxRow {
			return fault.Element(fault.ErrRange, field+".Each", i, n)
		}
	}
	return nil
}

// checkParts checks that the space is the one that Dict returns for its parts.
func (s Space) checkParts(field string) error {
	names := make([]string, len(s.Parts))
	for i, p := range s.Parts {
		at := fmt.Sprintf("%s.Parts[%d]", field, i)
		if !validName(p.Name) || slices.Contains(names, p.Name) {
			return fault.Field(fault.ErrRange, at+".Name", fmt.Sprintf("%.80q", p.Name))
		}
		if p.Space.Parts != nil {
			return fault.Field(fault.ErrUnsupported, at+": length of its Parts", len(p.Space.Parts))
		}
		if err := p.Space.check(at, s.Kind); err != nil {
			return err
		}
		names[i] = p.Name
	}
	want := Dict(s.Parts...)
	if s.Kind != want.Kind || s.Choices != 0 || !slices.Equal(s.Shape, want.Shape) || !slices.Equal(s.Low, want.Low) ||
		!slices.Equal(s.High, want.High) || !slices.Equal(s.Each, want.Each) {
		return fault.Field(fault.ErrRange, field+": shape, bounds or choices do not follow from the Parts, numbers", s.Size())
	}
	return nil
}
