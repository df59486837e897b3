// Command viewer shows bodies in a window, at the refresh rate of the display, while
// the simulation ticks 60 times a second. A click shoots a ball.
//
// On Linux it needs the headers of X11 and OpenGL: apt-get install libgl1-mesa-dev xorg-dev.
package main

import (
	"errors"
	"flag"
	"fmt"
	"image/color"
	"image/png"
	"log"
	"os"
	"time"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/ebitenutil"
	"github.com/hajimehoshi/ebiten/v2/inpututil"
	"github.com/hajimehoshi/ebiten/v2/vector"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/examples/viewer/scene"
)

const scale = 24 // pixels a metre

var (
	sky    = color.RGBA{0x12, 0x16, 0x1d, 0xff}
	ground = color.RGBA{0x3a, 0x42, 0x50, 0xff}
	awake  = color.RGBA{0xe8, 0x8c, 0x4a, 0xff}
	asleep = color.RGBA{0x5b, 0x8f, 0xb0, 0xff}
	ball   = color.RGBA{0xf2, 0xd0, 0x64, 0xff}
)

// guide:begin game

// game implements ebiten.Game.
type game struct {
	scene *scene.Scene
	drawn *ecs.Transforms // where to draw, between two ticks
	last  time.Time
	shots uint64

	box    *ebiten.Image // white
	frames int           // so far
	shot   string        // a file for a picture of frame number stop; none: ""
	stop   int
}

// Update is called once a frame, since main sets SyncWithFPS. The Sim decides how many ticks
// that is. What the player does reaches it as an input, never directly.
func (g *game) Update() error {
	if g.frames++; g.stop > 0 && g.frames > g.stop {
		return ebiten.Termination
	}
	if inpututil.IsMouseButtonJustPressed(ebiten.MouseButtonLeft) {
		x, y := ebiten.CursorPosition()
		g.shots++
		if err := g.scene.Sim.Push(scene.Shot(float32(x)/scale, scene.Height-float32(y)/scale, g.shots)); err != nil {
			log.Print(err) // too many at once: the game goes on
		}
	}
	now := time.Now()
	elapsed := now.Sub(g.last)
	g.last = now
	if g.stop > 0 {
		elapsed = time.Second / 60 // so that the picture at the end is always the same
	}
	_, err := g.scene.Sim.Advance(elapsed.Nanoseconds())
	return err
}

// Draw draws the entities between two ticks, where they are at the time of this frame.
func (g *game) Draw(screen *ebiten.Image) {
	if err := g.scene.Sim.Interpolate(g.drawn); err != nil {
		log.Fatal(err)
	}
	screen.Fill(sky)
	vector.DrawFilledRect(screen, 0, (scene.Height-1)*scale, scene.Width*scale, scale, ground, false)
	for slot := range g.scene.Sim.World.Query() {
		g.draw(screen, slot)
	}
	_, step := g.scene.Sim.Stats()
	ebitenutil.DebugPrint(screen, fmt.Sprintf("%d bodies, %d awake, tick %d, hash %016x\nstep p50 %d µs, p99 %d µs, %.0f frames/s",
		g.scene.Sim.Physics.Len(), g.scene.Sim.Physics.AwakeCount(), g.scene.Sim.Ticks(), g.scene.Sim.Hash(),
		step.P50/1000, step.P99/1000, ebiten.ActualFPS()))
	if g.shot != "" && g.frames == g.stop {
		if err := save(g.shot, screen); err != nil {
			log.Fatal(err)
		}
	}
}

// guide:end

// Layout keeps the picture at the size of the scene.
func (g *game) Layout(int, int) (int, int) { return scene.Width * scale, scene.Height * scale }

// draw draws the entity in a slot.
func (g *game) draw(screen *ebiten.Image, slot ecs.Slot) {
	half := g.scene.Half.Values()[slot]
	x, y := g.drawn.Position.X[slot]*scale, (scene.Height-g.drawn.Position.Y[slot])*scale
	// The rotation is (0, 0, z, w): cos and sin of the angle, without the angle itself.
	z, w := float64(g.drawn.Rotation.Z[slot]), float64(g.drawn.Rotation.W[slot])
	cos, sin := 1-2*z*z, 2*z*w
	id, _ := g.scene.Sim.World.ID(slot)
	if g.scene.Ball.Has(id) {
		r := half[0] * scale
		vector.DrawFilledCircle(screen, x, y, r, ball, true)
		vector.StrokeLine(screen, x, y, x+r*float32(cos), y-r*float32(sin), 2, sky, true)
		return
	}
	paint := asleep
	if body, ok := g.scene.Sim.Body(id); ok && g.scene.Sim.Physics.Awake(body) {
		paint = awake
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
	g := &game{scene: s, drawn: ecs.NewTransforms(s.Sim.World.Cap()), last: time.Now(), box: ebiten.NewImage(scale, scale), shot: *shot, stop: *frames}
	g.box.Fill(color.White)
	ebiten.SetWindowSize(scene.Width*scale, scene.Height*scale)
	ebiten.SetWindowTitle("evertick")
	ebiten.SetTPS(ebiten.SyncWithFPS) // one Update a frame: the Sim keeps the time
	if err := ebiten.RunGame(g); err != nil {
		log.Fatal(err)
	}
}
