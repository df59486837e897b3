package physics

import "github.com/evertick/evertick/internal/team"

// Recorder is called as Team.Record and Team.RecordStep say, and before and after chunks get their colours.
type Recorder struct {
	Stage    func(chunks int)
	Step     func(s *team.Steps, parts, steps, part, step int, border bool)
	Coloured func(begins bool)
}

// Record makes w cut its stages and regions for its workers, all on one worker. nil ends that.
func (w *World) Record(r *Recorder) {
	s := w.solver
	if s.colourJob = s.colourChunk; r == nil {
		s.stages.Team.Record, s.stages.Team.RecordStep = nil, nil
		return
	}
	s.stages.Team.Record, s.stages.Team.RecordStep = r.Stage, r.Step
	s.colourJob = func(chunk int) {
		r.Coloured(true)
		s.colourChunk(chunk)
		r.Coloured(false)
	}
}
