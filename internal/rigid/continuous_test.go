package rigid_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// Fast on each level, split anywhere, against the whole in Go.
func TestParityFast(t *testing.T) {
	run := paritytest.Start(t, "Fast")
	g := &heapGuard{t: t, bufs: map[string]*paritytest.Buffer[float32]{}}
	for range paritytest.Rounds(200) {
		n := 1 + run.IntN(70)
		states, least, most := make([]rigid.State, n), make([]float32, n), make([]float32, n)
		if run.IntN(2) == 0 {
			run.Fill(words(states), paritytest.Finite...)
			run.Fill(least, paritytest.Finite...)
			run.Fill(most, paritytest.Finite...)
		} else {
			run.Fill(words(states), paritytest.Uniform)
			for i := range states {
				least[i], most[i] = run.Float(paritytest.Uniform), run.Float(paritytest.Uniform)
				if run.IntN(4) == 0 { // exactly at the edge, or nearly
					st := &states[i]
					st.DX, st.DY, st.C, st.S = 0.5*least[i], 0, 1, 0
					if run.IntN(2) == 0 {
						st.DX = math.Nextafter32(st.DX, 1e9)
					}
				}
				if run.IntN(9) == 0 {
					special := [...]float32{float32(math.NaN()), float32(math.Inf(1)), 0, float32(math.Copysign(0, -1))}
					*[...]*float32{&states[i].DX, &states[i].S, &states[i].InvMass, &least[i], &most[i]}[run.IntN(5)] = special[run.IntN(4)]
				}
			}
		}
		e := rigid.Extents{Min: least, Max: most}
		want := make([]uint32, n)
		want = want[:e.FindFast(native.Go, states, 0, n, want)]
		for _, level := range native.Levels() {
			run.Case(level)
			g.side, g.gap = paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1)
			guarded := structs[rigid.State](g.copy("states", words(states)))
			e := rigid.Extents{Min: g.copy("least", least), Max: g.copy("most", most)}
			var got []uint32
			for lo := 0; lo < n; {
				hi := lo + 1 + run.IntN(n-lo)
				room := structs[uint32](g.copy("out", make([]float32, hi-lo)))
				got = append(got, room[:e.FindFast(level, guarded, lo, hi, room)]...)
				lo = hi
			}
			run.Check(paritytest.Bits("fast", got, want), g.check())
		}
	}
}

// moved is a solid elsewhere.
func (s solid) moved(by point) solid {
	v := make([]point, len(s.v))
	for i := range v {
		v[i] = s.v[i].add(by)
	}
	return solid{v, s.r}
}

func solidOf(vertices []rigid.Vec, radius float32) solid {
	s := solid{r: float64(radius)}
	for _, v := range vertices {
		s.v = append(s.v, wide(v))
	}
	return s
}

// The distance of convex shapes agrees with brute force, and its direction separates them by
// as much.
func TestDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for round := range paritytest.Rounds(200000) {
		a, b := randomShape(rng), randomShape(rng)
		a.Radius, b.Radius = 0, 0
		move := rigid.Vec{X: float32(within(rng, -2, 2)), Y: float32(within(rng, -2, 2))}
		sa, sb := solidOf(a.Vertices[:a.Count], 0).moved(wide(move)), solidOf(b.Vertices[:b.Count], 0)
		want, apart := sa.distance(sb)
		got, n := rigid.HullsApart(&a, &b, move)
		if !apart {
			want = 0
		}
		if math.Abs(float64(got)-want) > 4e-6 {
			t.Fatalf("round %d: distance %g, want %g", round, got, want)
		}
		if !(want > 1e-4) {
			continue
		}
		least, most := math.Inf(1), math.Inf(-1)
		for _, v := range sa.v {
			least = min(least, v.dot(wide(n)))
		}
		for _, v := range sb.v {
			most = max(most, v.dot(wide(n)))
		}
		if math.Abs(wide(n).length()-1) > 1e-6 || least-most < want-1e-5 {
			t.Fatalf("round %d: direction %v separates by %g, not %g", round, n, least-most, want)
		}
	}
}

