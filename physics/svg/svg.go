package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// Options selects the view of a world. The zero value shows all bodies that are not static, with a
// margin.
type Options struct {
	// Draw selects what is drawn in addition to the shapes.
	Draw physics.DrawOptions
	// View is the visible part of the plane, in metres. Zero: that of Drawing.View.
	View physics.DrawnBox
	// Width of the picture in pixels. 0: 800; at most MaxWidth.
	Width int
	// Title describes the picture to readers who cannot see it.
	Title string
}

// MaxWidth is the largest Options.Width.
const MaxWidth = 1 << 16

// Validate reports every fault of o at once. Errors wrap physics.ErrNotFinite or
// physics.ErrRange.
func (o *Options) Validate() error {
	all := []error{o.Draw.Validate()}
	if o.Width < 0 || o.Width > MaxWidth {
		all = append(all, fault.Field(physics.ErrRange, "svg: Options.Width", o.Width))
	}
	if o.View != (physics.DrawnBox{}) {
		all = append(all, o.View.Validate("svg: Options.View"))
	}
	return errors.Join(all...)
}

// Write writes a picture of w. Errors are those of Validate and of out, and
// physics.ErrUnsupported from another engine than that of package physics.
func Write(out io.Writer, w *physics.World, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	var d physics.Drawing
	if err := w.AppendDraw(&d, o.Draw); err != nil {
		return err
	}
	return Encode(out, &d, o)
}

// Encode writes a drawing and ignores o.Draw. It leaves out elements that are not finite. Errors
// are those of Validate and of out.
func Encode(out io.Writer, d *physics.Drawing, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	e := encoder{view: viewOf(d, o.View)}
	e.head(&o)
	for i := range d.Polygons {
		e.polygon(d, &d.Polygons[i])
	}
	for i := range d.Circles {
		e.circle(&d.Circles[i])
	}
	for i := range d.Lines {
		e.line(&d.Lines[i])
	}
	for i := range d.Labels {
		e.label(d, &d.Labels[i])
	}
	e.text("</svg>\n")
	_, err := out.Write(e.b)
	return err
}

// viewOf returns the visible part of a drawing.
func viewOf(d *physics.Drawing, asked physics.DrawnBox) physics.DrawnBox {
	if asked != (physics.DrawnBox{}) {
		return asked
	}
	return d.View()
}

// encoder writes elements, in pixels.
type encoder struct {
	b     []byte
	view  physics.DrawnBox
	scale float32 // pixels to a metre
}

// at converts a point to pixels, from the upper left corner to the right and down.
func (e *encoder) at(v [2]float32) [2]float32 {
	return [2]float32{(v[0] - e.view.Min[0]) * e.scale, (e.view.Max[1] - v[1]) * e.scale}
}

func (e *encoder) text(s string) { e.b = append(e.b, s...) }

// numbers writes numbers with spaces between them, to a hundredth of a pixel.
func (e *encoder) numbers(all ...float32) {
	for i, v := range all {
		if i > 0 {
			e.b = append(e.b, ' ')
		}
		start := len(e.b)
		e.b = strconv.AppendFloat(e.b, float64(v), 'f', 2, 32)
		e.b = bytes.TrimRight(e.b, "0")
		e.b = bytes.TrimSuffix(e.b, []byte("."))
		if s := string(e.b[start:]); s == "" || s == "-" || s == "-0" {
			e.b = append(e.b[:start], '0')
		}
	}
}

// attribute writes ` name="value"`.
func (e *encoder) attribute(name string, value float32) {
	e.text(" " + name + `="`)
	e.numbers(value)
	e.text(`"`)
}

func (e *encoder) color(name string, c physics.Color) {
	const digits = "0123456789abcdef"
	e.text(" " + name + `="#`)
	for shift := 20; shift >= 0; shift -= 4 {
		e.b = append(e.b, digits[c>>shift&15])
	}
	e.text(`"`)
}

func (e *encoder) head(o *Options) {
	width := o.Width
	if width == 0 {
		width = 800
	}
	w, h := e.view.Max[0]-e.view.Min[0], e.view.Max[1]-e.view.Min[1]
	e.scale = float32(width) / w
	height := int(min(max(float64(width)*float64(h)/float64(w), 1), MaxWidth))
	size := strconv.Itoa(width) + `" height="` + strconv.Itoa(height)
	e.text(`<svg xmlns="http://www.w3.org/2000/svg" width="` + size + `" viewBox="0 0 ` + strconv.Itoa(width) + " " + strconv.Itoa(height) + `"` +
		` fill-opacity="0.25" stroke-width="1.25" stroke-linejoin="round"` +
		` font-family="sans-serif" font-size="12" text-anchor="middle" role="img">` + "\n")
	if o.Title != "" {
		e.text("<title>")
		e.escaped([]byte(o.Title))
		e.text("</title>\n")
	}
}

