//go:build !plane

package command

import (
	"fmt"
	"io"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/scenes3"
	_ "github.com/evertick/evertick/internal/sims3" // scenes
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

func init() {
	for _, d := range scenes3.All() {
		Register(Scene{
			Name: d.Name, Family: inSpace, Help: fmt.Sprintf("%s (n %d)", d.Help, d.N),
			Flags: append([]string{"n", "sleep"}, profileFlags...), Check: (*Options).checkSpace, Run: (*Options).runSpace, open: (*Options).openSpace,
			size: &sizeRange{unit: d.Scale, first: 8, most: d.MaxN(), open: func(o *Options, n int, level native.Level) (stepper, error) {
				sized := *o
				sized.N = n
				return sized.openSpace(level)
			}},
		})
	}
}

func (o *Options) checkSpace(given map[string]bool) error {
	d, _ := scenes3.Find(o.Scene)
	if err := o.checkSize(d.N, d.MaxN()); err != nil {
		return err
	}
	return o.CheckSteps(given, d.Ticks, d.Warmup)
}

func (o *Options) newSpace(level native.Level) (*scenes3.Scene, error) {
	return scenes3.New(o.Scene, o.N, o.Seed, physics3.Config{Level: level, Workers: o.Workers, DisableSleep: !o.sleep})
}

func (o *Options) openSpace(level native.Level) (stepper, error) {
	s, err := o.newSpace(level)
	if err != nil {
		return stepper{}, err
	}
	return stepper{step: s.Step, hash: s.World.Hash}, nil
}

func (o *Options) runSpace(level native.Level, stdout, stderr io.Writer) error {
	d, _ := scenes3.Find(o.Scene)
	few := *o
	few.N = min(o.N, d.Few)
	return o.profile(subject{
		small: few.openSpace, full: o.openSpace,
		measure: func(p *Progress) (*profile.Run, int64, *comparison, error) {
			start := time.Now()
			s, err := o.newSpace(level)
			if err != nil {
				return nil, 0, nil, err
			}
			buildNs := int64(time.Since(start))
			scene := bodyScene{
				world: s.World, push: s.Push, step: s.Advance,
				standing: func() int { return 0 }, counts: func() (int, int) { return len(s.Bodies), s.Joints },
			}
			run, c, err := o.profileBodies(&contender{scene: scene, steps: make([]int64, 0, o.Ticks)}, level, p)
			return run, buildNs, c, err
		},
	}, stdout, stderr)
}