// A core is within its shape, no nearer to its surface than half of its extent, and there.
func TestCore(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for round := range 20000 {
		s := randomShape(rng)
		extent, _ := s.Extents()
		vertices, radius := s.Core()
		whole := solidOf(s.Vertices[:s.Count], s.Radius)
		for _, v := range vertices {
			depth := whole.toPoint(wide(v)) + float64(radius)
			if depth > -0.499*float64(extent)+1e-6 {
				t.Fatalf("round %d: the core of %+v is %g from its surface, extent %g", round, s, depth, extent)
			}
		}
		if radius < 0 {
			t.Fatalf("round %d: radius %g", round, radius)
		}
	}
}

// flight is a shape that flies past an obstacle.
type flight struct {
	scene // 0: the obstacle; 1: the shape where it is at the end
	sweep rigid.ContinuousSolver
	broad broad.Phase
	move  point
	turn  float64
}

func randomFlight(rng *rand.Rand) *flight {
	f := &flight{}
	x, y := within(rng, -20, 20), within(rng, -20, 20)
	f.add(randomShape(rng), x, y, within(rng, 0, 7))
	f.add(randomShape(rng), x+within(rng, -3, 3), y+within(rng, -3, 3), within(rng, 0, 7))
	if rng.IntN(3) > 0 {
		f.turn = within(rng, -3, 3)
	}
	sin, cos := math.Sincos(f.turn)
	states := make([]rigid.State, 2)
	states[1] = rigid.State{W: float32(60 * f.turn), InvMass: 1, C: float32(cos), S: float32(sin),
		DX: float32(within(rng, -4, 4)), DY: float32(within(rng, -4, 4))}
	filters := &broad.Filters{Body: f.bodyOf, Moves: []bool{false, true}, Category: []uint64{1, 1}, Mask: []uint64{1, 1}, Group: make([]int32, 2)}
	f.sweep = rigid.ContinuousSolver{
		States: states, Poses: f.poses, Angle: make([]float32, 2), VX: make([]float32, 2), VY: make([]float32, 2), Dt: 1. / 60, Head: []uint32{1, 2}, Next: make([]uint32, 2),
		Shapes: f.shapes, Filters: filters, Sensor: make([]bool, 2), MaxExtent: make([]float32, 2),
	}
	_, f.sweep.MaxExtent[1] = f.shapes[1].Extents()
	f.move = point{float64(states[1].DX), float64(states[1].DY)}
	f.sweep.Angle[1] = rigid.Atan2(f.poses.Sin[1], f.poses.Cos[1])
	boxes := broad.Boxes{MinX: make([]float32, 2), MinY: make([]float32, 2), MaxX: make([]float32, 2), MaxY: make([]float32, 2)}
	rigid.Bounds(goLevel, f.shapes, f.bodyOf, &f.poses, rigid.SpeculativeDistance/2, &boxes)
	f.broad.FindPairs(goLevel, &boxes, filters, 0, new(broad.Pairs))
	return f
}

// at is the moving shape, or its core, at a time of the way that ends at the given pose.
func (f *flight) at(core bool, t float64, x, y, angle float64) solid {
	s := &f.shapes[1]
	vertices, radius := s.Vertices[:s.Count], s.Radius
	if core {
		vertices, radius = s.Core()
	}
	centre := point{x - (1-t)*f.move.x, y - (1-t)*f.move.y}
	sin, cos := math.Sincos(angle - (1-t)*f.turn)
	out := solidOf(vertices, radius)
	for i, p := range out.v {
		out.v[i] = point{cos*p.x - sin*p.y, sin*p.x + cos*p.y}.add(centre)
	}
	return out
}

