package inspector

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"sync"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/draw3"
	"github.com/evertick/evertick/internal/fault"
)

// drawerOf returns what draws the bodies in space of a Sim, or nil.
func drawerOf(sim *evertick.Sim) draw3.Drawer {
	for _, v := range sim.Solvers {
		if d, ok := v.View.(draw3.Drawer); ok {
			return d
		}
	}
	return nil
}

// noSpace is the error of a request that needs bodies in space.
func noSpace() error {
	return fmt.Errorf("%w: the simulation has no bodies in space", fault.Field(fault.ErrRange, "inspector: space", "1"))
}

// takeSpace copies what a picture in space needs.
func (c *capture) takeSpace(sim *evertick.Sim, o *pictureOptions) error {
	drawer := drawerOf(sim)
	if drawer == nil {
		return noSpace()
	}
	c.z = gather(c.z[:0], sim.World.Position.Z, c.live, c.entities)
	drawer.AppendDrawing(&c.space, draw3.Options{
		NoShapes: o.noShape, Boxes: o.boxes, Contacts: o.contacts, Joints: o.joints, Velocities: o.velocities,
		Selected: o.selected, HasSelected: o.hasSelected,
	})
	c.space.Lines = append(c.space.Lines, c.arrows...)
	return nil
}

// spaceHead is what the head of a picture in space has in addition.
type spaceHead struct {
	Up      [3]float32 `json:"up"`
	Batches []batch    `json:"batches"`
}

// batch is instances that are drawn at once.
type batch struct {
	Form     string `json:"form"`
	Geometry string `json:"geometry,omitempty"`
	First    int    `json:"first"`
	Count    int    `json:"count"`
	Sensor   bool   `json:"sensor,omitempty"`
}

var formNames = [...]string{draw3.FormBox: "box", draw3.FormRound: "round", draw3.FormHull: "hull", draw3.FormSurface: "surface"}

// batches sorts the instances by keys: it returns the batches, solid ones first, and the instances in their order.
func batches(d *draw3.Drawing) (of []batch, order []uint32) {
	type group struct {
		key   draw3.Key
		count int
	}
	var groups []group
	known := map[draw3.Key]int{}
	groupOf := make([]uint32, len(d.Keys))
	last, lastGroup := draw3.Key{}, -1
	for i, key := range d.Keys {
		if lastGroup < 0 || key != last {
			g, ok := known[key]
			if !ok {
				g = len(groups)
				known[key] = g
				groups = append(groups, group{key: key})
			}
			last, lastGroup = key, g
		}
		groups[lastGroup].count++
		groupOf[i] = uint32(lastGroup)
	}
	sorted := make([]int, len(groups))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(i, j int) int {
		a, b := groups[i].key, groups[j].key
		sensor := func(k draw3.Key) int {
			if k.Sensor {
				return 1
			}
			return 0
		}
		return cmp.Or(sensor(a)-sensor(b), cmp.Compare(a.Form, b.Form), cmp.Compare(a.Content, b.Content))
	})
	next, of := make([]uint32, len(groups)), []batch{} // an array also of none
	first := 0
	for _, g := range sorted {
		k := groups[g].key
		b := batch{Form: formNames[k.Form], First: first, Count: groups[g].count, Sensor: k.Sensor}
		if k.Form >= draw3.FormHull {
			b.Geometry = HashText(d.Contents[k.Content].ID())
		}
		of, next[g] = append(of, b), uint32(first)
		first += b.Count
	}
	order = make([]uint32, len(d.Keys))
	for i, g := range groupOf {
		order[next[g]] = uint32(i)
		next[g]++
	}
	return of, order
}

// rowsOf returns a function from slots to the rows of entities of the picture. NoSlot, and a slot without an entity, has none: NoSlot.
func (c *capture) rowsOf() func(slot uint32) uint32 {
	before := make([]uint32, len(c.live)) // rows before each word
	n := uint32(0)
	for i, word := range c.live {
		before[i] = n
		n += uint32(bits.OnesCount64(word))
	}
	return func(slot uint32) uint32 {
		if int(slot>>6) >= len(c.live) || c.live[slot>>6]>>(slot&63)&1 == 0 {
			return draw3.NoSlot
		}
		return before[slot>>6] + uint32(bits.OnesCount64(c.live[slot>>6]&(1<<(slot&63)-1)))
	}
}

