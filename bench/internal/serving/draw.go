package serving

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"image/png"
	"io"
	"math"
	"os"
	"regexp"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/raster"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

// maxPictures is the most pictures of a GIF, which are kept in memory.
const maxPictures = 4096

// drawOptions are the flags of replay draw.
type drawOptions struct {
	from, to, every uint64
	size            imageSize
	view            viewFlag
}

// imageSize is a flag as in 480x360.
type imageSize struct{ width, height int }

func (s *imageSize) String() string { return fmt.Sprintf("%dx%d", s.width, s.height) }

func (s *imageSize) Set(text string) error {
	var rest string
	if n, _ := fmt.Sscanf(text+" ", "%dx%d%s", &s.width, &s.height, &rest); n != 2 {
		return errors.New("as in 480x360")
	}
	_, err := raster.New(s.width, s.height)
	return err
}

// viewFlag is a flag as in -10,0,10,8.
type viewFlag physics.DrawnBox

func (v *viewFlag) String() string {
	return fmt.Sprintf("%v,%v,%v,%v", v.Min[0], v.Min[1], v.Max[0], v.Max[1])
}

func (v *viewFlag) Set(text string) error {
	var rest string
	if n, _ := fmt.Sscanf(text+" ", "%g,%g,%g,%g%s", &v.Min[0], &v.Min[1], &v.Max[0], &v.Max[1], &rest); n != 4 {
		return errors.New("as in -10,0,10,8: left, bottom, right, top in metres")
	}
	return (*physics.DrawnBox)(v).Validate("view")
}

// tickVerb matches a name with one number.
var tickVerb = regexp.MustCompile(`^[^%]*%(0\d)?d[^%]*$`)

// check returns what is wrong with the flags.
func (o *drawOptions) check(out string) error {
	switch {
	case strings.HasSuffix(out, ".gif"):
	case strings.HasSuffix(out, ".png"):
		if strings.Contains(out, "%") && !tickVerb.MatchString(out) {
			return fmt.Errorf("-out %q: one %%d, or as in %%06d, for the tick", out)
		}
	default:
		return fmt.Errorf("-out %q: a .gif, or a .png", out)
	}
	if o.every < 1 || o.every > 1<<20 || o.to < o.from {
		return fmt.Errorf("-from %d, -to %d, -every %d", o.from, o.to, o.every)
	}
	return nil
}

// numbered is the name of the picture of a tick.
func numbered(out string, tick uint64) string {
	if !strings.Contains(out, "%") {
		return out
	}
	return fmt.Sprintf(out, tick)
}

// draw draws the ticks of a log as a GIF, or as one PNG or several.
func (o *logOptions) draw() error {
	sc, err := o.scenarioOf(o.dirs[0])
	if err != nil {
		return err
	}
	p, err := replay.Play(o.dirs[0], sc, nil)
	if err != nil {
		return err
	}
	f, err := o.newFilm(p, sc.Name)
	if err == nil {
		err = o.film(p, f)
	}
	if err := errors.Join(verdict(err), p.Close()); err != nil {
		return err
	}
	o.printf("%d frames of %s, the last of tick %d\n", f.pictures, sc.Name, p.Sim().Ticks()-1)
	return nil
}

// film draws the pictures.
func (o *logOptions) film(p *replay.Player, f *film) error {
	single := !f.moving() && !strings.Contains(o.out, "%")
	for {
		if err := f.draw(p.Sim(), numbered(o.out, p.Sim().Ticks()-1)); err != nil {
			return err
		}
		o.progress.Show("tick %d", p.Sim().Ticks()-1)
		for range o.drawing.every {
			if single || p.Sim().Ticks() > o.drawing.to {
				return f.finish(o.out)
			}
			switch err := p.Step(); err {
			case nil:
			case io.EOF:
				return f.finish(o.out)
			default:
				return err
			}
		}
	}
}

// film draws a Sim, picture by picture.
type film struct {
	append   func(*evertick.Sim, *physics.Drawing) error
	view     physics.DrawnBox
	drawing  physics.Drawing
	canvas   *raster.Canvas
	pictures int

	// Of a GIF.
	gif    *gif.GIF
	last   []byte           // the picture before
	colors map[[3]byte]byte // indices into the palette
	// The clock of pictures, in hundredths of a second: a picture takes num/den of them.
	num, den, shown int64
}

