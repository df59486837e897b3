package rigid

import "github.com/evertick/evertick/native"

// The kernels of the levels above Go, as long as there are none.

func anglesC(_ native.Level, cos, sin, out []float32) { Angles(native.Go, cos, sin, out) }

func (s *System) startC(_ native.Level, lo, hi int) { s.Start(native.Go, lo, hi) }

func (s *System) prepareC(_ native.Level, blocks []Block, contact []uint32) {
	for i := range blocks {
		s.prepareGo(&blocks[i], (*[Lanes]uint32)(contact[i*Lanes:]))
	}
}

func (s *System) integrateVelocitiesC(_ native.Level, sub, lo, hi int) {
	s.IntegrateVelocities(native.Go, sub, lo, hi)
}

func (s *System) warmStartC(_ native.Level, blocks []Block) {
	for i := range blocks {
		warmStartGo(&blocks[i], s.States)
	}
}

func (s *System) solveC(_ native.Level, useBias bool, blocks []Block) {
	for i := range blocks {
		soft := rigidly
		if useBias {
			soft = s.pace.softness(&blocks[i])
		}
		solveGo(&blocks[i], s.States, soft, s.pace.invH, s.pace.push, useBias)
	}
}

func (s *System) integratePositionsC(_ native.Level, lo, hi int) {
	s.IntegratePositions(native.Go, lo, hi)
}

func (s *System) restitutionC(_ native.Level, blocks []Block) {
	for i := range blocks {
		if blocks[i].Flags&blockBounces != 0 {
			restitutionGo(&blocks[i], s.States, s.pace.threshold)
		}
	}
}

func (s *System) storeC(blocks []Block, contact []uint32) { s.storeGo(blocks, contact) }

func (s *System) finishC(_ native.Level, lo, hi int) { s.Finish(native.Go, lo, hi) }