// Shapes that come from outside stop exactly if their core would meet the obstacle, and then near
// it, before that.
func TestSweepStopsInTime(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	rng := rand.New(rand.NewPCG(4, 3))
	stopped, passed, early := 0, 0, 0
	for round := range max(2400, paritytest.Sample(4000)) {
		f := randomFlight(rng)
		p := &f.poses
		x, y, angle := float64(p.X[1]), float64(p.Y[1]), math.Atan2(float64(p.Sin[1]), float64(p.Cos[1]))
		obstacle := f.solid(0)
		start, apart := f.at(false, 0, x, y, angle).distance(obstacle)
		if !apart || start < 0.02 {
			continue // it begins in touch
		}
		f.sweep.SolveStationary(&f.broad, []uint32{1})
		end := 1.0
		if dx, dy := x-float64(p.X[1]), y-float64(p.Y[1]); dx != 0 || dy != 0 {
			end = 1 - math.Hypot(dx, dy)/f.move.length()
			st := &f.sweep.States[1]
			if math.Abs(float64(st.DX)-end*f.move.x) > 1e-4 || math.Abs(float64(st.DY)-end*f.move.y) > 1e-4 ||
				math.Abs(math.Remainder(math.Atan2(float64(st.S), float64(st.C))-end*f.turn, 2*math.Pi)) > 1e-3 {
				t.Errorf("round %d: it stops at %.4f of %v, %v, but its state says %+v", round, end, f.move, f.turn, st)
			}
		}
		nearest := nearestOnWay(t, round, end, func(at float64) float64 {
			d, _ := f.at(true, at, x, y, angle).distance(obstacle)
			return d
		})
		if end == 1 {
			passed++
			continue
		}
		stopped++
		here, _ := f.at(false, end, x, y, angle).distance(obstacle)
		if here < -1e-4 || here > 1.3*rigid.LinearSlop {
			// A shape that turns past the obstacle may take too many approaches.
			if early++; here < -1e-4 {
				t.Errorf("round %d: it stops %.5f from the obstacle", round, here)
			}
		}
		if nearest > 0.02 && here < 1.3*rigid.LinearSlop {
			t.Errorf("round %d: it stops, but its core comes no nearer than %.4f", round, nearest)
		}
		a := math.Atan2(float64(p.Sin[1]), float64(p.Cos[1]))
		if math.Abs(a-float64(f.sweep.Angle[1])) > 1e-6 {
			t.Errorf("round %d: angle %g, rotation %g", round, f.sweep.Angle[1], a)
		}
	}
	t.Logf("%d stopped, of these %d early; %d passed", stopped, early, passed)
	if stopped < 200 || passed < 200 || early > stopped/100 {
		t.Error("that is not what a test needs")
	}
}

// pursuit is a flight past an obstacle that moves and turns, too.
type pursuit struct {
	*flight
	layout broad.Grid
	was    []rigid.State
	ends   rigid.Poses
}

// randomPursuit is the same for the same generator but for the mass of the obstacle.
func randomPursuit(rng *rand.Rand, invMass float32) *pursuit {
	p := &pursuit{flight: randomFlight(rng)}
	turn := within(rng, -2, 2)
	sin, cos := math.Sincos(turn)
	states := p.sweep.States
	states[0] = rigid.State{W: float32(60 * turn), InvMass: invMass, C: float32(cos), S: float32(sin),
		DX: float32(within(rng, -2, 2)), DY: float32(within(rng, -2, 2))}
	p.was = slices.Clone(states)
	p.ends = rigid.Poses{X: slices.Clone(p.poses.X), Y: slices.Clone(p.poses.Y), Cos: slices.Clone(p.poses.Cos), Sin: slices.Clone(p.poses.Sin)}
	p.broad = broad.Phase{} // nothing is at rest
	_, p.sweep.MaxExtent[0] = p.shapes[0].Extents()
	bounds := func(t float64) *broad.Boxes {
		b := &broad.Boxes{MinX: make([]float32, 2), MinY: make([]float32, 2), MaxX: make([]float32, 2), MaxY: make([]float32, 2)}
		x, y, angle := p.poseAt(0, t)
		poses := rigid.Poses{X: []float32{float32(x), 0}, Y: []float32{float32(y), 0},
			Cos: []float32{float32(math.Cos(angle)), 1}, Sin: []float32{float32(math.Sin(angle)), 0}}
		rigid.Bounds(goLevel, p.shapes, p.bodyOf, &poses, rigid.SpeculativeDistance/2, b)
		return b
	}
	before, boxes := bounds(0), bounds(1)
	p.sweep.SweepBoxes(before, boxes, 0, 2)
	p.layout.Build(goLevel, boxes, []uint64{1})
	return p
}

