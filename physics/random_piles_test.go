package physics_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// pileWorld makes a world in which most bodies come to rest, so that contacts are recycled and blocks are kept.
func pileWorld(t testing.TB, c physics.Config, seed uint64) *randomWorld {
	w := &randomWorld{World: newWorld(t, c), t: t, seed: seed}
	w.rng = *rand.NewPCG(seed, 77)
	f := func() []float32 { return make([]float32, randomSlots) }
	w.entities = physics.Transforms{X: f(), Y: f(), Z: f(), QX: f(), QY: f(), QZ: f(), QW: f()}
	floor := body(t, w.World, physics.StaticBody, 0, 0)
	keep(w, &w.shapes, must[physics.Shape](t)(w.CreatePolygon(floor, plain, physics.Box(30, 0.5))))
	keep(w, &w.bodies, floor)
	rows := 3 + w.pick(5)
	for r := range rows {
		for k := range rows - r {
			b := body(t, w.World, physics.DynamicBody, float32(k)*1.05+float32(r)*0.525-4, 1+float32(r)*1.0)
			keep(w, &w.bodies, b)
			d := plain
			d.Restitution = []float32{0, 0, 0.3}[w.pick(3)]
			d.UserMaterial = uint64(w.pick(3))
			d.RollingResistance = []float32{0, 0, 0.1}[w.pick(3)]
			if w.one(5) {
				keep(w, &w.shapes, must[physics.Shape](t)(w.CreateCapsule(b, d, physics.Capsule{P1: [2]float32{-0.3, 0}, P2: [2]float32{0.3, 0}, Radius: 0.5})))
			} else {
				keep(w, &w.shapes, must[physics.Shape](t)(w.CreatePolygon(b, d, physics.Box(0.5, 0.5))))
			}
			if w.one(6) {
				d.Sensor = true
				keep(w, &w.shapes, must[physics.Shape](t)(w.CreatePolygon(b, d, physics.Box(0.7, 0.7))))
			}
		}
	}
	if w.one(2) { // a chain as a second floor
		b := body(t, w.World, physics.StaticBody, 15, 2)
		var def physics.ChainDef
		def.Shape = plain
		for i := range 12 {
			def.Points = append(def.Points, [2]float32{8 - float32(i), 0})
		}
		ch, err := w.CreateChain(b, def)
		if err != nil {
			t.Fatal(err)
		}
		keep(w, &w.chains, ch)
		for k := range 6 {
			x := body(t, w.World, physics.DynamicBody, 11+float32(k)*1.2, 2.5)
			keep(w, &w.bodies, x)
			keep(w, &w.shapes, must[physics.Shape](t)(w.CreatePolygon(x, plain, physics.Box(0.5, 0.5))))
		}
	}
	return w
}

// pileBody returns a body of the pile.
func (w *randomWorld) pileBody() physics.Body { return w.bodies[w.pick(len(w.bodies))] }

