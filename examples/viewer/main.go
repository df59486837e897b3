// Command viewer shows bodies in a window, at the refresh rate of the display, while
// the simulation ticks 60 times a second on a goroutine of its own. A click shoots a ball.
//
// On Linux it needs the headers of X11 and OpenGL: apt-get install libgl1-mesa-dev xorg-dev.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"image/png"
	"log"
	"os"
	"sync/atomic"
	"time"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/ebitenutil"
	"github.com/hajimehoshi/ebiten/v2/inpututil"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/examples/viewer/scene"
	"github.com/evertick/evertick/loop"
)

const scale = 24 // pixels a metre

var (
	sky     = color.RGBA{0x12, 0x16, 0x1d, 0xff}
	ground  = color.RGBA{0x3a, 0x42, 0x50, 0xff}
	moving  = color.RGBA{0xe8, 0x8c, 0x4a, 0xff}
	resting = color.RGBA{0x5b, 0x8f, 0xb0, 0xff}
	ball    = color.RGBA{0xf2, 0xd0, 0x64, 0xff}
)

// guide:begin game

// game implements ebiten.Game. The Sim runs on another goroutine: game draws what the Publisher
// has, and pushes what the player does as inputs.
type game struct {
	scene  *scene.Scene
	frames *evertick.Publisher
	status atomic.Pointer[string]
	drawn  *ecs.Transforms // where to draw, between two ticks
	shots  uint64

	box   *ebiten.Image // white
	count int           // frames so far
	shot  string        // a file for a picture of frame number stop; none: ""
	stop  int
}

