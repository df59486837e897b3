package worlds_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics/raster"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/space/worlds"
	"github.com/evertick/evertick/train"
)

// made returns a batch after Reset.
func made(t testing.TB, def train.Definition, cfg train.Config) (*train.Batch, *train.Buffers) {
	t.Helper()
	b, err := train.New(def, cfg)
	if err != nil {
		t.Fatal(err)
	}
	buf := b.NewBuffers()
	if err := b.Reset(train.Options{}, buf); err != nil {
		t.Fatal(err)
	}
	return b, buf
}

func step(t testing.TB, b *train.Batch, buf *train.Buffers) {
	t.Helper()
	if err := b.Step(buf); err != nil {
		t.Fatal(err)
	}
}

// random fills in random actions.
func random(buf *train.Buffers, step int) {
	for i := range buf.Actions {
		r := loop.NewRand(5, uint64(step), uint64(i), 0)
		buf.Actions[i] = r.Range(-1, 1)
	}
}

// Every level has the hashes, observations and rewards of pure Go, and an episode that is written to a log is verified by each.
func TestSameOnAllLevels(t *testing.T) {
	for _, d := range worlds.All() {
		t.Run(d.Name, func(t *testing.T) {
			ofLevel := func(level native.Level) train.Definition {
				own := d
				own.New = func(c evertick.Config) (train.Game, error) {
					c.Level = level
					return d.New(c)
				}
				return own.Definition()
			}
			steps := 150
			if testing.Short() {
				steps = 60
			}
			cfg := train.Config{Worlds: 3, Seed: 4, MaxSteps: 40, Autoreset: train.SameStep, Record: true}
			run := func(level native.Level) (*train.Batch, []string) {
				b, buf := made(t, ofLevel(level), cfg)
				var seen []string
				for s := range steps {
					random(buf, s)
					step(t, b, buf)
					seen = append(seen, fmt.Sprint(b.AppendHashes(nil), buf.Obs, buf.Reward, buf.Truncated))
				}
				return b, seen
			}
			_, want := run(native.Go)
			for _, level := range native.Levels() {
				b, seen := run(level)
				for s := range seen {
					if seen[s] != want[s] {
						t.Fatalf("level %v differs at step %d:\n%s, want\n%s", level, s, seen[s], want[s])
					}
				}
				dir := filepath.Join(t.TempDir(), level.String())
				ex, err := b.Export(1, dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, other := range native.Levels() {
					rep, err := replay.Verify(dir, d.ReplayScenario(evertick.Config{Level: other, Workers: 2}), replay.VerifyOptions{})
					if err != nil || rep.Hash != ex.Hash || rep.Ticks != uint64(ex.Steps)+1 {
						t.Errorf("%v verifies an episode of %v: %+v, %v; want %+v", other, level, rep, err, ex)
					}
				}
			}
		})
	}
}

// A law that sees tilt and turn of the pole from the quaternion keeps it up; without forces it falls.
func TestBallPoleIsBalanced(t *testing.T) {
	for _, gain := range []float32{0, 1} {
		b, buf := made(t, worlds.BallPole().Definition(), train.Config{Worlds: 8, Seed: 3, Autoreset: train.Disabled})
		up := make([]int, b.Len())
		for range 500 {
			for i := range up {
				o := buf.Obs[11*i:][:11]
				// The axis of the pole leans to (lx, lz); a turn about z moves it along -x, one about x along z.
				lx, lz := 2*(o[4]*o[5]-o[7]*o[6]), 2*(o[5]*o[6]+o[7]*o[4])
				push := func(lean, turn, at, speed float32) float32 {
					return gain * max(-1, min(1, 4*lean+1.2*turn+0.15*at+0.3*speed))
				}
				buf.Actions[2*i] = push(lx, -o[10], o[0], o[2])
				buf.Actions[2*i+1] = push(lz, o[8], o[1], o[3])
			}
			step(t, b, buf)
			for i := range up {
				if !buf.Terminated[i] && !buf.Truncated[i] {
					up[i]++
				}
			}
			if again := slices.Concat(buf.Terminated); slices.Contains(again, true) {
				break
			}
		}
		switch least := slices.Min(up); {
		case gain == 0 && least > 200:
			t.Errorf("poles stand for %v steps without forces", up)
		case gain == 1 && least < 499:
			t.Errorf("poles stand for %v steps of 500", up)
		}
	}
}

// product returns the product of two quaternions x, y, z, w.
func product(a, b [4]float64) [4]float64 {
	return [4]float64{
		a[3]*b[0] + a[0]*b[3] + a[1]*b[2] - a[2]*b[1],
		a[3]*b[1] - a[0]*b[2] + a[1]*b[3] + a[2]*b[0],
		a[3]*b[2] + a[0]*b[1] - a[1]*b[0] + a[2]*b[3],
		a[3]*b[3] - a[0]*b[0] - a[1]*b[1] - a[2]*b[2],
	}
}

// reach returns the action whose targets put the hand at the goal, and how far the rotation of the shoulder is from one that an action can
// have: it has no part about y, and the others are bounded.
func reach(goal [3]float64) (action [3]float32, off float64) {
	const link = 0.72
	d := math.Sqrt(goal[0]*goal[0] + goal[1]*goal[1] + goal[2]*goal[2])
	elbow := 2 * math.Acos(d/(2*link))
	from, to := [3]float64{0, -math.Cos(elbow / 2), -math.Sin(elbow / 2)}, [3]float64{goal[0] / d, goal[1] / d, goal[2] / d}
	short := [4]float64{from[1]*to[2] - from[2]*to[1], from[2]*to[0] - from[0]*to[2], from[0]*to[1] - from[1]*to[0],
		1 + from[0]*to[0] + from[1]*to[1] + from[2]*to[2]}
	off = math.Inf(1)
	for k := range 720 {
		sin, cos := math.Sincos(math.Pi * float64(k) / 720)
		q := product([4]float64{sin * to[0], sin * to[1], sin * to[2], cos}, short)
		x, z := q[0]/q[3]/2, q[2]/q[3]/2
		if miss := math.Abs(q[1]/q[3]) + max(0, math.Abs(x)-1) + max(0, math.Abs(z)-1); miss < off {
			clamp := func(v float64) float32 { return float32(max(-1, min(1, v))) }
			action, off = [3]float32{clamp(x), clamp(z), clamp(elbow/1.2 - 1)}, miss
		}
	}
	return action, off
}

// Targets of the joints that put the hand at the goal bring it there, and the quaternions of the observation are unit rotations that have
// turned to the targets.
func TestArmReaches(t *testing.T) {
	const n = 50
	b, buf := made(t, worlds.Arm().Definition(), train.Config{Worlds: n, Seed: 1, Autoreset: train.Disabled})
	var done, can [n]bool
	for i := range n {
		o := buf.Obs[20*i:][:20]
		action, off := reach([3]float64{float64(o[17]), float64(o[18]), float64(o[19])})
		can[i] = off < 0.02
		copy(buf.Actions[3*i:], action[:])
	}
	reached, able := 0, 0
	for range 240 {
		step(t, b, buf)
		again := false
		for i := range n {
			if buf.Terminated[i] && !done[i] {
				done[i] = true
				if buf.Reward[i] < 9 {
					t.Errorf("world %d has reached the goal for %v", i, buf.Reward[i])
				}
			}
			again = again || buf.Terminated[i]
		}
		if again {
			if err := b.Reset(train.Options{Only: slices.Clone(buf.Terminated)}, buf); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range n {
		if can[i] {
			able++
		}
		if can[i] && done[i] {
			reached++
		}
		o := buf.Obs[20*i:][:20]
		for k, name := range []string{"upper", "lower"} {
			q := o[7*k:][:4]
			if n := q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3]; math.Abs(float64(n)-1) > 1e-4 {
				t.Errorf("world %d: the quaternion %v of the %s link has the squared length %v", i, q, name, n)
			}
		}
	}
	if able < n/2 || 10*reached < 9*able {
		t.Errorf("%d of %d hands have reached their goal, of %d worlds", reached, able, n)
	}
}

// Pictures show the bodies.
func TestPictures(t *testing.T) {
	for _, d := range worlds.All() {
		b, buf := made(t, d.Definition(), train.Config{Worlds: 2, Seed: 3})
		canvas, err := raster.New(120, 90)
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for s := range 30 {
			if s%15 == 0 {
				if err := b.Render(1, canvas); err != nil {
					t.Fatal(err)
				}
				img := canvas.Image()
				colours := map[string]int{}
				for i := 0; i < len(img.Pix); i += 4 {
					colours[fmt.Sprint(img.Pix[i:i+3])]++
				}
				if len(colours) < 3 {
					t.Errorf("%s: colours %v", d.Name, colours)
				}
				seen = append(seen, string(img.Pix))
			}
			random(buf, s)
			step(t, b, buf)
		}
		if seen[0] == seen[1] {
			t.Errorf("%s: nothing moves in the picture", d.Name)
		}
	}
}