// pileOp makes a call that changes a pile, and names it.
func (w *randomWorld) pileOp() string {
	b := w.pileBody()
	switch w.pick(24) {
	case 0:
		w.SetMassData(b, physics.MassData{Mass: w.float(0.5, 2), Inertia: w.float(0, 1), Center: w.vector(0.05)})
		return "mass"
	case 1:
		w.ResetMassData(b)
		return "own mass"
	case 2:
		s := w.shape()
		d, err := w.ShapeDef(s)
		if err == nil {
			d.Friction, d.Restitution, d.TangentSpeed, d.RollingResistance = w.float(0, 1), w.float(0, 0.5), w.float(-1, 1), w.float(0, 0.2)
			d.UserMaterial = uint64(w.pick(3))
			w.SetShapeDef(s, d)
		}
		return "def"
	case 3:
		w.SetType(b, physics.BodyType(w.pick(3)))
		return "type"
	case 4:
		w.SetType(b, physics.DynamicBody)
		return "dynamic"
	case 5:
		p, _ := w.Position(b)
		a, _ := w.Angle(b)
		w.SetTransform(b, [2]float32{p[0] + w.float(-0.01, 0.01), p[1] + w.float(-0.01, 0.01)}, a+w.float(-0.01, 0.01))
		return "nudge"
	case 6:
		s := w.shape()
		w.DestroyShape(s)
		for i := range w.shapes {
			if w.shapes[i] == s {
				if n, err := w.CreatePolygon(b, plain, physics.Box(0.5, 0.5)); err == nil {
					w.shapes[i] = n
				}
			}
		}
		return "again"
	case 7:
		w.reshape(w.shape(), w)
		return "reshape"
	case 8:
		w.SetMaterialPair(w.materialPair())
		return "pair"
	case 9:
		w.RemoveMaterialPair(uint64(w.pick(3)), uint64(w.pick(3)))
		return "no pair"
	case 10:
		w.Disable(b)
		return "disable"
	case 11:
		w.Enable(b)
		return "enable"
	case 12:
		w.Disable(b)
		w.Enable(b)
		return "disable and enable"
	case 13:
		w.SetMotionLocks(b, physics.MotionLocks{X: w.one(4), Y: w.one(4), Rotation: w.one(3)})
		return "locks"
	case 14:
		w.SetAwake(b, w.one(2))
		return "awake"
	case 15:
		w.SetTuning(physics.Tuning{ContactHertz: w.float(10, 60), PushSpeed: w.float(1, 5)})
		return "tuning"
	case 16:
		w.ApplyLinearImpulse(b, w.vector(1), w.vector(1))
		return "impulse"
	case 17:
		w.EnableSleeping(w.one(2))
		return "sleeping"
	case 18:
		w.SetWorkers(1 + w.pick(4))
		return "workers"
	case 19:
		w.IgnorePair(b, w.pileBody())
		return "ignore"
	case 20:
		w.UnignorePair(b, w.pileBody())
		return "heed"
	case 21:
		s := w.shape()
		d, err := w.ShapeDef(s)
		if err == nil {
			if d.OneWay = [2]float32{}; w.one(2) {
				d.OneWay = [2]float32{0, 1}
			}
			w.SetShapeDef(s, d)
		}
		return "one-way"
	case 22:
		w.SetSpan(b, w.span())
		return "span"
	case 23:
		c := w.Columns()
		i := b.Index()
		if w.Valid(b) && c.Type[i] != physics.StaticBody {
			c.VX[i] += w.float(-0.1, 0.1)
			c.X[i] += w.float(-0.001, 0.001)
		}
		return "write"
	}
	return ""
}

// Worlds that keep blocks go on as worlds that were restored or copied from them, after any call.
func TestRandomPiles(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 12
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := physics.Config{Capacity: 128, Gravity: [2]float32{0, -10}, Level: native.Levels()[0], Workers: 1, DisableSleep: seed%3 == 0, StageHashes: seed%7 == 6}
			a := pileWorld(t, c, uint64(seed))
			levels := native.Levels()
			c.Level, c.Workers = levels[len(levels)-1], 3
			twin := newWorld(t, c)
			c.Workers = 1
			c.StageHashes = false
			single := newWorld(t, c)
			var data []byte
			mode := seed / 3 % 3
			log := ""
			for tick := range 200 {
				n := 0
				if tick > 40 && a.one(6) {
					n = 1 + a.pick(3)
				}
				for range n {
					op := a.pileOp()
					log += fmt.Sprintf(" %d:%s", tick, op)
				}
				data = must[[]byte](t)(a.Snapshot(data[:0]))
				if mode != 1 || tick == 0 || n > 0 || a.one(10) {
					if err := twin.Restore(data); err != nil {
						t.Fatal(err)
					}
				}
				if mode == 0 || tick == 0 || n > 0 || a.one(10) {
					if err := single.CopyFrom(a.World); err != nil {
						t.Fatal(err)
					}
				}
				for _, w := range []*physics.World{a.World, twin, single} {
					if err := w.Step(dt); err != nil {
						t.Fatal(err)
					}
				}
				sameState(t, fmt.Sprintf("seed %d tick %d twin:%s", seed, tick, log), a.World, twin)
				sameState(t, fmt.Sprintf("seed %d tick %d single:%s", seed, tick, log), a.World, single)
			}
		})
	}
}
