package state

import (
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/statehash"
)

// Part is one kind of state of a world W. I is the image of a snapshot: what Check has read. A function may be nil.
type Part[W, I any] struct {
	// Name is that of the frame, in errors.
	Name string
	// Encode appends the content of the frame. Equal states give equal bytes.
	Encode func(w *W, e *frame.Encoder)
	// Check reads the content of a frame into the image. It may use what parts before this one have read.
	Check func(im *I, content []byte) error
	// Restore replaces the part by that of the image. nil: another part does.
	Restore func(w *W, im *I)
	// Copy replaces the part by that of another world. nil: another part does.
	Copy func(w, src *W)
	// Hash appends the hashes of the part. nil: there are none.
	Hash func(w *W, dst []statehash.Column) []statehash.Column
}

// Parts are all parts of the state, in the order of their frames in a snapshot.
type Parts[W, I any] []Part[W, I]

// Encode appends a frame for each part.
func (p Parts[W, I]) Encode(w *W, e *frame.Encoder) {
	for i := range p {
		at := e.Start()
		p[i].Encode(w, e)
		e.Finish(at)
	}
}

// Check reads the frames of all parts, up to the end of the snapshot.
func (p Parts[W, I]) Check(im *I, d *frame.Decoder) error {
	for i := range p {
		content, err := d.Next(p[i].Name)
		if err == nil {
			err = p[i].Check(im, content)
		}
		if err != nil {
			return err
		}
	}
	return d.Done()
}

// Restore replaces the state by that of an image.
func (p Parts[W, I]) Restore(w *W, im *I) {
	for i := range p {
		if restore := p[i].Restore; restore != nil {
			restore(w, im)
		}
	}
}

// Copy replaces the state by that of another world.
func (p Parts[W, I]) Copy(w, src *W) {
	for i := range p {
		if copy := p[i].Copy; copy != nil {
			copy(w, src)
		}
	}
}

// Hash appends the hashes of the parts.
func (p Parts[W, I]) Hash(w *W, dst []statehash.Column) []statehash.Column {
	for i := range p {
		dst = p[i].Hash(w, dst)
	}
	return dst
}

// Hashed returns the parts that have hashes in the order of the hashes, which are folded in that order. It panics unless
// names are those of these parts.
func (p Parts[W, I]) Hashed(names ...string) Parts[W, I] {
	var hashed Parts[W, I]
	for _, name := range names {
		for i := range p {
			if p[i].Name == name && p[i].Hash != nil {
				hashed = append(hashed, p[i])
			}
		}
	}
	n := 0
	for i := range p {
		if p[i].Hash != nil {
			n++
		}
	}
	if len(hashed) != len(names) || n != len(names) {
		panic("state: a part with hashes is left out, or a name is unknown")
	}
	return hashed
}
