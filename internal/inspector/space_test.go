package inspector

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/physics3"
)

type spaceEvents struct {
	Events []struct {
		Tick          uint64
		Kind, Solver  string
		A, B          *partView
		Point, Normal []float32
		Force, Torque json.RawMessage
		Speed         float32
		Joint         string
	}
}

// eventsIn lists the events of the last step in space as an answer does.
func eventsIn(l *sims3.Life) (list []string) {
	w := l.Bodies.World()
	e := w.Events()
	shape := func(s physics3.Shape) string {
		id, ok := l.Bodies.ShapeEntity(s)
		return fmt.Sprint(id, ok, s)
	}
	body := func(b physics3.Body) string {
		id, ok := l.Bodies.Entity(b)
		return fmt.Sprint(id, ok)
	}
	row := func(i uint32) string {
		b, _ := w.BodyAt(int(i))
		return body(b)
	}
	for _, x := range e.Begin {
		list = append(list, "begin "+shape(x.A)+" "+shape(x.B))
	}
	for _, x := range e.End {
		list = append(list, "end "+shape(x.A)+" "+shape(x.B))
	}
	for _, x := range e.SensorBegin {
		list = append(list, "sensor_begin "+shape(x.Sensor)+" "+shape(x.Visitor))
	}
	for _, x := range e.SensorEnd {
		list = append(list, "sensor_end "+shape(x.Sensor)+" "+shape(x.Visitor))
	}
	for _, x := range e.Hit {
		list = append(list, fmt.Sprint("hit ", shape(x.A), " ", shape(x.B), x.Point, x.Normal, x.Speed))
	}
	for _, x := range e.Disabled {
		list = append(list, "disabled "+body(x.Body))
	}
	for _, x := range e.Broken {
		list = append(list, fmt.Sprint("broken ", body(x.A), " ", body(x.B), x.Joint, x.Force, x.Torque))
	}
	for _, x := range e.JointLoads {
		a, b, _ := w.JointBodies(x.Joint)
		list = append(list, fmt.Sprint("joint_load ", body(a), " ", body(b), x.Joint, x.Force, x.Torque))
	}
	for _, i := range e.Slept {
		list = append(list, "slept "+row(i))
	}
	for _, i := range e.Woke {
		list = append(list, "woke "+row(i))
	}
	return list
}

// names lists what eventsIn lists, of an answer.
func (a *spaceEvents) names() (list []string) {
	for _, e := range a.Events {
		if e.Solver != "physics3" {
			continue
		}
		text := e.Kind
		for _, p := range []*partView{e.A, e.B} {
			if p == nil {
				continue
			}
			id := ecs.ID(0)
			if p.Entity != nil {
				id = *p.Entity
			}
			text += fmt.Sprint(" ", id, p.Entity != nil)
			if p.Shape != "" {
				text += " " + p.Shape
			}
		}
		vector := func(raw json.RawMessage) (v [3]float32) {
			if err := json.Unmarshal(raw, &v); err != nil {
				panic(err)
			}
			return v
		}
		switch e.Kind {
		case "hit":
			text += fmt.Sprint([3]float32(e.Point), [3]float32(e.Normal), e.Speed)
		case "broken", "joint_load":
			text += fmt.Sprint(e.Joint, vector(e.Force), vector(e.Torque))
		}
		list = append(list, strings.ReplaceAll(text, " ", ""))
	}
	return list
}

