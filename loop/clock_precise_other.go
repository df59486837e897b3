//go:build !linux

package loop

// nativeSleep takes the place of a sleep that this system does not have.
type nativeSleep struct{ refused bool }

func (s *nativeSleep) unavailable() bool { return true }

func (s *nativeSleep) sleep(*monotonic, int64) bool {
	s.refused = true
	return false
}
