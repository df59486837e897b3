package worlds_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

// Each of the agents runs to the nearest runner that it sees: each is paid for its own catches, and together for all.
func TestTagTeam(t *testing.T) {
	const n, size, steps = 4, 23, 600
	b, err := train.New(worlds.TagTeam().Definition(), train.Config{Worlds: n, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	buf := b.NewBuffers()
	if err := b.Reset(train.Options{}, buf); err != nil {
		t.Fatal(err)
	}
	var caught [n]float64
	var each [3]float64
	ended := 0
	for range steps {
		for row := range 3 * n {
			o := buf.Obs[size*row:][:size]
			x, y := o[4], o[5]
			if o[6] == 0 { // it sees none, and runs to the centre
				x, y = -o[0], -o[1]
			}
			length := max(1e-3, float32(math.Hypot(float64(x), float64(y))))
			buf.Actions[2*row], buf.Actions[2*row+1] = x/length*0.999, y/length*0.999
		}
		step(t, b, buf)
		for i := range n {
			for a := range 3 {
				catches := math.Round(float64(buf.Reward[3*i+a]) + 0.01)
				if buf.Live[3*i+a] || buf.Terminated[3*i+a] {
					caught[i] += catches
					each[a] += catches
				}
			}
			for a := range 3 {
				if left := float64(buf.Obs[size*(3*i+a)+size-1]) * 9; math.Abs(left+caught[i]-9) > 1e-4 {
					t.Fatalf("world %d: %v caught, %v left", i, caught[i], left)
				}
				if buf.Terminated[3*i+a] != buf.Terminated[3*i] {
					t.Fatalf("world %d: an agent ends alone", i)
				}
			}
			if buf.Terminated[3*i] {
				ended++
			}
			if buf.Terminated[3*i] || buf.Truncated[3*i] { // the next step begins with nine runners
				caught[i] = 0
			}
		}
	}
	if ended == 0 || each[0] == 0 || each[1] == 0 || each[2] == 0 {
		t.Errorf("%d episodes have ended, catches %v", ended, each)
	}
}
