package command

import (
	"fmt"
	"slices"

	"github.com/evertick/evertick/bench/profile"
)

type comparison struct {
	profile.Ratio // of their median to ours

	OursNs   Quantiles `json:"ours_ns"`
	TheirsNs Quantiles `json:"theirs_ns"`

	Peer      string  `json:"peer,omitempty"`       // measured separately
	PeerRatio float64 `json:"peer_ratio,omitempty"` // of their median to the peer's
	Goal      float64 `json:"goal,omitempty"`       // for Ratio
}

func (o *Options) compared(ours, theirs []int64) *comparison {
	c := &comparison{Ratio: medianRatio(o.compare, theirs, ours), OursNs: QuantilesOf(ours), TheirsNs: QuantilesOf(theirs)}
	if p := publishedFor(o.Scene, o.N); p != nil && o.compare == engineBox2D {
		c.Peer, c.PeerRatio, c.Goal = "Box2D v3, AVX2", p.v3, p.goal
	}
	return c
}

func (c *comparison) text(what string) string {
	text := fmt.Sprintf("compare  %s takes %s µs, ours %s (medians of %s by turns):\n         %s times as long; p95 %s and %s µs: %.2f times\n",
		c.Name, micros(c.TheirsNs.P50), micros(c.OursNs.P50), what, interval(c.Median, c.Low, c.High),
		micros(c.TheirsNs.P95), micros(c.OursNs.P95), float64(c.TheirsNs.P95)/float64(c.OursNs.P95))
	switch {
	case c.Peer != "":
		text += fmt.Sprintf("         %s, measured separately, is %g on this scale; the goal is %g\n", c.Peer, c.PeerRatio, c.Goal)
	case c.Goal != 0:
		text += fmt.Sprintf("         the goal is %g\n", c.Goal)
	}
	return text
}

// published is what was published about a scene of a size.
type published struct {
	scene string
	n     int
	v3    float64 // how many times as fast as box2d Box2D v3 is, on one core with AVX2
	goal  float64 // for our engine
}

var publishedScenes = []published{
	{"arena", 256, 8.0, 24},
	{"arena", 1024, 7.9, 24},
	{"arena", 4096, 11.6, 35},
	{"arena", 16384, 16.9, 68},
	{"tumbler", 2000, 14.7, 18},
	{"pyramid", 100, 32.7, 33},
	{"pyramids", 400, 212, 212},
	{"jointgrid", 100, 5.2, 7},
	{"smash", 9600, 20, 30},
}

func publishedFor(scene string, n int) *published {
	i := slices.IndexFunc(publishedScenes, func(p published) bool { return p.scene == scene && p.n == n })
	if i < 0 {
		return nil
	}
	return &publishedScenes[i]
}
