package spatial

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

// ErrStale is returned, wrapped, by a Gate whose index is out of date.
var ErrStale = fault.ErrStale

// Stamp identifies the state of a world, as far as an index depends on it: while
// two stamps of one world are equal, its points are the same.
type Stamp struct {
	// Structure changes whenever an entity is spawned or despawned.
	Structure uint64
	// Position changes whenever a coordinate of a live entity is written. The source
	// counts the writes: package ecs counts calls of Touch.
	Position uint64
	// Generation changes whenever the world is restored: everything may then be
	// different although Structure and Position have earlier values again.
	Generation uint64
}

// Source is a world over which an index is built. evertick.NewWorldSource returns one for
// a World of package ecs: Structure is World.Version, Position is
// World.Position.Version, Generation is World.Generation, and Points returns the
// columns of World.Position and World.LiveSlots.
type Source interface {
	// Stamp is called at every Gate.Index, and should be cheap.
	Stamp() Stamp
	// Points returns the arguments of Index.Build, and of Index.SetCategories unless
	// Category is nil.
	Points() Columns
}

// Policy is what a Gate does when the world has changed.
type Policy uint8

const (
	Refuse  Policy = iota // Gate.Index returns ErrStale until Gate.Build
	Rebuild               // Gate.Index builds the index anew
)

// Gate returns an index only while it matches the present state of its world.
// It compares two stamps each time that the index is requested, and costs queries nothing.
//
//	gate := spatial.NewGate(index, source, spatial.Refuse)
//	err := gate.Build()         // once a tick, when everything has moved
//	index, err := gate.Index()  // before each use
//
// The gate notices if the index was built without it. The state of the world at that time
// is unknown, so the index counts as out of date.
//
// With Refuse, any number of goroutines may call Index at once if Source.Stamp
// allows it, as long as no Build runs. With Rebuild, Index may build, and nothing else may
// use the index meanwhile.
type Gate struct {
	ix     *Index
	src    Source
	policy Policy
	stamp  Stamp
	builds uint64 // of the index, when stamp was taken; 0: never
}

// NewGate returns a gate that refuses until its first build, since it does not know which
// points the index was built from before. It panics if ix or src is nil or the policy
// unknown.
func NewGate(ix *Index, src Source, policy Policy) *Gate {
	if ix == nil || src == nil {
		panic("spatial: NewGate: nil index or source")
	}
	if policy > Rebuild {
		panic("spatial: NewGate: unknown policy")
	}
	return &Gate{ix: ix, src: src, policy: policy}
}

// Build builds the index from the present world. Errors are those of Index.Build. After an
// error that leaves the index as it was, the gate returns the index only if it did before.
func (g *Gate) Build() error {
	stamp := g.src.Stamp()
	p := g.src.Points()
	if err := g.ix.Build(p.X, p.Y, p.Z, p.Slots); err != nil {
		return err
	}
	if p.Category != nil {
		g.ix.SetCategories(p.Category)
	}
	g.stamp, g.builds = stamp, g.ix.builds
	return nil
}

// Index returns the index if it was built from the present world. Otherwise, with Refuse,
// the error is ErrStale and names what has changed; with Rebuild the index is built first,
// and the error is that of Build. With an error, the index is nil.
func (g *Gate) Index() (*Index, error) {
	now := g.src.Stamp()
	if g.builds == g.ix.builds && g.builds != 0 && now == g.stamp {
		return g.ix, nil
	}
	if g.policy == Refuse {
		return nil, g.stale(now)
	}
	if err := g.Build(); err != nil {
		return nil, err
	}
	return g.ix, nil
}

func (g *Gate) stale(now Stamp) error {
	if g.builds == 0 {
		return fmt.Errorf("spatial: Gate: the index was not built by the gate yet: %w", ErrStale)
	}
	for _, f := range []struct {
		name       string
		built, now uint64
	}{
		{"Stamp.Generation", g.stamp.Generation, now.Generation},
		{"Stamp.Structure", g.stamp.Structure, now.Structure},
		{"Stamp.Position", g.stamp.Position, now.Position},
	} {
		if f.built != f.now {
			return fmt.Errorf("spatial: Gate: %s = %d, and %d when the index was built: %w", f.name, f.now, f.built, ErrStale)
		}
	}
	return fmt.Errorf("spatial: Gate: the index was built %d times, the last by the gate was number %d: %w", g.ix.builds, g.builds, ErrStale)
}
