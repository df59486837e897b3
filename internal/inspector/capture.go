package inspector

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/draw3"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/forces"
	"github.com/evertick/evertick/physics"
)

// capture is what a picture needs of a Sim: copies, which the goroutine of the Sim makes in the least time.
// The goroutine of a request makes the picture from them.
type capture struct {
	entities int
	live     []uint64 // live slots as a bitmap
	x, y     []float32

	coloured bool // there are values by which entities are coloured: tagged, or by
	tagged   []uint64
	by       []float64 // by slot; rows without an entity hold anything

	drawing physics.Drawing

	inSpace bool // the picture is one of bodies in space
	z       []float32
	space   draw3.Drawing

	hasForces bool // of the selected body
	forces    forces.Forces
	arrows    []draw3.Line
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
	if c.inSpace = v.options.space; c.inSpace {
		x, y = w.Position.X, w.Position.Y
	}
	c.x = gather(c.x[:0], x, c.live, c.entities)
	c.y = gather(c.y[:0], y, c.live, c.entities)
	c.coloured = v.options.by != "" || v.options.tag != ""
	c.tagged, c.by = c.tagged[:0], c.by[:0]
	if c.coloured {
		if err := c.takeColours(w, v); err != nil {
			return err
		}
	}
	c.drawing.Reset()
	c.space.Reset()
	c.takeForces(sim, &v.options)
	if c.inSpace {
		return c.takeSpace(sim, &v.options)
	}
	if v.options.noShape {
		return nil
	}
	o := physics.DrawOptions{Contacts: v.options.contacts, Joints: v.options.joints,
		Velocities: v.options.velocities, Boxes: v.options.boxes}
	err = sim.Physics.AppendDraw(&c.drawing, o)
	if errors.Is(err, fault.ErrUnsupported) { // another engine: the positions must do
		err = nil
	}
	for _, l := range c.arrows {
		c.drawing.Lines = append(c.drawing.Lines, physics.DrawnLine{P1: [2]float32(l.P1[:2]), P2: [2]float32(l.P2[:2]), Color: physics.Color(l.Color)})
	}
	return err
}

// cost returns the bytes that take has copied, and for drawings what they cost.
func (c *capture) cost() int64 {
	const shape, point = 32, 8 // bytes, about
	d := &c.drawing
	shapes := shape*(len(d.Circles)+len(d.Polygons)+len(d.Lines)) + point*len(d.Points)
	const instance = 56
	shapes += instance*len(c.space.Instances) + shape*len(c.space.Lines)
	return int64(8*(len(c.live)+len(c.x)+len(c.tagged)+len(c.by)) + drawn*shapes)
}

// planeNames are the names of planeColumns.
func planeNames(sim *evertick.Sim) [2]string {
	if sim.Physics.Config().Plane == physics.XZ {
		return [2]string{"position.x", "position.z"}
	}
	return [2]string{"position.x", "position.y"}
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

// takeColours copies the values of options.by, or of options.tag.
func (c *capture) takeColours(w *ecs.World, v *view) error {
	if v.options.tag != "" {
		if v.tagWorld != w {
			t, err := findTag(w, v.options.tag)
			if err != nil {
				return fmt.Errorf("inspector: %w", err)
			}
			v.tag, v.tagWorld = t, w
		}
		c.tagged = append(c.tagged, v.tag.Mask()[:len(c.live)]...)
		return nil
	}
	column, component, err := parseNumberName(v.options.by).find(w)
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
