package train_test

import (
	"errors"
	"math"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/raster"
	"github.com/evertick/evertick/train"
)

// drawnCounters are counters of which there are pictures: a square at x = steps, and an error after three.
type drawnCounters struct{ *counters }

var errPicture = errors.New("no picture")

func (c drawnCounters) AppendDraw(i int, dst *physics.Drawing) error {
	if c.steps[i] > 3 {
		return errPicture
	}
	x := float32(c.steps[i])
	dst.AddPolygon([][2]float32{{x, 0}, {x + 1, 0}, {x + 1, 1}, {x, 1}}, 0, 0xff0000, true)
	return nil
}

func drawnCounter() train.Definition {
	def := counter(map[int]error{0: errPicture})
	inner := def.New
	def.View = physics.DrawnBox{Max: [2]float32{4, 1}}
	def.New = func(n int, recording bool) (train.Worlds, error) {
		w, err := inner(n, recording)
		return drawnCounters{w.(*counters)}, err
	}
	return def
}

func canvas(t testing.TB, width, height int) *raster.Canvas {
	t.Helper()
	c, err := raster.New(width, height)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// red returns the first column in the middle of a square that is drawn.
func red(c *raster.Canvas) int {
	img := c.Image()
	for x := range img.Rect.Dx() {
		if p := img.RGBAAt(x, img.Rect.Dy()/2); p.R == 255 && p.G == 127 && p.B == 127 {
			return x
		}
	}
	return -1
}

// Render draws each world in its state, on a white ground, in the view of the definition.
func TestRender(t *testing.T) {
	b, buf := begun(t, drawnCounter(), train.Config{Worlds: 2, Autoreset: train.Disabled})
	c := canvas(t, 80, 20)
	for steps := range 4 {
		for i := range 2 {
			if err := b.Render(i, c); err != nil {
				t.Fatal(err)
			}
			if at := red(c); at != 20*steps+1 {
				t.Errorf("world %d after %d steps begins at pixel %d", i, steps, at)
			}
		}
		if err := b.Step(buf); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, b.Render(1, c), errPicture, "world 1")
}

func TestRenderRefuses(t *testing.T) {
	c := canvas(t, 8, 8)
	none, _ := begun(t, counter(nil), train.Config{})
	wantError(t, none.Render(0, c), fault.ErrUnsupported, "counter")
	fresh, err := train.New(drawnCounter(), train.Config{Worlds: 2})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, fresh.Render(1, c), fault.ErrStale, "world = 1")
	busy, buf := begun(t, drawnCounter(), train.Config{})
	err = busy.StepAsync(buf)
	wantError(t, busy.Render(0, c), fault.ErrStale, "StepWait")
	if err := errors.Join(err, busy.StepWait()); err != nil {
		t.Fatal(err)
	}
	failed, buf := begun(t, drawnCounter(), train.Config{})
	buf.Choices[0] = 2
	wantError(t, failed.Step(buf), train.ErrWorld)
	wantError(t, failed.Render(0, c), train.ErrWorld)
	bad := drawnCounter()
	bad.View.Max[1] = float32(math.NaN())
	_, err = train.New(bad, train.Config{})
	wantError(t, err, fault.ErrNotFinite, "Definition.View[3]")
	bad.View.Max[1] = -1
	_, err = train.New(bad, train.Config{})
	wantError(t, err, fault.ErrRange, "Definition.View")
}

// crowd is a game in which entities stand in a row.
type crowd struct{ sim *evertick.Sim }

func newCrowd(c evertick.Config) (train.Game, error) {
	c.Capacity = 8
	sim, err := evertick.New(c)
	if err != nil {
		return nil, err
	}
	return crowd{sim}, sim.Add(evertick.BeforePhysics, "spawn", func(t *evertick.Tick) error {
		for i := range 3 * (1 - min(t.N, 1)) {
			id, err := sim.World.Spawn()
			if err == nil {
				err = sim.World.SetPosition(id, float32(i), 0, 0)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (g crowd) Sim() *evertick.Sim       { return g.sim }
func (g crowd) Outcome() (float32, bool) { return 0, false }
func (g crowd) Observe(row train.Row)    { row.Float32[0] = 0 }

// A game that says nothing of pictures has those of its Sim: bodies and entities.
func TestRenderOfASim(t *testing.T) {
	def := train.SimDefinition{Name: "crowd", Obs: train.Box(1, 0, 1), Action: train.Choice(2), New: newCrowd}
	b, _ := begun(t, def.Definition(), train.Config{Worlds: 2})
	c := canvas(t, 250, 60)
	if err := b.Render(1, c); err != nil {
		t.Fatal(err)
	}
	var d physics.Drawing
	d.AddCircle(physics.DrawnCircle{Radius: 0.25, Color: evertick.ColorEntity}, true)
	d.AddCircle(physics.DrawnCircle{Center: [2]float32{1, 0}, Radius: 0.25, Color: evertick.ColorEntity}, true)
	d.AddCircle(physics.DrawnCircle{Center: [2]float32{2, 0}, Radius: 0.25, Color: evertick.ColorEntity}, true)
	want := canvas(t, 250, 60)
	want.Clear(train.Background)
	if err := want.Draw(&d, physics.DrawnBox{}); err != nil {
		t.Fatal(err)
	}
	if string(want.Image().Pix) != string(c.Image().Pix) {
		t.Error("the picture is not that of three entities")
	}
}