// poseAt is that of a body at a time of the step.
func (p *pursuit) poseAt(body int, t float64) (x, y, angle float64) {
	st, e := &p.was[body], &p.ends
	turn := float64(st.W) / 60
	angle = math.Atan2(float64(e.Sin[body]), float64(e.Cos[body])) - (1-t)*turn
	return float64(e.X[body]) - (1-t)*float64(st.DX), float64(e.Y[body]) - (1-t)*float64(st.DY), angle
}

// gap is the distance of the moving shape, or its core, from the obstacle at a time.
func (p *pursuit) gap(core bool, t float64) float64 {
	place := func(s *rigid.Shape, core bool, body int) solid {
		vertices, radius := s.Vertices[:s.Count], s.Radius
		if core {
			vertices, radius = s.Core()
		}
		x, y, angle := p.poseAt(body, t)
		sin, cos := math.Sincos(angle)
		out := solidOf(vertices, radius)
		for i, v := range out.v {
			out.v[i] = point{cos*v.x - sin*v.y + x, sin*v.x + cos*v.y + y}
		}
		return out
	}
	d, _ := place(&p.shapes[1], core, 1).distance(place(&p.shapes[0], false, 0))
	return d
}

// nearestOnWay samples the way of a core, from 0 to 1, and returns its least distance from the obstacle. The core must
// not be inside before the body stops.
func nearestOnWay(t *testing.T, round int, end float64, gap func(at float64) float64) float64 {
	t.Helper()
	const samples = 200
	nearest := math.Inf(1)
	for k := range samples + 1 {
		at := float64(k) / samples
		d := gap(at)
		nearest = min(nearest, d)
		if at < end && d < -1e-4 {
			t.Fatalf("round %d: it stops at %.4f, but its core was %.4f inside at %.4f", round, end, -d, at)
		}
	}
	return nearest
}

// What flies past an obstacle that moves stops before its core meets that, at the same time, and is carried on
// with it unless it has more mass.
func TestSweepOfMovingObstacles(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	stopped, passed, early := 0, 0, 0
	for round := range max(2000, paritytest.Sample(3000)) {
		a, b := rng.Uint64(), rng.Uint64()
		p := randomPursuit(rand.New(rand.NewPCG(a, b)), 2) // lighter: it carries nothing
		if p.gap(false, 0) < 0.02 {
			continue // it begins in touch
		}
		p.sweep.SolveMoving(&p.layout, &p.broad, []uint32{1})
		st, was := &p.sweep.States[1], &p.was[1]
		end := math.Hypot(float64(st.DX), float64(st.DY)) / math.Hypot(float64(was.DX), float64(was.DY))
		nearest := nearestOnWay(t, round, end, func(at float64) float64 { return p.gap(true, at) })
		if end == 1 {
			passed++
			continue
		}
		stopped++
		here := p.gap(false, end)
		if here < -1e-3 {
			t.Errorf("round %d: it stops %.5f from the obstacle", round, here)
		}
		if here > 1.5*rigid.LinearSlop {
			early++ // too many approaches
		} else if nearest > 0.02 {
			t.Errorf("round %d: it stops, but its core comes no nearer than %.4f", round, nearest)
		}
		p.isCarried(t, rand.New(rand.NewPCG(a, b)), end)
	}
	t.Logf("%d stopped, of these %d early; %d passed", stopped, early, passed)
	if stopped < 200 || passed < 200 || early > stopped/20 {
		t.Error("that is not what a test needs")
	}
}

