package spatial

// Paths that RadiusOnce can take.
const (
	Cheapest  = cheapest
	Streaming = streaming
	Building  = building
)

// Force makes RadiusOnce into out take a path, and keep only so many hits while
// streaming.
func Force(out *Result, p path, most int) {
	out.scratch = &scratch{once: once{force: p, lessHits: mostHits - most}}
}

// MostHits is what RadiusOnce keeps by itself.
const MostHits = mostHits

// Streams tells whether RadiusOnce streamed, or else built, when it last
// answered into out.
func Streams(out *Result) bool { return out.scratch.once.index == nil }

// FirstBad is the fault that counts when workers have found these, -1 for none.
func FirstBad(found ...int) int {
	o := &once{}
	for _, at := range found {
		o.workers = append(o.workers, streamer{bad: at})
	}
	return o.firstBad()
}
