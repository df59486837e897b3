package skill

import (
	"fmt"
	"math"
	"slices"
	"sync"
)

func length(x, y float32) float32 {
	return float32(math.Sqrt(float64(float64(x)*float64(x)) + float64(float64(y)*float64(y))))
}

// SnapshotInput is the input of world.snapshot.
type SnapshotInput struct{}

// SnapshotOutput is the output of world.snapshot.
type SnapshotOutput struct {
	Handle   string `json:"handle" jsonschema:"under which the host keeps it, for a while"`
	Tick     uint64 `json:"tick" jsonschema:"at the end of which it is taken"`
	Entities int    `json:"entities"`
	Bodies   int    `json:"bodies"`
	Bytes    int    `json:"bytes" jsonschema:"about how large it is"`
}

// snapshot promises one for the end of the tick, as there is none within. What takes room in it
// is measured now, so that one that is too large is refused in every replay too.
func snapshot(c *Call, _ SnapshotInput) (SnapshotOutput, error) {
	r := c.Registry
	r.scratch = c.Sim.World.Snapshot(r.scratch[:0])
	n := len(r.scratch)
	var err error
	if r.scratch, err = c.Sim.Physics.Snapshot(r.scratch[:0]); err != nil {
		return SnapshotOutput{}, err
	}
	n += len(r.scratch)
	if n > r.config.SnapshotBytes {
		return SnapshotOutput{}, refuse(CapacityExceeded, "", "snapshot of %d bytes, of which %d are allowed", n, r.config.SnapshotBytes)
	}
	r.state.saves++
	handle := fmt.Sprintf("snap_%d", r.state.saves)
	c.after = func() { r.saved.take(r, handle) }
	return SnapshotOutput{handle, c.Tick.N, c.Sim.World.Len(), c.Sim.Physics.Len(), n}, nil
}

// saved keeps the last snapshots.
type saved struct {
	sync.Mutex
	list []savedSnapshot // oldest first
}

type savedSnapshot struct {
	handle string
	data   []byte
	err    error
}

func (s *saved) take(r *Registry, handle string) {
	data, err := r.sim.Snapshot(nil)
	s.Lock()
	defer s.Unlock()
	s.list = slices.DeleteFunc(s.list, func(old savedSnapshot) bool { return old.handle == handle }) // of a life before a Restore
	if len(s.list) == r.config.Snapshots {
		copy(s.list, s.list[1:])
		s.list = s.list[:len(s.list)-1]
	}
	s.list = append(s.list, savedSnapshot{handle, data, err})
}

// Snapshot returns what world.snapshot has kept under a handle: a snapshot for
// evertick.Sim.Restore. One that has gone, as Config.Snapshots later ones were taken, or never
// was is ErrStale; other errors are those of evertick.Sim.Snapshot. It may be called from any goroutine.
func (r *Registry) Snapshot(handle string) ([]byte, error) {
	r.saved.Lock()
	defer r.saved.Unlock()
	for i := range r.saved.list {
		if s := &r.saved.list[i]; s.handle == handle {
			return s.data, s.err
		}
	}
	return nil, fmt.Errorf("skill: Snapshot: %s: %w", quoted(handle), ErrStale)
}

// StatsInput is the input of world.stats.
type StatsInput struct{}

// TagCount is how many entities have a tag.
type TagCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// StatsOutput is the output of world.stats. All of it is a function of the state.
type StatsOutput struct {
	Tick     uint64     `json:"tick"`
	Dt       float32    `json:"dt" jsonschema:"length of a tick in seconds"`
	Hash     string     `json:"hash" jsonschema:"of the state behind the last tick, in hexadecimal"`
	Entities int        `json:"entities"`
	Capacity int        `json:"capacity"`
	Bodies   int        `json:"bodies"`
	Shapes   int        `json:"shapes"`
	Joints   int        `json:"joints"`
	Awake    int        `json:"awake" jsonschema:"bodies that are not asleep"`
	Plane    string     `json:"plane" jsonschema:"of the bodies"`
	Gravity  Vec        `json:"gravity" jsonschema:"of dynamic bodies, in m/s²"`
	Tags     []TagCount `json:"tags"`
	Calls    uint64     `json:"calls" jsonschema:"of skills so far, with this one"`
	Refused  uint64     `json:"refused"`
}

func stats(c *Call, _ StatsInput) (StatsOutput, error) {
	w, ph := c.Sim.World, c.Sim.Physics
	config := ph.Config()
	out := StatsOutput{
		Tick: c.Tick.N, Dt: c.Tick.Dt, Hash: fmt.Sprintf("%016x", c.Sim.Hash()),
		Entities: w.Len(), Capacity: w.Cap(), Bodies: ph.Len(), Shapes: ph.ShapeCount(), Joints: ph.JointCount(),
		Awake: ph.AwakeCount(), Plane: config.Plane.String(), Gravity: vecOf(config.Plane.Join(config.Gravity, 0)), Tags: []TagCount{},
		Calls: c.Registry.state.calls, Refused: c.Registry.state.refused,
	}
	for _, name := range c.tagNames() {
		if t, ok := c.Registry.tag(name); ok {
			out.Tags = append(out.Tags, TagCount{name, t.Count()})
		}
	}
	return out, nil
}