// newFilm goes to the first tick, and chooses the view of all pictures: the definition's, or one of all that is in the first
// picture.
func (o *logOptions) newFilm(p *replay.Player, scenario string) (*film, error) {
	if err := p.Seek(o.drawing.from); err != nil {
		return nil, err
	}
	canvas, err := raster.New(o.drawing.size.width, o.drawing.size.height)
	if err != nil {
		return nil, err
	}
	def := definitionOf(scenario)
	f := &film{append: def.AppendDraw, view: def.View, canvas: canvas}
	if o.given["view"] {
		f.view = physics.DrawnBox(o.drawing.view)
	}
	if f.view == (physics.DrawnBox{}) {
		if err := f.append(p.Sim(), &f.drawing); err != nil {
			return nil, err
		}
		f.view = f.drawing.View()
	}
	if strings.HasSuffix(o.out, ".gif") {
		rate, unit := p.Sim().Loop().Rate()
		f.num, f.den = 100*unit*int64(o.drawing.every), rate
		f.gif, f.colors = &gif.GIF{LoopCount: 0}, map[[3]byte]byte{}
		f.gif.Config = image.Config{ColorModel: gifPalette, Width: o.drawing.size.width, Height: o.drawing.size.height}
	}
	return f, nil
}

// definitionOf returns how a scenario is drawn: as its training world, or as any Sim.
func definitionOf(scenario string) *train.SimDefinition {
	for _, d := range worlds.Simulations() {
		if d.Scenario == scenario {
			return &d
		}
	}
	return new(train.SimDefinition)
}

func (f *film) moving() bool { return f.gif != nil }

// draw draws a picture, and writes it to a file unless it is one of a GIF.
func (f *film) draw(sim *evertick.Sim, name string) error {
	f.drawing.Reset()
	if err := f.append(sim, &f.drawing); err != nil {
		return err
	}
	f.canvas.Clear(train.Background)
	if err := f.canvas.Draw(&f.drawing, f.view); err != nil {
		return err
	}
	f.pictures++
	if f.moving() {
		return f.add()
	}
	return create(name, func(w io.Writer) error { return png.Encode(w, f.canvas.Image()) })
}

// finish writes a GIF.
func (f *film) finish(name string) error {
	if !f.moving() {
		return nil
	}
	return create(name, func(w io.Writer) error { return gif.EncodeAll(w, f.gif) })
}

// create writes a file.
func create(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// gifPalette is the palette of every GIF: the colours of bodies, each alone and as it fills a shape on the background, and
// 216 colours for everything else.
var gifPalette = func() (p color.Palette) {
	for _, c := range []physics.Color{
		physics.ColorStatic, physics.ColorKinematic, physics.ColorDynamic, physics.ColorBullet, physics.ColorAsleep, physics.ColorSensor,
		physics.ColorDisabled, physics.ColorJoint, evertick.ColorEntity,
	} {
		line := color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255}
		half := func(v uint8) uint8 { return uint8((int(v)*128 + 255*127 + 127) / 255) }
		p = append(p, line, color.RGBA{half(line.R), half(line.G), half(line.B), 255})
	}
	return append(p, palette.WebSafe...)
}()

// add adds the picture to the GIF: the part of it that differs from the picture before.
func (f *film) add() error {
	if f.pictures > maxPictures {
		return fmt.Errorf("more than %d frames: a larger -every, or -from and -to", maxPictures)
	}
	img := f.canvas.Image()
	now := image.NewPaletted(img.Rect, gifPalette)
	for i := range now.Pix {
		now.Pix[i] = f.index([3]byte(img.Pix[4*i:]))
	}
	part := changed(f.last, now)
	f.last = now.Pix
	due := int64(f.pictures) * f.num / f.den
	f.gif.Image = append(f.gif.Image, crop(now, part))
	f.gif.Delay = append(f.gif.Delay, int(min(due-f.shown, math.MaxUint16)))
	f.gif.Disposal = append(f.gif.Disposal, gif.DisposalNone)
	f.shown = due
	return nil
}

// index returns the nearest colour of the palette, the first of those that are equally near.
func (f *film) index(c [3]byte) byte {
	i, known := f.colors[c]
	if !known {
		i = byte(gifPalette.Index(color.RGBA{c[0], c[1], c[2], 255}))
		f.colors[c] = i
	}
	return i
}

// changed returns the smallest rectangle with all pixels that differ from the picture before, and one pixel if
// none does.
func changed(last []byte, now *image.Paletted) image.Rectangle {
	if last == nil {
		return now.Rect
	}
	r := image.Rectangle{}
	for y := range now.Rect.Dy() {
		row, before := now.Pix[y*now.Stride:][:now.Stride], last[y*now.Stride:][:now.Stride]
		for x := range row {
			if row[x] != before[x] {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if r.Empty() {
		return image.Rect(0, 0, 1, 1)
	}
	return r
}

// crop copies a part of a picture, which is then no longer kept as a whole.
func crop(m *image.Paletted, part image.Rectangle) *image.Paletted {
	c := image.NewPaletted(part, m.Palette)
	for y := range part.Dy() {
		copy(c.Pix[y*c.Stride:][:c.Stride], m.Pix[m.PixOffset(part.Min.X, part.Min.Y+y):])
	}
	return c
}
