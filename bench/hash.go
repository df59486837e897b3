package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/evertick/evertick/ecs"
	"github.com/zeebo/xxh3"
)

// withoutBodies names the hash over the rows of everything but bodies.
const withoutBodies = "without-bodies"

// bodilessHash is the state hash without the rows of bodies: what is equal whichever
// engine moves them, as far as nothing depends on where they are; that of the world in a
// scene that has none.
func (s *scene) bodilessHash() uint64 {
	w := s.sim.World
	if s.build != nil {
		return w.Hash()
	}
	var h xxh3.Hasher
	var row [12 * 4]byte
	for slot := range ecs.Slot(w.HighWater()) {
		if s.everything || s.kinds[slot] == body {
			continue
		}
		for i, v := range [12]float32{
			w.Position.X[slot], w.Position.Y[slot], w.Position.Z[slot],
			w.Rotation.X[slot], w.Rotation.Y[slot], w.Rotation.Z[slot], w.Rotation.W[slot],
			w.Scale.X[slot], w.Scale.Y[slot], w.Scale.Z[slot],
			s.velX[slot], s.velZ[slot],
		} {
			binary.LittleEndian.PutUint32(row[4*i:], math.Float32bits(v))
		}
		h.Write(row[:])
	}
	return h.Sum64()
}

// tickHashes are the column hashes after one tick.
type tickHashes struct {
	tick  uint64
	parts []ecs.ColumnHash
}

// columnHashes returns those of the last step and the one without bodies.
func (s *scene) columnHashes() tickHashes {
	parts := append([]ecs.ColumnHash(nil), s.sim.ColumnHashes()...)
	return tickHashes{s.sim.Ticks(), append(parts, ecs.ColumnHash{Name: withoutBodies, Hash: s.bodilessHash()})}
}

// writeHashes writes one line a column: tick, hash, name.
func (t tickHashes) write(w io.Writer) error {
	for _, p := range t.parts {
		if _, err := fmt.Fprintf(w, "%d %016x %s\n", t.tick, p.Hash, p.Name); err != nil {
			return err
		}
	}
	return nil
}

// readHashes reads what write wrote for tick after tick.
func readHashes(r io.Reader) ([]tickHashes, error) {
	var all []tickHashes
	for lines := bufio.NewScanner(r); ; {
		if !lines.Scan() {
			return all, lines.Err()
		}
		var tick uint64
		var p ecs.ColumnHash
		if _, err := fmt.Sscanf(lines.Text(), "%d %x %s", &tick, &p.Hash, &p.Name); err != nil {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		if len(all) == 0 || all[len(all)-1].tick != tick {
			all = append(all, tickHashes{tick: tick})
		}
		last := &all[len(all)-1]
		last.parts = append(last.parts, p)
	}
}