// run runs the Sim until the window is closed.
func (g *game) run(ctx context.Context) {
	if err := g.scene.Sim.RunFrames(ctx, g.report); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// report runs on the goroutine of the Sim, between ticks, so it may read everything.
func (g *game) report(loop.Frame) {
	sim := g.scene.Sim
	_, step := sim.Stats()
	text := fmt.Sprintf("%d bodies, %d awake, tick %d, hash %016x\nstep p50 %d µs, p99 %d µs",
		sim.Physics.Len(), sim.Physics.AwakeCount(), sim.Ticks(), sim.Hash(), step.P50/1000, step.P99/1000)
	g.status.Store(&text)
}

// Update is called once a frame, since main sets SyncWithFPS.
func (g *game) Update() error {
	if g.count++; g.stop > 0 && g.count > g.stop {
		return ebiten.Termination
	}
	if inpututil.IsMouseButtonJustPressed(ebiten.MouseButtonLeft) {
		x, y := ebiten.CursorPosition()
		g.shots++
		if err := g.scene.Sim.Push(scene.Shot(float32(x)/scale, scene.Height-float32(y)/scale, g.shots)); err != nil {
			log.Print(err) // too many at once: the game goes on
		}
	}
	return g.advance()
}

// Draw draws the entities where they are at this moment, between the last two ticks.
func (g *game) Draw(screen *ebiten.Image) {
	v, now := g.frames.Acquire(), g.frames.Now()
	if g.stop > 0 {
		now = v.AtNs
	}
	if err := v.Interpolate(v.Alpha(now), g.drawn); err != nil {
		log.Fatal(err)
	}
	screen.Fill(sky)
	vector.DrawFilledRect(screen, 0, (scene.Height-1)*scale, scene.Width*scale, scale, ground, false)
	for row, id := range v.IDs {
		if id != 0 {
			g.draw(screen, v, row)
		}
	}
	if text := g.status.Load(); text != nil {
		ebitenutil.DebugPrint(screen, fmt.Sprintf("%s, %.0f frames/s", *text, ebiten.ActualFPS()))
	}
	if g.shot != "" && g.count == g.stop {
		if err := save(g.shot, screen); err != nil {
			log.Fatal(err)
		}
	}
}

// guide:end

// Layout keeps the picture at the size of the scene.
func (g *game) Layout(int, int) (int, int) { return scene.Width * scale, scene.Height * scale }

// advance runs the Sim by one frame of 1/60 s if a picture is taken, so that the picture is always
// the same. Otherwise run runs the Sim.
func (g *game) advance() error {
	if g.stop == 0 {
		return nil
	}
	f, err := g.scene.Sim.Advance(int64(time.Second) / 60)
	g.report(f)
	return err
}

// draw draws the entity of a row.
func (g *game) draw(screen *ebiten.Image, v *evertick.View, row int) {
	halves, _ := evertick.ColumnOf[[2]float32](v, g.scene.Half.Name())
	half := halves[row]
	x, y := g.drawn.Position.X[row]*scale, (scene.Height-g.drawn.Position.Y[row])*scale
	// The rotation is (0, 0, z, w): cos and sin of the angle, without the angle itself.
	z, w := float64(g.drawn.Rotation.Z[row]), float64(g.drawn.Rotation.W[row])
	cos, sin := 1-2*z*z, 2*z*w
	if v.Tag(g.scene.Ball)[row/64]>>(row%64)&1 != 0 {
		r := half[0] * scale
		vector.DrawFilledCircle(screen, x, y, r, ball, true)
		vector.StrokeLine(screen, x, y, x+r*float32(cos), y-r*float32(sin), 2, sky, true)
		return
	}
	paint := resting
	if a, b := v.Now, v.Previous; a.Position.X[row] != b.Position.X[row] || a.Position.Y[row] != b.Position.Y[row] || a.Rotation.Z[row] != b.Rotation.Z[row] {
		paint = moving
	}
	const gap = 1. / scale // a pixel, which separates the boxes of a stack
	op := &ebiten.DrawImageOptions{Filter: ebiten.FilterLinear}
	op.GeoM.Translate(-scale/2, -scale/2)
	op.GeoM.Scale(float64(2*half[0]-gap), float64(2*half[1]-gap))
	var turn ebiten.GeoM
	turn.SetElement(0, 0, cos)
	turn.SetElement(0, 1, sin)
	turn.SetElement(1, 0, -sin)
	turn.SetElement(1, 1, cos)
	op.GeoM.Concat(turn)
	op.GeoM.Translate(float64(x), float64(y))
	op.ColorScale.ScaleWithColor(paint)
	screen.DrawImage(g.box, op)
}

func save(name string, screen *ebiten.Image) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return png.Encode(f, screen)
}

func main() {
	shot := flag.String("shot", "", "write a picture to `file.png` at the end")
	frames := flag.Int("frames", 0, "end after so many `frames` of 1/60 s, with a shot at the pyramid at the beginning")
	flag.Parse()
	s, err := scene.New()
	if err != nil {
		log.Fatal(err)
	}
	if *frames > 0 {
		if err := s.Sim.Push(scene.Shot(30, 10, 0)); err != nil {
			log.Fatal(err)
		}
	}
	published, err := s.Sim.Publish(evertick.PublishConfig{
		Transforms: []string{"position.x", "position.y", "rotation.z", "rotation.w"}, // bodies move in a plane
		Columns:    []string{s.Half.Name()},
		Tags:       []ecs.Tag{s.Ball},
	})
	if err != nil {
		log.Fatal(err)
	}
	g := &game{scene: s, frames: published, drawn: ecs.NewTransforms(s.Sim.World.Cap()), box: ebiten.NewImage(scale, scale), shot: *shot, stop: *frames}
	g.box.Fill(color.White)
	if g.stop == 0 {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go g.run(ctx)
	}
	ebiten.SetWindowSize(scene.Width*scale, scene.Height*scale)
	ebiten.SetWindowTitle("evertick")
	ebiten.SetTPS(ebiten.SyncWithFPS) // one Update a frame: the Sim keeps its own time
	if err := ebiten.RunGame(g); err != nil {
		log.Fatal(err)
	}
}
