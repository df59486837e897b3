package inspector

import (
	"context"
	"fmt"
	"runtime"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
)

// status is the answer of GET status.
type status struct {
	Run             string      `json:"run"`
	Name            string      `json:"name"`
	SimVersion      int         `json:"sim_version"`
	Go              string      `json:"go"`
	Level           string      `json:"level"`
	Workers         int         `json:"workers"`
	Subjects        []string    `json:"subjects"`
	Of              string      `json:"of"`
	Control         bool        `json:"control"`
	State           string      `json:"state"`
	Error           string      `json:"error,omitempty"`
	Tick            uint64      `json:"tick"`
	Hash            string      `json:"hash"`
	RateHz          float64     `json:"rate_hz"`
	Dt              float32     `json:"dt"`
	BudgetNs        int64       `json:"budget_ns"`
	Entities        int         `json:"entities"`
	Capacity        int         `json:"capacity"`
	Bodies          int         `json:"bodies"`
	Contacts        int         `json:"contacts"`
	AgeMs           int64       `json:"age_ms"`
	Plane           [2]string   `json:"plane"`
	Space           bool        `json:"space"`
	InPlane         int         `json:"in_plane"`
	AxesNote        string      `json:"axes_note,omitempty"`
	InspectionNs    int64       `json:"inspection_ns"`
	InspectionBytes uint64      `json:"inspection_bytes"`
	Frame           frameStatus `json:"frame"`
}

type frameStatus struct {
	DroppedTotal uint64  `json:"dropped_total"`
	BacklogNs    int64   `json:"backlog_ns"`
	Overrun      overrun `json:"overrun"`
}

type overrun struct {
	System string `json:"system"`
	Ns     int64  `json:"ns"`
}

func (in *Inspector) status(_ context.Context, _ *Request, s subject) Answer {
	st := status{Run: in.run, Name: in.config.Name, SimVersion: evertick.SimVersion, Go: runtime.Version(), Of: s.name()}
	for _, s := range in.subjects {
		st.Subjects = append(st.Subjects, s.name())
	}
	s.report(&st)
	st.Control = in.config.Control && in.live != nil
	return JSON(&st)
}

// describe fills in what never changes in a Sim. Call it where Step may be called.
func (s *status) describe(sim *evertick.Sim) {
	c := sim.Config()
	num, den := sim.Loop().Rate()
	s.Level, s.Workers = sim.Level().String(), c.Workers
	s.RateHz, s.Dt, s.BudgetNs, s.Capacity = float64(num)/float64(den), sim.Dt(), c.BudgetNs, c.Capacity
	s.Plane = [2]string{"x", "y"}
	s.Space = drawerOf(sim) != nil
	if c.Physics.Plane == physics.XZ {
		s.Plane[1] = "z"
		s.AxesNote = "up in the picture is +z"
	}
}

// copyFixed copies what describe has filled in.
func (s *status) copyFixed(dst *status) {
	dst.Level, dst.Workers, dst.RateHz, dst.Dt = s.Level, s.Workers, s.RateHz, s.Dt
	dst.BudgetNs, dst.Capacity, dst.Plane, dst.AxesNote, dst.Space = s.BudgetNs, s.Capacity, s.Plane, s.AxesNote, s.Space
}

// report fills in what the last safe point saw.
func (h *hub) report(s *status) {
	h.mu.Lock()
	f, cost, inspected := h.summary, h.meanCost, h.inspected
	h.mu.Unlock()
	s.Tick, s.Hash = f.at.tick, HashText(f.hash)
	s.Entities, s.Bodies, s.Contacts = f.entities, f.bodies, f.contacts
	s.InPlane = f.inPlane
	s.AgeMs, s.InspectionNs = h.age().Milliseconds(), int64(cost)
	s.InspectionBytes = inspected
	s.State = f.state()
}

// HashText returns a hash as answers have it: 16 hexadecimal digits.
func HashText(h uint64) string { return fmt.Sprintf("%016x", h) }