func (e *encoder) escaped(text []byte) {
	var b bytes.Buffer
	xml.EscapeText(&b, text) // a Buffer never fails
	e.b = append(e.b, b.Bytes()...)
}

func finite(values ...float32) bool {
	for _, v := range values {
		if !fault.Finite(v) {
			return false
		}
	}
	return true
}

func (e *encoder) circle(c *physics.DrawnCircle) {
	centre, radius := e.at(c.Center), c.Radius*e.scale
	if !finite(centre[0], centre[1], radius) {
		return
	}
	e.text("<circle")
	e.attribute("cx", centre[0])
	e.attribute("cy", centre[1])
	e.attribute("r", radius)
	e.color("fill", c.Color)
	e.color("stroke", c.Color)
	e.text("/>\n")
	if c.Axis != [2]float32{} {
		rim := [2]float32{c.Center[0] + float32(c.Radius*c.Axis[0]), c.Center[1] + float32(c.Radius*c.Axis[1])}
		e.line(&physics.DrawnLine{P1: c.Center, P2: rim, Color: c.Color})
	}
}

func (e *encoder) line(l *physics.DrawnLine) {
	p1, p2 := e.at(l.P1), e.at(l.P2)
	if !finite(p1[0], p1[1], p2[0], p2[1]) {
		return
	}
	e.text("<line")
	e.attribute("x1", p1[0])
	e.attribute("y1", p1[1])
	e.attribute("x2", p2[0])
	e.attribute("y2", p2[1])
	e.color("stroke", l.Color)
	e.text("/>\n")
}

// polygon writes a path along the edges, moved outwards by the radius, with arcs around
// the vertices.
func (e *encoder) polygon(d *physics.Drawing, p *physics.DrawnPolygon) {
	points, radius := d.Points[p.First:p.First+p.Count], p.Radius*e.scale
	for _, v := range points {
		if at := e.at(v); !finite(at[0], at[1], radius) {
			return
		}
	}
	e.text(`<path d="`)
	for i, v := range points {
		from, to := e.edge(v, points[(i+1)%len(points)], radius)
		e.corner(i, radius)
		e.numbers(from[:]...)
		if radius > 0 {
			e.text("L")
			e.numbers(to[:]...)
		}
	}
	if radius > 0 && len(points) > 0 {
		from, _ := e.edge(points[0], points[1%len(points)], radius)
		e.corner(len(points), radius)
		e.numbers(from[:]...)
	}
	e.text(`Z"`)
	e.color("fill", p.Color)
	e.color("stroke", p.Color)
	e.text("/>\n")
}

// corner begins the path to the edge after vertex i: around a rounded vertex an arc of at
// most half a turn to the left.
func (e *encoder) corner(i int, radius float32) {
	switch {
	case i == 0:
		e.text("M")
	case radius > 0:
		e.text("A")
		e.numbers(radius, radius)
		e.text(" 0 0 0 ")
	default:
		e.text("L")
	}
}

// edge returns the ends of an edge, moved to its right by the radius.
func (e *encoder) edge(p, q [2]float32, radius float32) (from, to [2]float32) {
	from, to = e.at(p), e.at(q)
	dx, dy := q[0]-p[0], q[1]-p[1]
	length := float32(math.Sqrt(float64(float32(dx*dx) + float32(dy*dy))))
	if radius > 0 && length > 0 {
		x, y := float32(dy/length*radius), float32(dx/length*radius)
		from[0], from[1], to[0], to[1] = from[0]+x, from[1]+y, to[0]+x, to[1]+y
	}
	return from, to
}

func (e *encoder) label(d *physics.Drawing, l *physics.DrawnLabel) {
	at := e.at(l.At)
	if !finite(at[0], at[1]) {
		return
	}
	e.text("<text")
	e.attribute("x", at[0])
	e.attribute("y", at[1])
	e.color("fill", l.Color)
	e.text(` fill-opacity="1" dy="-0.3em">`)
	e.escaped(d.Text[l.First : l.First+l.Count])
	e.text("</text>\n")
}
