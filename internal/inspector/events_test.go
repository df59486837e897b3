package inspector

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/bodyview"
	"github.com/evertick/evertick/physics"
)

type eventsAnswer struct {
	Seq, Lost uint64
	Since     *uint64 `json:"recording_since"`
	Events    []struct {
		Seq, Tick uint64
		Kind      string
		A, B      *struct {
			Entity      *ecs.ID
			Body, Shape string
		}
		Point, Normal []float64
		Speed         float64
	}
}

// rain has balls that fall on a floor, which is a body of no entity, and through a sensor of one; they sleep in the end.
func rain(t testing.TB, balls int) *evertick.Sim {
	sim := must(evertick.New(evertick.Config{Capacity: 256, Physics: physics.Config{Gravity: [2]float32{0, -10}}}))
	floor := must(sim.Physics.CreateBody(physics.DefaultBodyDef()))
	must(sim.Physics.CreatePolygon(floor, physics.DefaultShapeDef(), physics.Box(200, 1)))
	s := pickSim{sim, t}
	s.at(0, 2.5, s.sensor(200, 0.1))
	for i := range balls {
		id := must(sim.World.Spawn())
		d := physics.DefaultBodyDef()
		d.Type, d.Position = physics.DynamicBody, [2]float32{float32(i%40)*3 - 60, 4 + float32(i/40)*1.5}
		b := must(sim.CreateBody(id, d))
		shape := physics.DefaultShapeDef()
		shape.Restitution = 0.2
		must(sim.Physics.CreateCircle(b, shape, physics.Circle{Radius: 0.5}))
	}
	return sim
}

// namesOfEvents lists the events of the last step as an answer does: kind, entities and shapes.
func namesOfEvents(sim *evertick.Sim) (list []string) {
	e := sim.Physics.Events()
	part := func(s physics.Shape) string {
		name := "-"
		if id, ok := sim.ShapeEntity(s); ok {
			name = id.String()
		}
		return name + " " + s.String()
	}
	body := func(i uint32) string {
		b, _ := sim.Physics.BodyAt(int(i))
		name := "-"
		if id, ok := sim.BodyEntity(b); ok {
			name = id.String()
		}
		return name + " "
	}
	for _, x := range e.Begin {
		list = append(list, "begin "+part(x.A)+" "+part(x.B))
	}
	for _, x := range e.End {
		list = append(list, "end "+part(x.A)+" "+part(x.B))
	}
	for _, x := range e.SensorBegin {
		list = append(list, "sensor_begin "+part(x.Sensor)+" "+part(x.Visitor))
	}
	for _, x := range e.SensorEnd {
		list = append(list, "sensor_end "+part(x.Sensor)+" "+part(x.Visitor))
	}
	for _, x := range e.Hit {
		list = append(list, fmt.Sprintf("hit %s %s %v %v %v", part(x.A), part(x.B), x.Point, x.Normal, x.Speed))
	}
	for _, i := range e.Slept {
		list = append(list, "slept "+body(i))
	}
	for _, i := range e.Woke {
		list = append(list, "woke "+body(i))
	}
	return list
}

func (a *eventsAnswer) names() (list []string) {
	for _, e := range a.Events {
		text := e.Kind
		for _, p := range []*struct {
			Entity      *ecs.ID
			Body, Shape string
		}{e.A, e.B} {
			if p == nil {
				continue
			}
			name := "-"
			if p.Entity != nil {
				name = p.Entity.String()
			}
			text += " " + name + " " + p.Shape
		}
		if e.Kind == "hit" {
			text += fmt.Sprintf(" %v %v %v", [2]float32{float32(e.Point[0]), float32(e.Point[1])}, [2]float32{float32(e.Normal[0]), float32(e.Normal[1])}, float32(e.Speed))
		}
		list = append(list, text)
	}
	return list
}

