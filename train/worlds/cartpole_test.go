package worlds_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/train"
)

// model is the equation of motion in float64 with the sine of package math, written again
// from the paper.
func model(force float64, s [4]float64) [4]float64 {
	const g, m, total, l, tau = 9.8, 0.1, 1.1, 0.5, 0.02
	x, v, theta, omega := s[0], s[1], s[2], s[3]
	sin, cos := math.Sin(theta), math.Cos(theta)
	temp := (force + m*l*omega*omega*sin) / total
	alpha := (g*sin - cos*temp) / (l * (4.0/3 - m*cos*cos/total))
	acc := temp - m*l*alpha*cos/total
	return [4]float64{x + tau*v, v + tau*acc, theta + tau*omega, omega + tau*alpha}
}

// Each step of a cart is, within the rounding of float32, that of the model from the same
// state, and the episode ends where CartPole-v1 ends it.
func TestCartPoleModel(t *testing.T) {
	b, buf := made(t, "cartpole", train.Config{Worlds: 512, Seed: 11})
	ends := 0
	for s := range 200 {
		policy(b.Definition(), buf, s)
		was := append([]float32(nil), buf.Obs...)
		begins := make([]bool, b.Len())
		for i := range begins {
			_, _, _, begins[i], _ = b.Episode(i)
		}
		step(t, b, buf)
		for i := range b.Len() {
			o := buf.Obs[4*i:][:4]
			if begins[i] {
				for k, v := range o {
					if !(v >= -0.05 && v <= 0.05) || buf.Reward[i] != 0 || buf.Terminated[i] {
						t.Fatalf("step %d, world %d begins with %v, number %d", s, i, o, k)
					}
				}
				continue
			}
			force := -10.0
			if buf.Choices[i] == 1 {
				force = 10
			}
			want := model(force, [4]float64{float64(was[4*i]), float64(was[4*i+1]), float64(was[4*i+2]), float64(was[4*i+3])})
			for k := range want {
				if d := math.Abs(want[k] - float64(o[k])); !(d <= 1e-6*(1+math.Abs(want[k]))) {
					t.Fatalf("step %d, world %d: %v, the model says %v", s, i, o, want)
				}
			}
			out := math.Abs(float64(o[0])) > 2.4 || math.Abs(float64(o[2])) > 12*2*math.Pi/360
			near := math.Abs(math.Abs(float64(o[0]))-2.4) < 1e-5 || math.Abs(math.Abs(float64(o[2]))-0.20943951) < 1e-5
			if buf.Reward[i] != 1 || buf.Terminated[i] != out && !near {
				t.Fatalf("step %d, world %d at %v: reward %v, terminated %v", s, i, o, buf.Reward[i], buf.Terminated[i])
			}
			if buf.Terminated[i] {
				ends++
			}
		}
	}
	if ends < 512 {
		t.Errorf("%d episodes have ended", ends)
	}
}

// An episode that does not end is truncated after 500 steps. Pushing against the fall is
// enough to reach them.
func TestCartPoleTruncated(t *testing.T) {
	b, buf := made(t, "cartpole", train.Config{Seed: 4, Autoreset: train.Disabled})
	for s := range 500 {
		o := buf.Obs
		buf.Choices[0] = 0
		if o[2]+o[3]/4+o[0]/50+o[1]/20 > 0 {
			buf.Choices[0] = 1
		}
		step(t, b, buf)
		if buf.Terminated[0] || buf.Truncated[0] != (s == 499) {
			t.Fatalf("step %d: terminated %v, truncated %v at %v", s, buf.Terminated[0], buf.Truncated[0], o)
		}
	}
}