// isCarried compares the place of a body that was stopped at a time and carried on with where it would be.
func (p *pursuit) isCarried(t *testing.T, rng *rand.Rand, end float64) {
	t.Helper()
	q := randomPursuit(rng, 0)
	q.sweep.SolveMoving(&q.layout, &q.broad, []uint32{1})
	x, y, angle := p.poseAt(1, end)
	fx, fy, fangle := p.poseAt(0, end)
	tx, ty, tangle := p.poseAt(0, 1)
	sin, cos := math.Sincos(tangle - fangle)
	wantX, wantY := tx+cos*(x-fx)-sin*(y-fy), ty+sin*(x-fx)+cos*(y-fy)
	gotX, gotY := float64(q.poses.X[1]), float64(q.poses.Y[1])
	turn := math.Remainder(math.Atan2(float64(q.poses.Sin[1]), float64(q.poses.Cos[1]))-(angle+tangle-fangle), 2*math.Pi)
	if math.Abs(gotX-wantX) > 1e-3 || math.Abs(gotY-wantY) > 1e-3 || math.Abs(turn) > 1e-3 {
		t.Errorf("stopped at %.4f, it is carried to %.4f, %.4f, and not %.4f, %.4f; by an angle that is %.4f off", end, gotX, gotY, wantX, wantY, turn)
	}
}

// A body that a stop has left with a part of its turn has turned by that, and not by whole turns more, for what comes
// after: another stop, or one that meets it. It may turn by several turns in a step.
func TestStoppedBodiesKeepTheirTurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 6))
	stopped, ambiguous := 0, 0
	for round := range max(2000, paritytest.Rounds(2000)) {
		f := randomFlight(rng)
		f.turn = within(rng, -12, 12)
		sin, cos := math.Sincos(f.turn)
		st := &f.sweep.States[1]
		st.W, st.S, st.C = float32(60*f.turn), float32(sin), float32(cos)
		f.sweep.TurnAngle = make([]float32, 2)
		if got := float64(f.sweep.Turned(1)); math.Abs(got-f.turn) > 1e-4 {
			t.Fatalf("round %d: a turn of %g is taken for %g", round, f.turn, got)
		}
		p := &f.poses
		x, y, angle := float64(p.X[1]), float64(p.Y[1]), math.Atan2(float64(p.Sin[1]), float64(p.Cos[1]))
		if start, apart := f.at(false, 0, x, y, angle).distance(f.solid(0)); !apart || start < 0.02 {
			continue // it may slide, and then turns all the way
		}
		f.sweep.SolveStationary(&f.broad, []uint32{1})
		end := math.Hypot(float64(st.DX), float64(st.DY)) / f.move.length()
		if end > 0.9999 || end == 0 {
			continue
		}
		stopped++
		if math.Round((1-end)*f.turn/(2*math.Pi)) != 0 {
			ambiguous++
		}
		if got := float64(f.sweep.Turned(1)); math.Abs(got-end*f.turn) > 1e-3 {
			t.Errorf("round %d: stopped at %.4f of a turn of %g, it is taken to have turned by %g", round, end, f.turn, got)
		}
	}
	if stopped < 100 || ambiguous < 20 {
		t.Errorf("%d stopped, of these %d early in a long turn", stopped, ambiguous)
	}
}

// Surround says what it lacks.
func TestSurroundNeedsMost(t *testing.T) {
	f := randomFlight(rand.New(rand.NewPCG(1, 1)))
	f.sweep.MaxExtent = nil
	defer func() {
		if got := recover(); got != "rigid: ContinuousSolver.SweepBoxes: MaxExtent of each body is needed" {
			t.Errorf("panics with %v", got)
		}
	}()
	f.sweep.SweepBoxes(&broad.Boxes{}, &broad.Boxes{}, 0, 2)
}
