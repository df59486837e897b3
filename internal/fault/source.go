package fault

import "fmt"

// SourceLimit is the error of a limit on the entries that one source has waiting:
// "loop: QueueConfig.PerSource = 4, source 7: share of the source used up: …".
type SourceLimit struct {
	Which  int // index in SourceLimits.Limits
	Source uint32
	limit  Limit
}

func (e *SourceLimit) Error() string {
	return fmt.Sprintf("%s = %d, source %d: %v", e.limit.Field, e.limit.Most, e.Source, e.limit.Err)
}

func (e *SourceLimit) Unwrap() error { return e.limit.Err }

// SourceLimits makes errors of several limits. It keeps the last ones, so that a flood of refusals
// of a few sources allocates nothing. It is not safe for concurrent use.
type SourceLimits struct {
	Limits [4]Limit
	recent [16]*SourceLimit
}

// Of returns the error of a limit for a source.
func (l *SourceLimits) Of(which int, source uint32) error {
	recent := &l.recent[(int(source%uint32(len(l.recent)))+which)%len(l.recent)]
	if e := *recent; e == nil || e.Source != source || e.Which != which {
		*recent = &SourceLimit{which, source, l.Limits[which]}
	}
	return *recent
}
