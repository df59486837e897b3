package inspector

import (
	"context"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// worldAnswer is the answer of GET world: what a Sim is made of.
type worldAnswer struct {
	Tick    uint64        `json:"tick"`
	Columns []worldColumn `json:"columns"`
	Tags    []worldTag    `json:"tags"`
	Systems []worldSystem `json:"systems"`
}

// worldColumn is a column. Blobs and states have bytes of no fixed length: their kind is
// "bytes", and they have no components.
type worldColumn struct {
	Name       string `json:"name"`
	Owner      string `json:"owner"` // "world", "bodies", "blobs" or "state"
	Kind       string `json:"kind"`
	Components int    `json:"components"`
	RowBytes   int    `json:"row_bytes"`
}

type worldTag struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// worldSystem is a phase of the tick. Phases of this module itself have no stage.
type worldSystem struct {
	Name   string   `json:"name"`
	Stage  string   `json:"stage"`
	Group  int      `json:"group"` // the systems of one group run side by side
	Reads  []string `json:"reads"`
	Writes []string `json:"writes"`
}

// world answers GET world.
func (in *Inspector) world(ctx context.Context, _ *Request, s subject) Answer {
	return askJSON(ctx, s, "world", func(sim *evertick.Sim) (*worldAnswer, error) {
		a := &worldAnswer{Tick: sim.Ticks(), Columns: []worldColumn{}, Tags: []worldTag{}, Systems: []worldSystem{}}
		a.addColumns(sim)
		for _, t := range sim.World.Describe().Tags {
			a.Tags = append(a.Tags, worldTag{t.Name, t.Count})
		}
		return a, a.addSystems(sim)
	})
}

func (a *worldAnswer) addColumns(sim *evertick.Sim) {
	add := func(owner, prefix string, columns []ecs.ColumnView) {
		for _, c := range columns {
			a.Columns = append(a.Columns, worldColumn{prefix + c.Name(), owner, c.Kind().String(), c.Components(), c.RowBytes()})
		}
	}
	add("world", "", sim.World.Columns())
	for _, b := range bodiesOf(sim) {
		add("bodies", b.prefix, b.view.Columns())
	}
	for _, b := range sim.World.Describe().Blobs {
		a.Columns = append(a.Columns, worldColumn{Name: b.Column, Owner: "blobs", Kind: "bytes"})
	}
	for _, part := range hashedParts(sim) {
		if part.owner == "state" && strings.HasPrefix(part.name, "state.") {
			a.Columns = append(a.Columns, worldColumn{Name: part.name, Owner: "state", Kind: "bytes"})
		}
	}
}

// stageNames are the names of the stages, by their values.
var stageNames = [...]string{"BeforePhysics", "AfterPhysics", "AfterIndex", "AfterCommands"}

func (a *worldAnswer) addSystems(sim *evertick.Sim) error {
	plan, err := sim.Plan()
	if err != nil {
		return err
	}
	systems, err := sim.Systems()
	if err != nil {
		return err
	}
	byName := map[string]evertick.System{}
	for _, s := range systems {
		byName[s.Name] = s
	}
	for i, group := range plan.Groups {
		for _, name := range group {
			w := worldSystem{Name: name, Group: i, Reads: []string{}, Writes: []string{}}
			if s, ok := byName[name]; ok {
				w.Stage = stageNames[s.Stage]
				w.Reads, w.Writes = append(w.Reads, s.Reads...), append(w.Writes, s.Writes...)
			}
			a.Systems = append(a.Systems, w)
		}
	}
	return nil
}
