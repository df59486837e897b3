package twin

import (
	"slices"
	"time"
)

// steering turns the pad into inputs.
type steering struct {
	pad  Pad
	next uint64 // tick for which the next input is
	kind uint32 // of the last one that was sent; 0: none
	data []byte
}

// begin is for a new session: it has no input yet.
func (s *steering) begin() { s.kind, s.data, s.next = 0, s.data[:0], 0 }

// due returns the tick for which the player acts now, and false while it is too early. tick and wait are those of
// replica.Client.Aim.
func (s *steering) due(tick uint64, wait time.Duration) (uint64, bool) {
	if s.next > tick || s.next == tick && wait > pollEvery/2 {
		return 0, false
	}
	if s.next+1 < tick { // otherwise it is late by one look at the time at most
		s.next = tick
	}
	s.next++
	return s.next - 1, true
}

// play sends the input of the next tick when that is due, and runs the prediction up to it.
func (c *connection) play() error {
	s := &c.steer
	tick, due := s.due(c.client.Aim())
	if !due {
		return nil
	}
	if kind, data := c.machine.config.Steer(s.pad); kind != 0 && (kind != s.kind || !slices.Equal(data, s.data)) {
		if _, err := c.client.Input(kind, data, tick); err != nil {
			return err
		}
		s.kind, s.data = kind, append(s.data[:0], data...)
	}
	if err := c.sim.Predict(tick + 1); err != nil {
		return err
	}
	return c.shown.CopyFrom(c.sim.Predicted())
}
