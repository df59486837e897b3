// Package draw3 is what a page draws of bodies in space. Package physics3 fills in a Drawing, and package space hands it out, so that what serves pages
// neither builds nor links the engine.
package draw3

// Forms of instances. A batch has one of them.
const (
	FormBox     = iota // Size is half the edge lengths
	FormRound          // a ball or a capsule along the local y axis; Size is the radius, and half the length without the ends
	FormHull           // of a content
	FormSurface        // of a content: a mesh, a height field or a terrain
)

// Instance is a shape of a Form at a place, in metres; Rotation is a quaternion x, y, z, w. Size is 1, 1, 1 where the form has a content.
type Instance struct {
	Position [3]float32
	Rotation [4]float32
	Size     [3]float32
}

// Flags of a shape.
const (
	FlagAsleep = 1 << iota
	FlagSensor
	FlagStatic
	FlagDisabled
)

// Key is equal for instances that are drawn at once: the form, for hulls and surfaces the number of the content, and whether the shape is a sensor.
type Key struct {
	Content uint32 // in Drawing.Contents
	Form    uint8
	Sensor  bool
}

// Line is a line of a colour, 0xRRGGBB.
type Line struct {
	P1, P2 [3]float32
	Color  uint32
}

// Options selects what is drawn in addition to the shapes.
type Options struct {
	NoShapes                            bool
	Boxes, Contacts, Joints, Velocities bool
	// Selected is the slot of an entity whose velocity, spin, force and contacts are drawn, if HasSelected.
	Selected    uint32
	HasSelected bool
}

// Drawing is bodies in space at a moment: arrays with an element for each shape, in the order of the shapes, and lines. Its memory is used again.
type Drawing struct {
	Instances []Instance
	Colors    []uint32 // 0xRRGGBB<<8 | flags
	Slots     []uint32 // rows of entities, or NoSlot
	Keys      []Key
	Contents  []Content // that Keys name
	Lines     []Line
	Up        [3]float32 // unit vector against gravity, along an axis
}

// NoSlot is the slot of a shape whose body moves no entity.
const NoSlot = ^uint32(0)

// Content is a geometry that shapes share. It never changes, so any goroutine may read it.
type Content interface {
	// ID is a digest of the content.
	ID() uint64
	// Triangles returns at most limit triangles, and the true number. Of a surface with more it returns fewer, wider ones, or none.
	Triangles(limit int) (t []Triangle, all int)
}

// Triangle is three corners, counter-clockwise from the front. Bit k of Edges is set if the edge that begins at corner k is one of the shape, and does
// not only divide a face.
type Triangle struct {
	Corners [3][3]float32
	Edges   uint32
}

// Reset removes everything, and keeps the memory.
func (d *Drawing) Reset() {
	clear(d.Contents)
	d.Instances, d.Colors, d.Slots, d.Keys = d.Instances[:0], d.Colors[:0], d.Slots[:0], d.Keys[:0]
	d.Contents, d.Lines, d.Up = d.Contents[:0], d.Lines[:0], [3]float32{}
}

// Drawer is a solver that draws its bodies. Calls change no state, and come from the goroutine of its Sim.
type Drawer interface {
	// AppendDrawing fills in a drawing.
	AppendDrawing(d *Drawing, o Options)
	// Pick returns the slot of the entity, or NoSlot, whose solid shape or sensor a ray hits first, and the distance in lengths of the direction; false
	// if the ray hits nothing up to a million metres.
	Pick(origin, direction [3]float32) (slot uint32, distance float32, hit bool)
}

// World draws a world of package physics3, which sets it.
var World func(world any, d *Drawing, o Options)