// A page that asks in time gets each event once, by the names that the Sim has for it.
func TestEvents(t *testing.T) {
	sim := rain(t, 40)
	in := newInspector(t, sim, Config{})
	a := decode[eventsAnswer](t, get(t, in, "events"))
	if a.Seq != 0 || a.Since != nil || len(a.Events) != 0 {
		t.Errorf("before all ticks: %+v", a)
	}
	kinds := map[string]int{}
	after := uint64(0)
	for tick := range uint64(300) {
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		want := namesOfEvents(sim)
		a := decode[eventsAnswer](t, get(t, in, fmt.Sprintf("events?after=%d", after)))
		if got := a.names(); !slices.Equal(got, want) || a.Lost != 0 || a.Since == nil || *a.Since != 1 {
			t.Fatalf("tick %d: %d lost, %q, want %q", tick, a.Lost, got, want)
		}
		for _, e := range a.Events {
			if after++; e.Seq != after || e.Tick != tick+1 {
				t.Fatalf("event %d of tick %d is %+v", after, tick+1, e)
			}
			kinds[e.Kind]++
		}
		if a.Seq != after {
			t.Fatalf("the last number is %d, want %d", a.Seq, after)
		}
		if tick == 250 { // the handles of what is gone are stale
			id, _ := sim.World.ID(5)
			sim.World.Despawn(id)
		}
	}
	for _, kind := range []string{"begin", "end", "sensor_begin", "sensor_end", "hit", "slept"} {
		if kinds[kind] == 0 {
			t.Errorf("no event of kind %s in %v", kind, kinds)
		}
	}
}

// The ring loses the oldest of 4,097 events, and says so.
func TestEventsLost(t *testing.T) {
	var l eventLog
	l.clock = func() int64 { return 1 }
	l.after(0)
	var all []string
	for r := seeded(t); len(all) <= recordedEvents; {
		slept, woke := bodyview.Event{Kind: bodyview.Slept}, bodyview.Event{Kind: bodyview.Woke}
		if r.IntN(2) == 0 || len(all) == recordedEvents {
			l.add(1, []bodies{{view: fakeEvents{list: []bodyview.Event{slept}}}})
			all = append(all, "slept")
		} else {
			l.add(1, []bodies{{view: fakeEvents{list: []bodyview.Event{woke, woke}}}})
			all = append(all, "woke", "woke")
		}
	}
	total := uint64(len(all))
	for _, c := range []struct{ after, first, lost uint64 }{
		{0, total - recordedEvents + 1, total - recordedEvents}, {1, total - recordedEvents + 1, total - recordedEvents - 1},
		{total - recordedEvents, total - recordedEvents + 1, 0}, {total - 1, total, 0}, {total, total + 1, 0},
		{total + 1, total - recordedEvents + 1, total - recordedEvents}, // a number of another sequence
	} {
		v := l.after(c.after)
		if v.Seq != total || v.Lost != c.lost || uint64(len(v.List)) != total+1-c.first {
			t.Errorf("after %d: %d lost, %d events up to %d; want %d lost from %d to %d", c.after, v.Lost, len(v.List), v.Seq, c.lost, c.first, total)
		}
		for i, e := range v.List {
			if e.Seq != c.first+uint64(i) || e.Kind != all[e.Seq-1] {
				t.Fatalf("after %d: event %d is %+v, want %s", c.after, i, e, all[e.Seq-1])
			}
		}
	}
}

