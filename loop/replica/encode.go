package replica

// appliedInput is what a frame says about the inputs of its session: the highest sequence number that
// a tick has applied, and the µs between its arrival and the beginning of that tick.
type appliedInput struct {
	seq, residenceUs uint64
	present          bool
}

type deltas struct{ used int }

type scratch struct{}

func (d *deltas) init(s *source) {}

// append appends the frame of a viewer for the newest capture: a Keyframe without a usable base,
// else an Update. It appends nothing if the client is to wait: see keyframePause.
func (s *source) append(dst []byte, v *viewer, applied appliedInput) []byte { return dst }