// layoutSpace adds the sections of a picture in space, and returns what its head has in addition.
func (c *capture) layoutSpace(l *layout) *spaceHead {
	d := &c.space
	of, order := batches(d)
	n := len(c.x)
	add(l, "z", n, func(dst []float32) { copy(dst, c.z) })
	const width = 10
	add(l, "instances", width*len(order), func(dst []float32) {
		for i, from := range order {
			s, to := &d.Instances[from], dst[width*i:width*i+width]
			to[0], to[1], to[2] = s.Position[0], s.Position[1], s.Position[2]
			to[3], to[4], to[5], to[6] = s.Rotation[0], s.Rotation[1], s.Rotation[2], s.Rotation[3]
			to[7], to[8], to[9] = s.Size[0], s.Size[1], s.Size[2]
		}
	})
	add(l, "instance_colours", len(order), func(dst []uint32) {
		for i, from := range order {
			dst[i] = d.Colors[from]
		}
	})
	add(l, "instance_rows", len(order), func(dst []uint32) {
		row := c.rowsOf()
		for i, from := range order {
			dst[i] = row(d.Slots[from])
		}
	})
	add(l, "lines3", 6*len(d.Lines), func(dst []float32) {
		for i := range d.Lines {
			s := &d.Lines[i]
			copy(dst[6*i:], []float32{s.P1[0], s.P1[1], s.P1[2], s.P2[0], s.P2[1], s.P2[2]})
		}
	})
	add(l, "line3_colours", len(d.Lines), func(dst []uint32) {
		for i := range d.Lines {
			dst[i] = d.Lines[i].Color<<8 | 0xff
		}
	})
	if low, high, ok := c.extentInSpace(); ok {
		add(l, "extent3", 6, func(dst []float32) { copy(append(dst[:0], low[:]...)[3:6], high[:]) })
	}
	return &spaceHead{d.Up, of}
}

// extentInSpace returns the box around all entities with finite positions, and the middles of all shapes that move, with their sizes: a ground
// may be wide, so that what stands on it would be small. Without any of these it is around the shapes that do not move.
func (c *capture) extentInSpace() (low, high [3]float32, ok bool) {
	inf := float32(math.Inf(1))
	low, high = [3]float32{inf, inf, inf}, [3]float32{-inf, -inf, -inf}
	reach := func(at [3]float32, r float32) {
		for _, v := range at {
			if v-v != 0 { // NaN or infinite
				return
			}
		}
		for k, v := range at {
			low[k], high[k], ok = min(low[k], v-r), max(high[k], v+r), true
		}
	}
	static := false
	shapes := func() {
		for i := range c.space.Instances {
			s := &c.space.Instances[i]
			if (c.space.Colors[i]&draw3.FlagStatic != 0) == static {
				reach(s.Position, max(s.Size[0], s.Size[1], s.Size[2]))
			}
		}
	}
	still := map[uint32]bool{}
	for i, slot := range c.space.Slots {
		if slot != draw3.NoSlot && c.space.Colors[i]&draw3.FlagStatic != 0 {
			still[slot] = true
		}
	}
	row := 0
	for i, word := range c.live {
		for ; word != 0; word &= word - 1 {
			if slot := uint32(64*i + bits.TrailingZeros64(word)); len(still) == 0 || !still[slot] {
				reach([3]float32{c.x[row], c.y[row], c.z[row]}, 0)
			}
			row++
		}
	}
	if shapes(); !ok {
		static = true
		shapes()
	}
	return low, high, ok
}

// mostTriangles bounds a geometry.
const mostTriangles = 1 << 17

// geometries are the contents of the last picture in space, and what requests got of them.
type geometries struct {
	contents []draw3.Content // guarded by hub.mu

	making sync.Mutex  // one at a time: they are large
	made   lastAnswers // guarded by making
}

// geometry answers GET geometry?id=, the content of shapes that the last pictures have named: a little-endian uint32 with the number t of triangles,
// and another with the number that the shape has, which is more where these are simplified; t times the float32 x, y and z of three corners; and t uint32 of which bit k is set if the edge that begins at corner k is one of the
// shape, and does not only divide a face.
// It reads no Sim, and so never waits for one.
func (in *Inspector) geometry(_ context.Context, r *Request, s subject) Answer {
	text := r.Query.Get("id")
	id, err := strconv.ParseUint(text, 16, 64)
	if err != nil || len(text) != 16 {
		return errorAnswer(fmt.Errorf("%w: it has 16 hexadecimal digits", fault.Field(fault.ErrRange, "inspector: id", fmt.Sprintf("%.40q", text))))
	}
	h := s.records()
	g := &h.pictures.geometries
	h.mu.Lock()
	at := slices.IndexFunc(g.contents, func(c draw3.Content) bool { return c.ID() == id })
	var content draw3.Content
	if at >= 0 {
		content = g.contents[at]
	}
	h.mu.Unlock()
	if content == nil {
		return errorAnswer(fault.Field(fault.ErrStale, "inspector: id of a geometry", text))
	}
	g.making.Lock()
	defer g.making.Unlock()
	body, ok := g.made.bodies[text]
	if !ok {
		body = encodeGeometry(content.Triangles(mostTriangles))
		if g.made.bodies == nil {
			g.made.bodies = map[string][]byte{}
		}
		g.made.put(text, body)
	}
	return Answer{200, typeBinary, body}
}

func encodeGeometry(triangles []draw3.Triangle, all int) []byte {
	body := make([]byte, 0, 8+40*len(triangles))
	body = binary.LittleEndian.AppendUint32(body, uint32(len(triangles)))
	body = binary.LittleEndian.AppendUint32(body, uint32(all))
	for i := range triangles {
		for _, corner := range triangles[i].Corners {
			for _, v := range corner {
				body = binary.LittleEndian.AppendUint32(body, math.Float32bits(v))
			}
		}
	}
	for i := range triangles {
		body = binary.LittleEndian.AppendUint32(body, triangles[i].Edges)
	}
	return body
}