// Events are recorded while a page has asked in the last five seconds, and no longer; then a tick allocates nothing.
func TestEventsAreRecordedWhileAPageAsks(t *testing.T) {
	sim := rain(t, 40)
	now := int64(1)
	l := eventLog{clock: func() int64 { return now }}
	step := func() {
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		l.record(sim)
	}
	for range 60 {
		step()
	}
	if l.ring.rows != nil {
		t.Error("events without a page")
	}
	l.after(0)
	now += int64(recordFor)
	step()
	if v := l.after(0); v.Since == nil || *v.Since != 61 {
		t.Errorf("recorded since %v", v.Since)
	}
	now += int64(recordFor) + 1
	step()
	if l.on || l.asked.Load() != 0 {
		t.Error("recorded 5 s after the last question")
	}
	now += int64(time.Hour)
	for range 200 {
		step()
	}
	if n := testing.AllocsPerRun(50, func() { l.record(sim) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	l.after(0)
	step()
	if v := l.after(0); v.Since == nil || *v.Since != 263 {
		t.Errorf("recorded again since %d", *v.Since)
	}
}

// The events that only broken worlds have.
func TestRareEvents(t *testing.T) {
	sim := rain(t, 2)
	l := eventLog{clock: func() int64 { return 1 }}
	b, _ := sim.Physics.BodyAt(2)
	c, _ := sim.Physics.BodyAt(3)
	id, _ := sim.BodyEntity(b)
	load := must(sim.Physics.CreateWeldJoint(physics.WeldJointDef{JointDef: physics.JointDef{BodyA: c, BodyB: b}}))
	*sim.Physics.Events() = physics.Events{
		Disabled:   []physics.Disabled{{Body: b, Column: "VX", Value: 1e30}},
		Broken:     []physics.Broken{{Joint: physics.JointOfBits(1 << 32), A: b, B: c, Force: [2]float32{1, 2}, Torque: 3}},
		JointLoads: []physics.JointLoad{{Joint: load, Force: [2]float32{4, 5}, Torque: 6}},
		Woke:       []uint32{2, 999},
	}
	l.add(7, bodiesOf(sim))
	v := l.after(0)
	d, br, jl, w := v.List[0], v.List[1], v.List[2], v.List[3]
	if d.Kind != "disabled" || *d.A.Entity != id || d.A.Body != b.String() || d.B != nil || d.Column != "VX" || string(d.Value) != "1e+30" ||
		br.Kind != "broken" || br.B.Body != c.String() || br.Joint != physics.JointOfBits(1<<32).String() || string(br.Force[1]) != "2" || string(br.Torque.(value)) != "3" ||
		jl.Kind != "joint_load" || jl.A.Body != c.String() || *jl.B.Entity != id || jl.Joint != load.String() || string(jl.Force[0]) != "4" || string(jl.Torque.(value)) != "6" ||
		w.Kind != "woke" || *w.A.Entity != id || w.Tick != 7 || v.List[4].A != nil {
		t.Errorf("%s", encode(v))
	}
}

// StepBack and Forward run ticks again. Pages have their events already, and see only where it ends. A step that a page asks
// for meanwhile does not count one of them.
func TestStepBack(t *testing.T) {
	sim := must(evertick.New(evertick.Config{Capacity: 16, History: evertick.HistoryConfig{Keep: 20, Every: 100}, Physics: physics.Config{Gravity: [2]float32{0, -10}}}))
	s := pickSim{sim, t}
	s.at(0, 0, s.sensor(10, 0.1))
	d := physics.DefaultBodyDef()
	d.Type, d.Position = physics.DynamicBody, [2]float32{0, 1}
	b := must(sim.CreateBody(must(sim.World.Spawn()), d))
	must(sim.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5}))
	in := newInspector(t, sim, Config{Control: true})
	events := func() []string {
		a := decode[eventsAnswer](t, get(t, in, "events"))
		return a.names()
	}
	events()
	if err := sim.StepN(60); err != nil {
		t.Fatal(err)
	}
	want := events()
	if len(want) == 0 {
		t.Fatal("no event")
	}
	n := int64(3)
	moved := make(chan error)
	go func() { moved <- in.live.move(t.Context(), &move{Step: &n}) }()
	for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
		in.live.mu.Lock()
		waiting = len(in.live.waiting[0].lines)
		in.live.mu.Unlock()
	}
	if err := sim.StepBack(5); err != nil {
		t.Fatal(err)
	}
	in.Between()
	if got := events(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	in.Between()
	if err := <-moved; err != nil {
		t.Fatal(err)
	}
	rows, err := rowsAfter(request(t, "hashes?after=39"), in.live)
	if err != nil || len(rows) != 16 || rows[15].tick != 55 {
		t.Errorf("hashes after tick 39: %+v, %v", rows, err)
	}
	if err := sim.Forward(2); err != nil {
		t.Fatal(err)
	}
	if rows, err = rowsAfter(request(t, "hashes?after=54"), in.live); err != nil || len(rows) != 3 || rows[2].tick != 57 || rows[2].hash != sim.Hash() {
		t.Errorf("hashes after Forward: %+v, %v", rows, err)
	}
	advance(t, sim, 10)
	if sim.Ticks() != 60 {
		t.Errorf("at %d after three ticks from 57", sim.Ticks())
	}
}