// Panels show bodies in space as package space has them: the selected body, events, columns, numbers.
func TestSpace(t *testing.T) {
	l := must(sims3.NewLife(9, evertick.Config{}))
	in := newInspector(t, l.Sim, Config{})
	w, sp := l.Sim.World, l.Bodies.World()
	kinds, described, touching := map[string]int{}, 0, 0
	ticks := 400
	if testing.Short() {
		ticks = 250
	}
	after := uint64(0)
	get(t, in, "events")
	for tick := range ticks {
		if err := l.Sim.Step(); err != nil {
			t.Fatal(err)
		}
		raw := get(t, in, fmt.Sprintf("events?after=%d", after))
		a := decode[spaceEvents](t, raw)
		after = decode[eventsAnswer](t, raw).Seq
		want := eventsIn(l)
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], " ", "")
		}
		if got := a.names(); !slices.Equal(got, want) {
			t.Fatalf("tick %d: events %q, want %q", tick, got, want)
		}
		for _, e := range a.Events {
			kinds[e.Kind]++
		}
		if tick%50 != 49 {
			continue
		}
		st := decode[status](t, get(t, in, "status"))
		if st.Bodies != sp.Len()+l.Sim.Physics.Len() || st.Contacts != sp.ContactCount()+l.Sim.Physics.ContactCount() {
			t.Errorf("tick %d: %d bodies and %d contacts, want %d and %d in space, %d and %d in the plane", tick, st.Bodies, st.Contacts, sp.Len(), sp.ContactCount(), l.Sim.Physics.Len(), l.Sim.Physics.ContactCount())
		}
		checkColumnsInSpace(t, in, l)
		for slot := range ecs.Slot(w.HighWater()) {
			id, alive := w.ID(slot)
			body, has := l.Bodies.Body(id)
			if !alive || !has {
				continue
			}
			described++
			touching += checkBodyInSpace(t, get(t, in, "entity?id="+id.String()), l, body)
		}
		rows := decode[struct {
			Rows []struct {
				ID   ecs.ID
				Body bool
			}
		}](t, get(t, in, "entities?count=500")).Rows
		for _, row := range rows {
			_, has := l.Bodies.Body(row.ID)
			_, flat := l.Sim.Body(row.ID)
			if row.Body != (has || flat) {
				t.Errorf("tick %d: the list says of %v that it has a body: %t", tick, row.ID, row.Body)
			}
		}
	}
	for _, kind := range []string{"begin", "end", "sensor_begin", "sensor_end", "hit", "slept", "woke"} {
		if kinds[kind] == 0 {
			t.Errorf("no event %s: %v", kind, kinds)
		}
	}
	if described < 50 || touching == 0 {
		t.Errorf("%d bodies described, %d contacts", described, touching)
	}
}

// checkBodyInSpace compares the description of an entity with its body, and returns the number of contacts.
func checkBodyInSpace(t *testing.T, a Answer, l *sims3.Life, b physics3.Body) int {
	t.Helper()
	v := decode[struct {
		Body struct {
			Solver, Type       string
			Awake              bool
			Row                int
			Mass               float32
			Position, Velocity [3]float32
			AngularVelocity    [3]float32 `json:"angular_velocity"`
			Rotation           [4]float32
			Angle              json.RawMessage
			Shapes             []entityShape
			Contacts           []struct {
				Shape string
				Other *partView
			}
		}
	}](t, a).Body
	w := l.Bodies.World()
	p, _ := w.Position(b)
	q, _ := w.Rotation(b)
	linear, angular, _ := w.Velocity(b)
	mass, _ := w.MassData(b)
	if v.Solver != "physics3" || v.Type != "dynamic" || v.Awake != w.Awake(b) || v.Row != b.Index() || v.Mass != mass.Mass || !(v.Mass > 0) ||
		v.Position != p || v.Rotation != q || v.Velocity != linear || v.AngularVelocity != angular || v.Angle != nil {
		t.Errorf("%v is shown as %+v", b, v)
	}
	shapes, _ := w.AppendShapes(nil, b)
	if len(v.Shapes) != len(shapes) || v.Shapes[0].Shape != shapes[0].String() || v.Shapes[0].Sensor {
		t.Errorf("%v has shapes %v, shown as %+v", b, shapes, v.Shapes)
	}
	touches, _ := w.AppendContacts(nil, b)
	if len(touches) != len(v.Contacts) {
		t.Fatalf("%v touches %v, shown as %+v", b, touches, v.Contacts)
	}
	for i, c := range v.Contacts {
		if names := [2]string{touches[i].A.String(), touches[i].B.String()}; names != [2]string{c.Shape, c.Other.Shape} && names != [2]string{c.Other.Shape, c.Shape} || c.Shape != shapes[0].String() {
			t.Errorf("contact %v is shown as %+v", names, c)
		}
	}
	return len(touches)
}

