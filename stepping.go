package evertick

// StepN runs n ticks, and stops at the first error of Step.
func (s *Sim) StepN(n uint64) error {
	for range n {
		if err := s.Step(); err != nil {
			return err
		}
	}
	return nil
}

// RunUntil runs ticks until done, which is asked before each and after the last, reports
// true, but no more than limit of them. It reports whether done did. An error is that of
// Step.
func (s *Sim) RunUntil(done func(*Sim) bool, limit uint64) (bool, error) {
	for ; ; limit-- {
		if done(s) {
			return true, nil
		}
		if limit == 0 {
			return false, nil
		}
		if err := s.Step(); err != nil {
			return false, err
		}
	}
}
