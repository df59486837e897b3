package skill

import (
	"fmt"
	"slices"
	"sync"

	"github.com/evertick/evertick/internal/fault"
)

// snapshotInput is the input of world.snapshot.
type snapshotInput struct{}

// SnapshotOutput is the output of world.snapshot.
type SnapshotOutput struct {
	Handle   string `json:"handle" jsonschema:"under which the host keeps the snapshot, for a while"`
	Tick     uint64 `json:"tick" jsonschema:"at the end of which the snapshot is taken"`
	Entities int    `json:"entities"`
	Bodies   int    `json:"bodies"`
	Bytes    int    `json:"bytes" jsonschema:"about how large it is"`
}

// snapshot promises a snapshot for the end of the tick, as there is none within a tick. It measures the size
// now, so that a replay also refuses one that is too large.
func snapshot(c *Call, _ snapshotInput) (SnapshotOutput, error) {
	r := c.Registry
	r.scratch = c.Sim.World.Snapshot(r.scratch[:0])
	n := len(r.scratch)
	var err error
	if r.scratch, err = c.Sim.Physics.Snapshot(r.scratch[:0]); err != nil {
		return SnapshotOutput{}, err
	}
	n += len(r.scratch)
	bodies := c.Sim.Physics.Len()
	if sp := r.config.Space; sp != nil {
		if r.scratch, err = sp.Snapshot(r.scratch[:0]); err != nil {
			return SnapshotOutput{}, err
		}
		n, bodies = n+len(r.scratch), bodies+sp.Stats().Bodies
	}
	if n > r.config.SnapshotBytes {
		return SnapshotOutput{}, refuse(CapacityExceeded, "", "the snapshot has %d bytes, more than %d", n, r.config.SnapshotBytes)
	}
	r.state.snapshots++
	handle := fmt.Sprintf("snap_%d", r.state.snapshots)
	c.after = func() { r.snapshots.take(r, handle) }
	return SnapshotOutput{handle, c.Tick.N, c.Sim.World.Len(), bodies, n}, nil
}

// snapshots keeps the last snapshots.
type snapshots struct {
	sync.Mutex
	list []namedSnapshot // oldest first
}

type namedSnapshot struct {
	handle string
	data   []byte
	err    error
}

func (s *snapshots) take(r *Registry, handle string) {
	data, err := r.sim.Snapshot(nil)
	s.Lock()
	defer s.Unlock()
	s.list = slices.DeleteFunc(s.list, func(old namedSnapshot) bool { return old.handle == handle }) // of before a Restore
	if len(s.list) == r.config.Snapshots {
		copy(s.list, s.list[1:])
		s.list = s.list[:len(s.list)-1]
	}
	s.list = append(s.list, namedSnapshot{handle, data, err})
}

// Snapshot returns the snapshot that world.snapshot has kept under a handle, for evertick.Sim.Restore. A
// handle that is unknown, or has been dropped after Config.Snapshots later ones, is evertick.ErrStale; other errors are
// those of evertick.Sim.Snapshot. It may be called from any goroutine.
func (r *Registry) Snapshot(handle string) ([]byte, error) {
	r.snapshots.Lock()
	defer r.snapshots.Unlock()
	for i := range r.snapshots.list {
		if s := &r.snapshots.list[i]; s.handle == handle {
			return s.data, s.err
		}
	}
	return nil, fmt.Errorf("skill: Snapshot: %s: %w", quote(handle), fault.ErrStale)
}

// statsInput is the input of world.stats.
type statsInput struct{}

// tagCount is how many entities have a tag.
type tagCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// StatsOutput is the output of world.stats. All of it is a function of the state.
type StatsOutput struct {
	Tick     uint64     `json:"tick"`
	Dt       float32    `json:"dt" jsonschema:"length of a tick in seconds"`
	Hash     string     `json:"hash" jsonschema:"of the state after the last tick, in hexadecimal"`
	Entities int        `json:"entities"`
	Capacity int        `json:"capacity"`
	Bodies   int        `json:"bodies"`
	Shapes   int        `json:"shapes"`
	Joints   int        `json:"joints"`
	Awake    int        `json:"awake" jsonschema:"bodies that are not asleep"`
	Plane    string     `json:"plane" jsonschema:"of the bodies"`
	Gravity  Vec        `json:"gravity" jsonschema:"of dynamic bodies, in m/s²"`
	Tags     []tagCount `json:"tags"`
	Calls    uint64     `json:"calls" jsonschema:"of skills so far, including this one"`
	Refused  uint64     `json:"refused"`
}

func stats(c *Call, _ statsInput) (StatsOutput, error) {
	w, ph := c.Sim.World, c.Sim.Physics
	config := ph.Config()
	out := StatsOutput{
		Tick: c.Tick.N, Dt: c.Tick.Dt, Hash: fmt.Sprintf("%016x", c.Sim.Hash()),
		Entities: w.Len(), Capacity: w.Cap(), Bodies: ph.Len(), Shapes: ph.ShapeCount(), Joints: ph.JointCount(),
		Awake: ph.AwakeCount(), Plane: config.Plane.String(), Gravity: vecOf(config.Plane.Join(config.Gravity, 0)), Tags: []tagCount{},
		Calls: c.Registry.state.calls, Refused: c.Registry.state.refused,
	}
	if sp := c.Registry.config.Space; sp != nil {
		s := sp.Stats()
		out.Bodies, out.Shapes, out.Awake, out.Gravity = out.Bodies+s.Bodies, out.Shapes+s.Shapes, out.Awake+s.Awake, vecOf(s.Gravity)
	}
	names, tags := c.carriedTags()
	for i, t := range tags {
		out.Tags = append(out.Tags, tagCount{names[i], t.Count()})
	}
	return out, nil
}
