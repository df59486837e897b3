package inspector

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/physics"
)

// capture is what a frame needs of a Sim: copies, which the goroutine of the Sim makes in the least time.
// The goroutine of a request makes the frame from them.
type capture struct {
	entities int
	live     []uint64 // live slots as a bitmap
	x, y     []float32

	coloured bool // there are values by which entities are coloured: tagged, or by
	tagged   []uint64
	by       []float64 // by slot; rows without an entity hold anything

	drawing physics.Drawing
}

// take copies the present state of a Sim. An error names a value of the options that does not fit.
func (c *capture) take(sim *evertick.Sim, v *view) (err error) {
	defer func() { // a fault here must not end the Sim
		if p := recover(); p != nil {
			err = fmt.Errorf("inspector: frame: panic: %v", p)
		}
	}()
	w := sim.World
	c.entities = w.Len()
	c.live = append(c.live[:0], liveSlots(w)...)
	x, y := planeColumns(sim)
	c.x = gather(c.x[:0], x, c.live, c.entities)
	c.y = gather(c.y[:0], y, c.live, c.entities)
	c.coloured = v.options.by != ""
	c.tagged, c.by = c.tagged[:0], c.by[:0]
	if c.coloured {
		if err := c.takeColours(w, v); err != nil {
			return err
		}
	}
	c.drawing.Reset()
	if v.options.noShape {
		return nil
	}
	o := physics.DrawOptions{Contacts: v.options.contacts, Joints: v.options.joints,
		Velocities: v.options.velocities, Boxes: v.options.boxes}
	err = sim.Physics.AppendDraw(&c.drawing, o)
	if errors.Is(err, fault.ErrUnsupported) { // another engine: the positions must do
		err = nil
	}
	return err
}

// planeColumns returns the columns of the positions along the two axes of the picture.
func planeColumns(sim *evertick.Sim) (x, y []float32) {
	p := &sim.World.Position
	if sim.Physics.Config().Plane == physics.XZ {
		return p.X, p.Z
	}
	return p.X, p.Y
}

// gather appends the elements of src whose bits are set in live, of which there are n.
func gather(dst, src []float32, live []uint64, n int) []float32 {
	dst = slices.Grow(dst, n)[:n]
	k := 0
	for i, word := range live {
		if ^word == 0 { // the usual case
			k += copy(dst[k:], src[64*i:64*i+64])
			continue
		}
		for ; word != 0; word &= word - 1 {
			dst[k] = src[64*i+bits.TrailingZeros64(word)]
			k++
		}
	}
	return dst
}

// takeColours copies the values of options.by.
func (c *capture) takeColours(w *ecs.World, v *view) error {
	if name, ok := strings.CutPrefix(v.options.by, "tag:"); ok {
		if v.tagWorld != w {
			t, err := findTag(w, name)
			if err != nil {
				return fmt.Errorf("inspector: by: %w", err)
			}
			v.tag, v.tagWorld = t, w
		}
		c.tagged = append(c.tagged, v.tag.Mask()[:len(c.live)]...)
		return nil
	}
	column, component, err := findNumber(w, v.options.by)
	if err != nil {
		return fmt.Errorf("inspector: by: %w", err)
	}
	high := w.HighWater()
	if column.Components() == 1 && high <= 4*c.entities { // most rows are needed
		c.by = column.AppendFloats(c.by, 0, high)
		return nil
	}
	c.by = slices.Grow(c.by, high)[:high]
	for i, word := range c.live {
		for ; word != 0; word &= word - 1 {
			slot := 64*i + bits.TrailingZeros64(word)
			c.by[slot] = column.Float64(uint32(slot), component)
		}
	}
	return nil
}

// findTag returns a tag that the world has: World.Tag would add it.
func findTag(w *ecs.World, name string) (ecs.Tag, error) {
	for _, t := range w.Describe().Tags {
		if t.Name == name {
			return w.Tag(name)
		}
	}
	return ecs.Tag{}, fmt.Errorf("%w: no such tag", fault.Field(fault.ErrRange, "tag", fmt.Sprintf("%.80q", name)))
}

// findNumber returns the column of a number by its name, and which of the numbers of a row it is: "hp",
// "position.x", or "vel[1]" for number 1 of a column of arrays.
func findNumber(w *ecs.World, name string) (ecs.ColumnView, int, error) {
	refuse := func(why string) (ecs.ColumnView, int, error) {
		return ecs.ColumnView{}, 0, fmt.Errorf("%w: %s", fault.Field(fault.ErrRange, "column", fmt.Sprintf("%.80q", name)), why)
	}
	if c, ok := columnInUse(w, name); ok {
		if c.Components() != 1 {
			return refuse(fmt.Sprintf("its rows have %d numbers; name one, as in %s[0]", c.Components(), name))
		}
		return c, 0, nil
	}
	base, index, ok := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	c, known := columnInUse(w, base)
	if !ok || !known || !strings.HasSuffix(name, "]") {
		return refuse("no such column")
	}
	i, err := strconv.ParseUint(index, 10, 16)
	if err != nil || i >= uint64(c.Components()) {
		return refuse(fmt.Sprintf("its rows have %d numbers", c.Components()))
	}
	return c, int(i), nil
}

// columnInUse returns a column that has a value for each entity.
func columnInUse(w *ecs.World, name string) (ecs.ColumnView, bool) {
	c, ok := w.ColumnNamed(name)
	return c, ok && c.Len() >= w.HighWater()
}

// encode returns the body of a frame, with the slots or without. Requests share it.
func (f *frame) encode(run string, withSlots bool) []byte {
	e := &f.encoded[0]
	if withSlots {
		e = &f.encoded[1]
	}
	e.once.Do(func() {
		head := f.frameHead
		head.Run = run
		e.body = f.capture.encode(head, withSlots)
	})
	return e.body
}

// layout collects the sections of a frame, and then writes them.
type layout struct {
	sections []section
	fill     []func(body []byte)
	size     int // of the sections
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
func (c *capture) encode(head frameHead, withSlots bool) []byte {
	l := c.layout(withSlots)
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

// layout returns the sections of the frame.
func (c *capture) layout(withSlots bool) *layout {
	l := new(layout)
	n := len(c.x)
	if withSlots {
		add(l, "slots", n, c.fillSlots)
	}
	add(l, "x", n, func(dst []float32) { copy(dst, c.x) })
	add(l, "y", n, func(dst []float32) { copy(dst, c.y) })
	if c.coloured {
		add(l, "by", n, c.fillColours)
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

// extent returns the box around all entities with finite positions, and all shapes. It compares
// instead of calling min and max, which would also look for NaN.
func (c *capture) extent() physics.DrawnBox {
	inf := float32(math.Inf(1))
	loX, loY, hiX, hiY := inf, inf, -inf, -inf
	reach := func(x, y float32) {
		if x-x != 0 || y-y != 0 { // NaN or infinite
			return
		}
		if x < loX {
			loX = x
		}
		if x > hiX {
			hiX = x
		}
		if y < loY {
			loY = y
		}
		if y > hiY {
			hiY = y
		}
	}
	for i, x := range c.x {
		reach(x, c.y[i])
	}
	if d := &c.drawing; len(d.Circles)+len(d.Polygons) > 0 {
		reach(d.Extent.Min[0], d.Extent.Min[1])
		reach(d.Extent.Max[0], d.Extent.Max[1])
	}
	return physics.DrawnBox{Min: [2]float32{loX, loY}, Max: [2]float32{hiX, hiY}}
}