// checkColumnsInSpace compares the columns with those of the space: numbers of live bodies, and the hashes of all parts.
func checkColumnsInSpace(t *testing.T, in *Inspector, l *sims3.Life) {
	t.Helper()
	sp := l.Bodies.World()
	hashes := map[string]string{}
	for _, h := range l.Sim.AppendColumnHashes(nil) {
		hashes[h.Name] = HashText(h.Hash)
	}
	seen := map[string]int{}
	for _, c := range decode[columnsAnswer](t, get(t, in, "columns")).Columns {
		name, inSpace := strings.CutPrefix(c.Name, "physics3.")
		if !inSpace {
			continue
		}
		seen[name]++
		if c.Owner != "bodies" || c.Hash != hashes[c.Name] {
			t.Errorf("%s: owner %s, hash %s, want %s", c.Name, c.Owner, c.Hash, hashes[c.Name])
		}
		if i := slices.IndexFunc(sp.BodyColumns(), func(v physics3.ColumnView) bool { return v.Name() == name }); i >= 0 {
			v := sp.BodyColumns()[i]
			least, most, n := 0.0, 0.0, 0
			for row := range sp.Rows() {
				if _, ok := sp.BodyAt(row); !ok {
					continue
				}
				if f := v.Float64(uint32(row), 0); n == 0 {
					least, most = f, f
				} else {
					least, most = min(least, f), max(most, f)
				}
				n++
			}
			var lo, hi float64
			if json.Unmarshal(c.Min, &lo) != nil || json.Unmarshal(c.Max, &hi) != nil || c.Kind != v.Kind().String() || c.Count != n || float32(lo) != float32(least) || float32(hi) != float32(most) {
				t.Errorf("%s: %d rows of %s from %s to %s, want %d from %v to %v", c.Name, c.Count, c.Kind, c.Min, c.Max, n, least, most)
			}
		} else if c.Kind != "" {
			t.Errorf("%s has numbers, and is no column of bodies", c.Name)
		}
	}
	for name := range hashes {
		if name, ok := strings.CutPrefix(name, "physics3."); ok && seen[name] != 1 {
			t.Errorf("%s is shown %d times", name, seen[name])
		}
	}
	listed := 0
	for _, c := range decode[worldAnswer](t, get(t, in, "world")).Columns {
		if strings.HasPrefix(c.Name, "physics3.") {
			listed++
		}
	}
	if listed != len(sp.BodyColumns()) || seen["Owner"] != 1 || seen["Contact"] != 1 {
		t.Errorf("%d columns of bodies in space, want %d; %v", listed, len(sp.BodyColumns()), seen)
	}
}

// Differences of bodies in space are listed value by value, with their entities.
func TestDifferencesInSpace(t *testing.T) {
	a, b := must(sims3.NewLife(3, evertick.Config{})), must(sims3.NewLife(3, evertick.Config{}))
	for range 60 {
		if err := a.Sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Sim.CopyFrom(a.Sim); err != nil {
		t.Fatal(err)
	}
	if list, total := differences(a.Sim, b.Sim, 100, func() {}); total != 0 {
		t.Fatalf("of equal Sims: %+v", list)
	}
	sp := b.Bodies.World()
	var moved, gone physics3.Body
	for row := 1; row < sp.Rows(); row++ {
		if body, ok := sp.BodyAt(row); ok && moved == (physics3.Body{}) {
			moved = body
		} else if ok {
			gone = body
		}
	}
	owner, _ := b.Bodies.Entity(moved)
	lost, _ := b.Bodies.Entity(gone)
	sp.Columns().WY[moved.Index()] += 0.5
	if err := sp.DestroyBody(gone); err != nil {
		t.Fatal(err)
	}
	list, _ := differences(a.Sim, b.Sim, 1000, func() {})
	find := func(column string) *difference {
		i := slices.IndexFunc(list, func(d difference) bool { return d.Column == column })
		if i < 0 {
			t.Fatalf("no difference of %s in %+v", column, list)
		}
		return &list[i]
	}
	d := find("physics3.WY")
	was, is := a.Bodies.World().Columns().WY[moved.Index()], sp.Columns().WY[moved.Index()]
	if *d.Row != uint32(moved.Index()) || d.Entity != owner.String() || d.A != fmt.Sprint(was) || d.B != fmt.Sprint(is) {
		t.Errorf("%+v, want row %d of %s from %v to %v", d, moved.Index(), owner, was, is)
	}
	if d := find("physics3"); *d.Row != uint32(gone.Index()) || d.Entity != lost.String() || d.A != "a body" || d.B != none {
		t.Errorf("%+v, want row %d of %s", d, gone.Index(), lost)
	}
	for _, d := range list {
		if strings.HasPrefix(d.Column, "physics3.") && d.Row != nil && *d.Row == uint32(gone.Index()) {
			t.Errorf("a value of a body that only one Sim has: %+v", d)
		}
	}
}
