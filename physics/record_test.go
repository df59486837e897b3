package physics

// Record makes w cut its stages into chunks, all on one worker. stage is called before each stage, with its number of chunks,
// and after each chunk with zero; coloured before and after chunks get their colours.
func (w *World) Record(stage func(chunks int), coloured func(begins bool)) {
	s := w.solver
	s.stages.Team.Record = stage
	s.colourJob = func(chunk int) {
		coloured(true)
		s.colourChunk(chunk)
		coloured(false)
	}
	if stage == nil {
		s.colourJob = s.colourChunk
	}
}
