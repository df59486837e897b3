package inspector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

// truth is what a test knows of the state after a tick, from its own reading of the World.
type truth struct {
	tick, hash uint64
	slots      []uint32
	ids        []ecs.ID
	x, y, hp   []float32
	red        []bool
	bodies     int
}

// witness notes each state of a Sim at the end of a tick. Ticks that run again may have several.
type witness struct {
	mu     sync.Mutex
	states map[uint64][]*truth
	hp     *ecs.Column[float32]
	red    ecs.Tag
}

func (v *witness) see(sim *evertick.Sim) {
	w := sim.World
	s := &truth{tick: sim.Ticks(), hash: sim.Hash(), bodies: sim.Physics.Len()}
	for _, slot := range w.LiveSlots(nil) {
		id, _ := w.ID(slot)
		s.slots, s.ids = append(s.slots, slot), append(s.ids, id)
		s.x, s.y = append(s.x, w.Position.X[slot]), append(s.y, w.Position.Y[slot])
		s.hp, s.red = append(s.hp, v.hp.Values()[slot]), append(s.red, v.red.Has(id))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.states[s.tick] = append(v.states[s.tick], s)
}

// find returns the first error of agrees if no state of the tick agrees.
func (v *witness) find(tick uint64, agrees func(*truth) error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := fmt.Errorf("tick %d was never seen", tick)
	for i := len(v.states[tick]) - 1; i >= 0; i-- {
		if err = agrees(v.states[tick][i]); err == nil {
			return nil
		}
	}
	return err
}

// checker is a page that checks each answer against the witness.
type checker struct {
	*witness
	in    *Inspector
	r     *rand.Rand
	seq   uint64
	have  uint64
	slots []uint32
	done  map[string]int
}

func (c *checker) ask(text string) (Answer, error) {
	path, query, _ := strings.Cut(text, "?")
	a := c.in.Answer(context.Background(), &Request{Method: "GET", Path: path, Query: queryOf(query)})
	if a.Status == 200 || a.Status == 204 || a.Status == 404 {
		c.done[path]++
		return a, nil
	}
	return a, fmt.Errorf("%s: %d %s", text, a.Status, a.Body)
}

func queryOf(text string) map[string][]string {
	q := map[string][]string{}
	for _, pair := range strings.Split(text, "&") {
		if k, v, ok := strings.Cut(pair, "="); ok {
			q[k] = append(q[k], v)
		}
	}
	return q
}

func (c *checker) frame(t tb) error {
	a, err := c.ask(fmt.Sprintf("frame?after=%d&by=hp&have=%d", c.seq, c.have))
	if err != nil || a.Status == 204 {
		return err
	}
	f := decodeFrame(t, a)
	if f.Seq <= c.seq {
		return fmt.Errorf("frame %d after %d", f.Seq, c.seq)
	}
	if s := f.u32["slots"]; s != nil || f.Entities == 0 || f.SlotsVersion != c.have {
		c.slots = s
	}
	c.seq, c.have = f.Seq, f.SlotsVersion
	return c.find(f.Tick, func(s *truth) error {
		if HashText(s.hash) != f.Hash || len(s.slots) != f.Entities || !slices.Equal(s.slots, c.slots) || !slices.Equal(s.x, f.f32["x"]) ||
			!slices.Equal(s.y, f.f32["y"]) || !slices.Equal(s.hp, f.f32["by"]) {
			return fmt.Errorf("frame %d of tick %d, hash %s: %d entities, %v want %v", f.Seq, f.Tick, f.Hash, f.Entities, c.slots, s.slots)
		}
		return nil
	})
}

func (c *checker) entities() error {
	a, err := c.ask("entities?tag=red&columns=hp&columns=position.x&count=500")
	if err != nil {
		return err
	}
	var p struct {
		Tick  uint64
		Total int
		Rows  []struct {
			Slot   uint32
			ID     ecs.ID
			Values []float32
		}
	}
	if err := json.Unmarshal(a.Body, &p); err != nil {
		return err
	}
	return c.find(p.Tick, func(s *truth) error {
		n := 0
		for i := range s.slots {
			if !s.red[i] {
				continue
			}
			if n >= len(p.Rows) || p.Rows[n].Slot != s.slots[i] || p.Rows[n].ID != s.ids[i] || p.Rows[n].Values[0] != s.hp[i] || p.Rows[n].Values[1] != s.x[i] {
				return fmt.Errorf("entities of tick %d: row %d is wrong: %s", p.Tick, n, a.Body)
			}
			n++
		}
		if n != p.Total || n != len(p.Rows) {
			return fmt.Errorf("entities of tick %d: %d of %d", p.Tick, p.Total, n)
		}
		return nil
	})
}

func (c *checker) entity() error {
	slot := c.r.Uint32N(128)
	a, err := c.ask(fmt.Sprintf("entity?slot=%d", slot))
	if err != nil || a.Status == 404 {
		return err
	}
	var e struct {
		Tick    uint64
		ID      ecs.ID
		Slot    uint32
		Tags    []string
		Columns []struct {
			Name   string
			Values []float64
		}
	}
	if err := json.Unmarshal(a.Body, &e); err != nil {
		return err
	}
	return c.find(e.Tick, func(s *truth) error {
		i := slices.Index(s.slots, slot)
		if i < 0 || s.ids[i] != e.ID || slices.Contains(e.Tags, "red") != s.red[i] {
			return fmt.Errorf("entity of tick %d: %s", e.Tick, a.Body)
		}
		for _, col := range e.Columns {
			if col.Name == "hp" && float32(col.Values[0]) != s.hp[i] || col.Name == "position.x" && float32(col.Values[0]) != s.x[i] {
				return fmt.Errorf("entity of tick %d: %s", e.Tick, a.Body)
			}
		}
		return nil
	})
}

func (c *checker) columns() error {
	a, err := c.ask("columns")
	if err != nil {
		return err
	}
	var v struct {
		Tick    uint64
		Columns []struct {
			Name     string
			Count    int
			Min, Max *float64
		}
	}
	if err := json.Unmarshal(a.Body, &v); err != nil {
		return err
	}
	return c.find(v.Tick, func(s *truth) error {
		for _, col := range v.Columns {
			if col.Name == "body.X" && col.Count != s.bodies {
				return fmt.Errorf("columns of tick %d: %d bodies, want %d", v.Tick, col.Count, s.bodies)
			}
			if col.Name != "hp" {
				continue
			}
			if col.Count != len(s.hp) || len(s.hp) > 0 && (float32(*col.Min) != slices.Min(s.hp) || float32(*col.Max) != slices.Max(s.hp)) {
				return fmt.Errorf("columns of tick %d: %v", v.Tick, col)
			}
		}
		return nil
	})
}

func (c *checker) records() error {
	a, err := c.ask("hashes")
	if err != nil {
		return err
	}
	var h struct {
		Ticks []uint64
		Own   []string
	}
	if err := json.Unmarshal(a.Body, &h); err != nil {
		return err
	}
	for i, tick := range h.Ticks {
		if i > 0 && tick <= h.Ticks[i-1] {
			return fmt.Errorf("hashes: tick %d after %d", tick, h.Ticks[i-1])
		}
		if err := c.find(tick, func(s *truth) error {
			if HashText(s.hash) != h.Own[i] {
				return fmt.Errorf("hashes: tick %d has %s", tick, h.Own[i])
			}
			return nil
		}); err != nil {
			return err
		}
	}
	a, err = c.ask("status")
	if err != nil {
		return err
	}
	var st status
	if err := json.Unmarshal(a.Body, &st); err != nil {
		return err
	}
	if st.Tick == 0 {
		return nil
	}
	return c.find(st.Tick, func(s *truth) error {
		if st.Hash != HashText(s.hash) || st.Entities != len(s.slots) || st.Bodies != s.bodies {
			return fmt.Errorf("status: %+v, want %+v", st, s)
		}
		return nil
	})
}

// churned is a Sim in which systems spawn, despawn, tag, and create and destroy bodies at random.
func churned(r *rand.Rand, v *witness) *evertick.Sim {
	sim := must(evertick.New(evertick.Config{Capacity: 128, History: evertick.HistoryConfig{Keep: 50, Every: 5}}))
	v.hp, v.red = must(ecs.AddColumn[float32](sim.World, "hp")), must(sim.World.Tag("red"))
	if err := sim.Add(evertick.BeforePhysics, "churn", func(tick *evertick.Tick) error {
		w := sim.World
		for id := range w.IDs() {
			d := tick.Rand(id, 0)
			slot, _ := w.Slot(id)
			v.hp.Values()[slot] = d.Float32()
			switch d.IntN(20) {
			case 0:
				tick.Commands().Despawn(id)
			case 1:
				v.red.Set(id)
			}
		}
		d := tick.Rand(0, 1)
		for n := d.IntN(4); n > 0 && w.Len() < 120; n-- {
			id, err := w.Spawn()
			if err != nil {
				return err
			}
			if err := w.SetPosition(id, d.Float32(), d.Float32(), 0); err != nil {
				return err
			}
			if d.IntN(2) == 0 {
				def := physics.DefaultBodyDef()
				def.Position = [2]float32{d.Float32(), d.Float32()}
				body, err := sim.CreateBody(id, def)
				if err != nil {
					return err
				}
				if _, err := sim.Physics.CreateCircle(body, physics.DefaultShapeDef(), physics.Circle{Radius: 0.1}); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		panic(err)
	}
	v.see(sim)
	sim.AddHooks(evertick.Hooks{AfterTick: func(*evertick.Tick) error { v.see(sim); return nil }})
	return sim
}

// All answers that name a tick agree with the state after that tick, while the Sim goes on and back in every way
// that a host has.
func TestAnswersAgreeWithTheSim(t *testing.T) {
	r := seeded(t)
	v := &witness{states: map[uint64][]*truth{}}
	sim := churned(r, v)
	in := newInspector(t, sim, Config{Control: true})
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range 4 {
		c := &checker{witness: v, in: in, r: rand.New(rand.NewPCG(uint64(i), r.Uint64())), done: map[string]int{}}
		wg.Go(func() {
			for !stop.Load() {
				if err := errors.Join(c.frame(t), c.entities(), c.entity(), c.columns(), c.records()); err != nil {
					t.Error(err)
					return
				}
			}
			if len(c.done) < 6 {
				t.Errorf("answers: %v", c.done)
			}
		})
	}
	period := time.Second
	if testing.Short() {
		period = 200 * time.Millisecond
	}
	for end := time.Now().Add(period); time.Now().Before(end) && !t.Failed(); time.Sleep(50 * time.Microsecond) {
		if err := drive(r, sim); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
			in.Between() // for requests that wait
		}
	}
}

// drive moves a Sim by a random call of a host.
func drive(r *rand.Rand, sim *evertick.Sim) error {
	switch r.IntN(12) {
	case 0:
		return sim.StepBack(min(uint64(r.IntN(20)), sim.Ticks()-sim.OldestTick()))
	case 1:
		s, err := sim.Snapshot(nil)
		return errors.Join(err, sim.StepN(uint64(r.IntN(5))), sim.Restore(s))
	case 2:
		sim.Loop().SetPaused(!sim.Loop().Paused())
	case 3:
		return sim.Step()
	case 4:
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if err := sim.Run(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	_, err := sim.Advance(int64(r.IntN(40_000_000)))
	return err
}
