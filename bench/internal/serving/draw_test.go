package serving

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/raster"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/train"
)

// pictureOf returns the picture of a tick of a log of a training world, drawn without the command.
func pictureOf(t *testing.T, dir, scenario string, tick uint64, width, height int) *image.RGBA {
	t.Helper()
	sc, err := loggedScene(scenario, evertick.Config{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := replay.Seek(dir, sc, tick, nil)
	if err != nil {
		t.Fatal(err)
	}
	def := definitionOf(scenario)
	var d physics.Drawing
	c, errCanvas := raster.New(width, height)
	if err := errors.Join(errCanvas, def.AppendDraw(sim, &d)); err != nil {
		t.Fatal(err)
	}
	c.Clear(train.Background)
	if err := c.Draw(&d, def.View); err != nil {
		t.Fatal(err)
	}
	return c.Image()
}

// shownAt returns what a viewer of a GIF sees during each frame.
func shownAt(g *gif.GIF) (all []*image.RGBA) {
	screen := image.NewRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	for _, frame := range g.Image {
		draw.Draw(screen, frame.Rect, frame, frame.Rect.Min, draw.Over)
		all = append(all, &image.RGBA{Pix: slices.Clone(screen.Pix), Stride: screen.Stride, Rect: screen.Rect})
	}
	return all
}

func drawLog(t *testing.T, args ...string) {
	t.Helper()
	if out, err := logs(t, append([]string{"replay", "draw"}, args...)...); err != nil {
		t.Fatalf("bench replay draw %q: %q, %v", args, out, err)
	}
}

// A GIF shows the picture of every so many ticks, with the nearest colours, for as long as they took.
func TestDrawGIF(t *testing.T) {
	for _, name := range []string{"pushbox", "tag"} {
		dir, out := exported(t, name), filepath.Join(t.TempDir(), "episode.gif")
		drawLog(t, "-out", out, "-from", "2", "-to", "17", "-every", "5", "-size", "120x90", dir)
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		g, err := gif.DecodeAll(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Image) != 4 || !slices.Equal(g.Delay, []int{8, 8, 9, 8}) || g.LoopCount != 0 {
			t.Fatalf("%s: %d frames, delays %v, loop count %d", name, len(g.Image), g.Delay, g.LoopCount)
		}
		for i, got := range shownAt(g) {
			want := pictureOf(t, dir, "train/"+name, uint64(2+5*i), 120, 90)
			for k := 0; k < len(want.Pix); k += 4 {
				p := want.Pix[k:]
				near := gifPalette.Convert(color.RGBA{p[0], p[1], p[2], 255}).(color.RGBA)
				if [3]byte(got.Pix[k:]) != [3]byte{near.R, near.G, near.B} {
					t.Fatalf("%s, frame %d: pixel %d is %v, want %v", name, i, k/4, got.Pix[k:k+4], near)
				}
			}
		}
		drawLog(t, "-out", out, "-from", "2", "-to", "17", "-every", "5", "-size", "120x90", dir)
		if again, err := os.ReadFile(out); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: the second GIF differs from the first, %v", name, err)
		}
	}
}

// A name with %d gives a file for each frame, another a file of the first tick.
func TestDrawPNG(t *testing.T) {
	dir, folder := exported(t, "pushbox"), t.TempDir()
	drawLog(t, "-out", filepath.Join(folder, "a%03d.png"), "-every", "8", "-size", "60x80", dir)
	drawLog(t, "-out", filepath.Join(folder, "one.png"), "-from", "8", "-size", "60x80", dir)
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	if want := []string{"a000.png", "a008.png", "a016.png", "one.png"}; !slices.Equal(names, want) {
		t.Fatalf("files %v, want %v", names, want)
	}
	for name, tick := range map[string]uint64{"a000.png": 0, "a016.png": 16, "one.png": 8} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := img.(*image.RGBA)
		if !ok || !bytes.Equal(got.Pix, pictureOf(t, dir, "train/pushbox", tick, 60, 80).Pix) {
			t.Errorf("%s is not the picture of tick %d", name, tick)
		}
	}
}

// A scene is drawn as well, and -view shows a part of it.
func TestDrawScene(t *testing.T) {
	dir, folder := filepath.Join(t.TempDir(), "log"), t.TempDir()
	if _, err := logs(t, "record", "-ticks", "6", "-commands", "10", dir); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(folder, "scene.gif")
	drawLog(t, "-out", out, dir)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Image) != 2 || g.Config.Width != 480 || g.Config.Height != 360 || !has(g.Image[0], physics.ColorDynamic) {
		t.Errorf("%d frames of %dx%d", len(g.Image), g.Config.Width, g.Config.Height)
	}
	drawLog(t, "-out", out, "-view", "-1000,-1000,-999,-999", dir)
	data, err = os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = gif.DecodeAll(bytes.NewReader(data)); err != nil || has(g.Image[0], physics.ColorDynamic) {
		t.Errorf("where nothing is: a body is drawn, or %v", err)
	}
}

func has(m *image.Paletted, c physics.Color) bool {
	for _, i := range m.Pix {
		if r, g, b, _ := m.Palette[i].RGBA(); physics.Color(r>>8<<16|g>>8<<8|b>>8) == c {
			return true
		}
	}
	return false
}

func TestDrawUsage(t *testing.T) {
	for _, args := range []string{
		"x", "-out a.jpg x", "-out a%d%d.png x", "-out a%s.png x", "-out a%%.png x", "-out a.gif -every 0 x", "-out a.gif -from 9 -to 3 x", "-out a.gif -size 0x9 x",
		"-out a.gif -size 9 x", "-out a.gif -size 9x9x9 x", "-out a.gif -size 9x9999999 x", "-out a.gif -view 1,1 x", "-out a.gif -view 1,1,0,0 x", "-out a.gif -view 0,0,1,NaN x", "-out a.gif x y",
	} {
		if _, err := logs(t, append([]string{"replay", "draw"}, strings.Fields(args)...)...); !errors.Is(err, command.ErrUsage) {
			t.Errorf("bench replay draw %s: %v, want bad usage", args, err)
		}
	}
	dir := exported(t, "tag")
	for _, args := range [][]string{{"-from", "21"}, {"-size", "9x9", "-out", filepath.Join(dir, "none", "a.gif")}} {
		if _, err := logs(t, append([]string{"replay", "draw", "-out", filepath.Join(t.TempDir(), "a.gif"), dir}, args...)...); !errors.Is(err, command.ErrNoVerdict) {
			t.Errorf("bench replay draw %q: %v, want no verdict", args, err)
		}
	}
}
