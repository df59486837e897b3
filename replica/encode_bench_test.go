package replica

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// scene is n discs that move as in an open square of some density: straight ahead with a spin, and now and
// then one of them changes its course.
type scene struct {
	sim         *evertick.Sim
	r           *rand.Rand
	size        float32
	vx, vy, w   []float32
	angle       []float32
	s           *source
	viewers     []*viewer
	tick        uint64
	message     []byte
	bytes, live int
}

// newScene returns a scene with clients, of which each sees about seen entities; 0: all.
func newScene(tb testing.TB, n, clients, seen int, c Config) *scene {
	sim, err := evertick.New(evertick.Config{Capacity: n})
	if err != nil {
		tb.Fatal(err)
	}
	size := float32(math.Sqrt(float64(n))) * 2
	x := &scene{sim: sim, r: rand.New(rand.NewPCG(1, 2)), size: size}
	sim.World.SpawnN(make([]ecs.ID, n))
	for i := range n {
		sim.World.Position.X[i], sim.World.Position.Y[i] = x.r.Float32()*size, x.r.Float32()*size
		x.vx, x.vy, x.w = append(x.vx, 8*x.r.Float32()-4), append(x.vy, 8*x.r.Float32()-4), append(x.w, 4*x.r.Float32()-2)
		x.angle = append(x.angle, 6*x.r.Float32())
	}
	if c.Columns == nil {
		c.Columns = []Column{{Name: "position.x", Codec: Quantised{}}, {Name: "position.y", Codec: Quantised{}}, {Name: Rotation, Codec: Planar{}}}
	}
	if seen > 0 {
		c.View.Enter = float32(math.Sqrt(float64(seen) / math.Pi * 4))
		c.View.Leave = c.View.Enter * 1.1
	}
	if x.s, err = newSource(sim, &c); err != nil {
		tb.Fatal(err)
	}
	for i := range clients {
		v := newViewer(uint32(i+1), true)
		v.centre = centre{point: true, x: x.r.Float32() * size, y: x.r.Float32() * size}
		x.viewers = append(x.viewers, v)
	}
	return x
}

// move moves all discs by a tick of 1/60 s.
func (x *scene) move() {
	const dt = 1.0 / 60
	w := x.sim.World
	for i := range x.vx {
		if x.r.IntN(40) == 0 { // a contact
			x.vx[i], x.vy[i], x.w[i] = x.vx[i]+x.r.Float32()-0.5, x.vy[i]+x.r.Float32()-0.5, x.w[i]+x.r.Float32()-0.5
		}
		w.Position.X[i] += x.vx[i] * dt
		w.Position.Y[i] += x.vy[i] * dt
		if w.Position.X[i] < 0 || w.Position.X[i] > x.size {
			x.vx[i] = -x.vx[i]
		}
		if w.Position.Y[i] < 0 || w.Position.Y[i] > x.size {
			x.vy[i] = -x.vy[i]
		}
		x.angle[i] += x.w[i] * dt
		w.Rotation.Z[i], w.Rotation.W[i] = float32(math.Sin(float64(x.angle[i]/2))), float32(math.Cos(float64(x.angle[i]/2)))
	}
	w.Position.Touch()
	w.Rotation.Touch()
}

func (x *scene) capture() {
	x.tick++
	x.s.observe()
	x.s.capture(x.tick, x.tick*16667)
}

// send makes the messages of all viewers, which all take.
func (x *scene) send() {
	if x.s.begin(x.viewers) != nil {
		panic("begin")
	}
	x.write()
	x.s.end()
}

func (x *scene) write() {
	for _, v := range x.viewers {
		x.message = x.s.append(x.message[:0], v, appliedInput{})
		x.bytes += len(x.message)
		v.sent()
		if x.live += len(v.base.list); v.base.all {
			x.live += len(x.s.present.slots)
		}
	}
}

func (x *scene) run(ticks int) {
	for range ticks {
		x.move()
		x.capture()
		x.send()
	}
	x.bytes, x.live = 0, 0
}

func BenchmarkCapture(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		x := newScene(b, n, 0, 0, Config{})
		for range 40 {
			x.move()
			x.capture()
		}
		b.Run(fmt.Sprintf("n=%d/moving", n), func(b *testing.B) {
			for range b.N {
				x.sim.World.Position.Touch()
				x.sim.World.Rotation.Touch()
				x.capture()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entity")
		})
		b.Run(fmt.Sprintf("n=%d/still", n), func(b *testing.B) {
			for range b.N {
				x.capture()
			}
		})
	}
}

// BenchmarkSend is all work of a send tick for 1,000 clients, of which each sees 100 of 10,000 entities.
func BenchmarkSend(b *testing.B) {
	for _, c := range []struct{ n, clients, seen int }{{10_000, 1000, 100}, {10_000, 100, 0}, {100_000, 1000, 100}} {
		name := fmt.Sprintf("n=%d/clients=%d/seen=%d", c.n, c.clients, c.seen)
		x := newScene(b, c.n, c.clients, c.seen, Config{})
		x.run(70)
		for _, part := range []string{"views", "frames"} {
			b.Run(name+"/"+part, func(b *testing.B) {
				x.bytes, x.live = 0, 0
				b.StopTimer()
				for range b.N {
					x.move()
					x.capture()
					if part == "views" {
						b.StartTimer()
					}
					if err := x.s.begin(x.viewers); err != nil {
						b.Fatal(err)
					}
					if part == "frames" {
						b.StartTimer()
					}
					if part == "views" {
						b.StopTimer()
					}
					x.write()
					b.StopTimer()
					x.s.end()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(x.live, 1)), "ns/visible")
				b.ReportMetric(float64(x.bytes)/float64(max(x.live, 1)), "B/visible")
			})
		}
	}
}

// BenchmarkBudget is the messages of 10 clients that see 1,000 entities each, of which not all fit.
func BenchmarkBudget(b *testing.B) {
	x := newScene(b, 10_000, 10, 1000, Config{Budget: 1200})
	x.run(100)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		x.move()
		x.capture()
		if err := x.s.begin(x.viewers); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		x.write()
		b.StopTimer()
		x.s.end()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(x.live), "ns/visible")
	b.ReportMetric(float64(x.bytes)/float64(10*b.N), "B/frame")
}
