package raster

import (
	"errors"
	"image"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// MaxSize is the largest width and height of a Canvas.
const MaxSize = 4096

const (
	samples   = 4 // along each side of a pixel
	lineWidth = 1.5 * samples
	opaque    = 255
	fillAlpha = 128
)

// Canvas is a picture to draw on. It is not safe for concurrent use.
type Canvas struct {
	img    *image.RGBA
	camera camera

	// Of the element that is drawn.
	points       []point
	outer, inner region
	cover        []int32 // of a row of pixels: the difference to the pixel before
}

// New returns a black canvas of a size in pixels, each 1 to MaxSize. Another is ErrRange.
func New(width, height int) (*Canvas, error) {
	err := errors.Join(
		fault.Between("raster: width", width, 1, MaxSize),
		fault.Between("raster: height", height, 1, MaxSize))
	if err != nil {
		return nil, err
	}
	c := &Canvas{img: image.NewRGBA(image.Rect(0, 0, width, height)), cover: make([]int32, width+2)}
	c.Clear(0)
	return c, nil
}

// Image returns the picture, always the same one.
func (c *Canvas) Image() *image.RGBA { return c.img }

// AppendRGB appends the picture as three bytes a pixel, row by row from the top.
func (c *Canvas) AppendRGB(dst []byte) []byte {
	for p := c.img.Pix; len(p) >= 4; p = p[4:] {
		dst = append(dst, p[0], p[1], p[2])
	}
	return dst
}

// Clear fills the whole picture.
func (c *Canvas) Clear(color physics.Color) {
	for p := c.img.Pix; len(p) >= 4; p = p[4:] {
		p[0], p[1], p[2], p[3] = uint8(color>>16), uint8(color>>8), uint8(color), opaque
	}
}

// Draw draws a drawing over the picture. The view is in metres; a zero view is that of
// Drawing.View. One without width or height is ErrRange, one that is not finite ErrNotFinite; nothing
// is drawn then.
func (c *Canvas) Draw(d *physics.Drawing, view physics.DrawnBox) error {
	if view == (physics.DrawnBox{}) {
		view = d.View()
	}
	if err := view.Validate("raster: view"); err != nil {
		return err
	}
	c.camera = look(view, c.img.Rect.Dx(), c.img.Rect.Dy())
	for i := range d.Polygons {
		p := &d.Polygons[i]
		c.shape(d.Points[p.First:p.First+p.Count], p.Radius, p.Color)
	}
	for i := range d.Circles {
		o := &d.Circles[i]
		c.points = append(c.points[:0], c.camera.at(o.Center))
		c.fill(o.Radius, o.Color)
		if o.Axis != [2]float32{} {
			c.line(o.Center, [2]float32{o.Center[0] + float32(o.Radius*o.Axis[0]), o.Center[1] + float32(o.Radius*o.Axis[1])}, o.Color)
		}
	}
	for i := range d.Lines {
		l := &d.Lines[i]
		c.line(l.P1, l.P2, l.Color)
	}
	return nil
}

func (c *Canvas) shape(vertices [][2]float32, radius float32, color physics.Color) {
	c.points = c.points[:0]
	for _, v := range vertices {
		c.points = append(c.points, c.camera.at(v))
	}
	c.fill(radius, color)
}

// fill draws the points, which are the corners of a shape of that radius in metres.
func (c *Canvas) fill(radius float32, color physics.Color) {
	r := float64(float64(radius) * c.camera.scale)
	if !c.drawable(r) {
		return
	}
	c.outer.set(c.points, r)
	c.inner.clear()
	c.paint(color, fillAlpha)
	c.outer.set(c.points, r+lineWidth/2)
	c.inner.set(c.points, r-lineWidth/2)
	c.paint(color, opaque)
}

func (c *Canvas) line(p1, p2 [2]float32, color physics.Color) {
	c.points = append(c.points[:0], c.camera.at(p1), c.camera.at(p2))
	if !c.drawable(0) {
		return
	}
	c.outer.set(c.points, lineWidth/2)
	c.inner.clear()
	c.paint(color, opaque)
}

// drawable reports whether the shape of the points is somewhere.
func (c *Canvas) drawable(radius float64) bool {
	if !fault.Finite(radius) || radius < 0 || len(c.points) == 0 {
		return false
	}
	for _, p := range c.points {
		if !fault.Finite(p.x) || !fault.Finite(p.y) {
			return false
		}
	}
	return true
}

// paint blends a colour with all pixels that have samples in the outer region and not in
// the inner one.
func (c *Canvas) paint(color physics.Color, alpha int32) {
	width, height := c.img.Rect.Dx(), c.img.Rect.Dy()
	low, high := c.outer.bounds()
	first, last := sample(low, samples*height)/samples, sample(high, samples*height)/samples
	for row := first; row <= last && row < height; row++ {
		from, to := width, 0 // pixels that may be covered
		for k := range samples {
			y := float64(row*samples+k) + 0.5
			lo, hi := c.span(&c.outer, y)
			if lo >= hi {
				continue
			}
			c.step(lo, 1)
			c.step(hi, -1)
			from, to = min(from, lo/samples), max(to, (hi+samples-1)/samples)
			if in, out := c.span(&c.inner, y); max(in, lo) < min(out, hi) {
				c.step(max(in, lo), -1)
				c.step(min(out, hi), 1)
			}
		}
		if from < to {
			c.blend(row, from, to, color, alpha)
		}
	}
}

// span returns the range of the samples of a region on a line of samples.
func (c *Canvas) span(r *region, y float64) (lo, hi int) {
	left, right := r.span(y)
	if !(left < right) {
		return 0, 0
	}
	most := samples * c.img.Rect.Dx()
	return sample(left, most), sample(right, most)
}

// step adds that all samples from the given one on are covered.
func (c *Canvas) step(from int, sign int32) {
	pixel, rest := from/samples, int32(from%samples)
	c.cover[pixel] += sign * (samples - rest)
	c.cover[pixel+1] += sign * rest
}

// sample returns the number of the first sample after a coordinate, 0 to most.
func sample(v float64, most int) int {
	if !(v > 0.5) {
		return 0
	}
	if v > float64(most)-0.5 {
		return most
	}
	return int(v + 0.5) // sample i is at i + 0.5
}

// blend blends a colour with the pixels of a row as cover says, and clears cover.
func (c *Canvas) blend(row, from, to int, color physics.Color, alpha int32) {
	red, green, blue := int32(color>>16&255), int32(color>>8&255), int32(color&255)
	line := c.img.Pix[row*c.img.Stride:][4*from : 4*to]
	covered := int32(0)
	for x := from; x < to; x++ {
		covered += c.cover[x]
		if a := alpha * covered; a > 0 {
			p := line[4*(x-from):][:3:3]
			p[0], p[1], p[2] = mix(p[0], red, a), mix(p[1], green, a), mix(p[2], blue, a)
		}
	}
	clear(c.cover[from : to+1])
}

// mix returns a colour of which a parts in most are new, rounded to the nearest.
func mix(old uint8, new, a int32) uint8 {
	const most = opaque * samples * samples
	return uint8((int32(old)*(most-a) + new*a + most/2) / most)
}
