package inspector

import (
	"encoding/json"
	"math/bits"
	"unsafe"

	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/physics"
)

// encode returns the body of a picture, with the slots or without. Requests share it.
func (f *picture) encode(run string, withSlots bool) []byte {
	e := &f.encoded[0]
	if withSlots {
		e = &f.encoded[1]
	}
	e.once.Do(func() {
		head := f.pictureHead
		head.Run = run
		e.body = f.capture.encode(head, withSlots)
	})
	return e.body
}

// layout collects the sections of a picture, and then writes them.
type layout struct {
	sections []section
	fill     []func(body []byte)
	size     int // of the sections
	space    *spaceHead
}

// add adds a section of n elements that fill writes, unless it is empty.
func add[T uint32 | float32](l *layout, name string, n int, fill func(dst []T)) {
	if n == 0 {
		return
	}
	kind := "f32"
	if _, ok := any(T(0)).(uint32); ok {
		kind = "u32"
	}
	l.sections = append(l.sections, section{name, kind, n, l.size})
	at := l.size
	l.fill = append(l.fill, func(body []byte) {
		b := body[at : at+4*n]
		fill(unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)) // aligned: body is, and at is a multiple of 8
		statehash.Little(b, 4)
	})
	l.size += (4*n + 7) &^ 7
}

// encode writes the head and the sections. Places of sections count from the start of the body, whose
// head has to be written to know where it ends: so the head has room for all their digits.
func (c *capture) encode(head pictureHead, withSlots bool) []byte {
	l := c.layout(withSlots)
	head.Space, head.Forces = l.space, c.headOfForces()
	head.Sections = l.sections
	first := 0 // of the sections in the body
	for {
		for i := range l.sections {
			l.sections[i].At += first
		}
		text, err := json.Marshal(&head)
		if err != nil {
			panic("inspector: head of a frame") // it has strings and whole numbers only
		}
		n := (4+len(text)+7)&^7 - 4
		if 4+n <= first {
			return c.write(l, text, first)
		}
		for i := range l.sections {
			l.sections[i].At -= first
		}
		first = 4 + n + 8*((len(l.sections)+7)/8) // each place may get a digit more
	}
}

// write writes a body whose sections begin at first.
func (c *capture) write(l *layout, head []byte, first int) []byte {
	words := make([]uint64, (first+l.size)/8) // so that the body is aligned
	if len(words) == 0 {
		return nil
	}
	body := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
	n := first - 4
	body[0], body[1], body[2], body[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	for i := copy(body[4:first], head) + 4; i < first; i++ {
		body[i] = ' '
	}
	for _, fill := range l.fill {
		fill(body[first:])
	}
	return body
}

// layout returns the sections of the picture.
func (c *capture) layout(withSlots bool) *layout {
	l := &layout{sections: []section{}} // an array also of an empty world
	n := len(c.x)
	if withSlots {
		add(l, "slots", n, c.fillSlots)
	}
	add(l, "x", n, func(dst []float32) { copy(dst, c.x) })
	add(l, "y", n, func(dst []float32) { copy(dst, c.y) })
	if c.coloured {
		add(l, "by", n, c.fillColours)
	}
	if c.inSpace {
		l.space = c.layoutSpace(l)
		return l
	}
	c.layoutDrawing(l)
	if box := c.extent(); !box.Empty() {
		add(l, "extent", 4, func(dst []float32) {
			copy(dst, []float32{box.Min[0], box.Min[1], box.Max[0], box.Max[1]})
		})
	}
	return l
}

func (c *capture) fillSlots(dst []uint32) {
	k := 0
	for i, word := range c.live {
		for ; word != 0; word &= word - 1 {
			dst[k] = uint32(64*i + bits.TrailingZeros64(word))
			k++
		}
	}
}

func (c *capture) fillColours(dst []float32) {
	k := 0
	for i, word := range c.live {
		for ; word != 0; word &= word - 1 {
			bit := bits.TrailingZeros64(word)
			if len(c.by) > 0 {
				dst[k] = float32(c.by[64*i+bit])
			} else {
				dst[k] = float32(c.tagged[i] >> bit & 1)
			}
			k++
		}
	}
}

// opaque is a colour with full opacity, as 0xRRGGBBAA.
func opaque(c physics.Color) uint32 { return uint32(c)<<8 | 0xff }

func (c *capture) layoutDrawing(l *layout) {
	d := &c.drawing
	add(l, "circles", 5*len(d.Circles), func(dst []float32) {
		for i := range d.Circles {
			s := &d.Circles[i]
			copy(dst[5*i:], []float32{s.Center[0], s.Center[1], s.Radius, s.Axis[0], s.Axis[1]})
		}
	})
	add(l, "circle_colours", len(d.Circles), func(dst []uint32) {
		for i := range d.Circles {
			dst[i] = opaque(d.Circles[i].Color)
		}
	})
	add(l, "polygons", 2*len(d.Polygons), func(dst []uint32) {
		for i := range d.Polygons {
			dst[2*i], dst[2*i+1] = uint32(d.Polygons[i].First), uint32(d.Polygons[i].Count)
		}
	})
	add(l, "polygon_radius", len(d.Polygons), func(dst []float32) {
		for i := range d.Polygons {
			dst[i] = d.Polygons[i].Radius
		}
	})
	add(l, "polygon_colours", len(d.Polygons), func(dst []uint32) {
		for i := range d.Polygons {
			dst[i] = opaque(d.Polygons[i].Color)
		}
	})
	add(l, "points", 2*len(d.Points), func(dst []float32) {
		for i, p := range d.Points {
			dst[2*i], dst[2*i+1] = p[0], p[1]
		}
	})
	add(l, "lines", 4*len(d.Lines), func(dst []float32) {
		for i := range d.Lines {
			s := &d.Lines[i]
			copy(dst[4*i:], []float32{s.P1[0], s.P1[1], s.P2[0], s.P2[1]})
		}
	})
	add(l, "line_colours", len(d.Lines), func(dst []uint32) {
		for i := range d.Lines {
			dst[i] = opaque(d.Lines[i].Color)
		}
	})
}
