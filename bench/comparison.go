package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/evertick/evertick/bench/profile"
)

// comparison is with another engine that took turns with ours in the same scene.
type comparison struct {
	Name      string  `json:"name"`
	Ratio     float64 `json:"ratio"`      // theirs to ours, of the medians
	RatioLow  float64 `json:"ratio_low"`  // of an interval of 95 % confidence
	RatioHigh float64 `json:"ratio_high"` // likewise
	OursNs    int64   `json:"ours_ns"`    // median step
	TheirsNs  int64   `json:"theirs_ns"`

	OursP95Ns   int64 `json:"ours_p95_ns"`
	TheirsP95Ns int64 `json:"theirs_p95_ns"`

	Peer      string  `json:"peer,omitempty"`       // measured apart
	PeerRatio float64 `json:"peer_ratio,omitempty"` // of theirs to the peer
	Goal      float64 `json:"goal,omitempty"`       // for Ratio
}

func newComparison(o *options, ours, theirs []int64) *comparison {
	mine, others := quantilesOf(ours), quantilesOf(theirs)
	c := &comparison{Name: o.compare, OursNs: mine.P50, TheirsNs: others.P50, OursP95Ns: mine.P95, TheirsP95Ns: others.P95}
	c.Ratio, c.RatioLow, c.RatioHigh = medianRatio(theirs, ours, o.seed)
	if p := publishedFor(o.scene, o.n); p != nil && o.compare == compareBox2D {
		c.Peer, c.PeerRatio, c.Goal = "Box2D v3, AVX2", p.v3, p.goal
	}
	return c
}

func (c *comparison) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "compare  %s takes %s µs, ours %s (medians of steps by turns):\n         %.2f times as long [%.2f–%.2f]; p95 %s and %s µs: %.2f times\n",
		c.Name, micros(c.TheirsNs), micros(c.OursNs), c.Ratio, c.RatioLow, c.RatioHigh,
		micros(c.TheirsP95Ns), micros(c.OursP95Ns), float64(c.TheirsP95Ns)/float64(c.OursP95Ns))
	if c.Goal != 0 {
		fmt.Fprintf(b, "         %s, measured apart, is %g on this scale; the goal is %g\n", c.Peer, c.PeerRatio, c.Goal)
	}
}

// told is the comparison as the profile has it.
func (c *comparison) told() profile.Ratio {
	return profile.Ratio{Name: c.Name, Median: c.Ratio, Low: c.RatioLow, High: c.RatioHigh}
}

// print says what the profile has no room for.
func (c *comparison) print(w io.Writer) error {
	var b strings.Builder
	b.WriteString("\n")
	c.writeText(&b)
	_, err := io.WriteString(w, b.String())
	return err
}
