package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/evertick/evertick/ecs"
)

// withoutBodies names the hash of all rows except those of bodies.
const withoutBodies = "without-bodies"

// tickHashes are the column hashes after one tick.
type tickHashes struct {
	tick  uint64
	parts []ecs.ColumnHash
}

// tickHashes returns the column hashes after the last step, and the one without bodies.
func (s *simulation) tickHashes() tickHashes {
	parts := slices.Clone(s.ColumnHashes())
	return tickHashes{s.Ticks(), append(parts, ecs.ColumnHash{Name: withoutBodies, Hash: s.hashWithoutBodies()})}
}

// write writes one line for each column: tick, hash, name.
func (t tickHashes) write(w io.Writer) error {
	for _, p := range t.parts {
		if _, err := fmt.Fprintf(w, "%d %016x %s\n", t.tick, p.Hash, p.Name); err != nil {
			return err
		}
	}
	return nil
}

// readHashes reads the lines that write wrote, tick after tick.
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
