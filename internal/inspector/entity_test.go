package inspector

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

// refused asks for something, which must have a status and an error.
func refused(t *testing.T, in *Inspector, query string, status int) {
	t.Helper()
	a := get(t, in, query)
	var v struct{ Error string }
	if err := json.Unmarshal(a.Body, &v); a.Status != status || err != nil || v.Error == "" {
		t.Errorf("%s: status %d, %s; want %d", query, a.Status, a.Body, status)
	}
}

func TestRefusedPanels(t *testing.T) {
	z := newZoo(t, seeded(t), 50)
	in := newInspector(t, z.sim, Config{})
	hash := z.sim.AppendColumnHashes(nil)
	for _, query := range []string{
		"entities?offset=-1", "entities?count=501", "entities?count=x", "entities?columns=nothing", "entities?columns=vel", "entities?columns=vel[3]",
		"entities?tag=blue", "entities?without=blue", "entities?where=blue>1", "entities?where=hp", "entities?sort=blue", "entities?where=vel>1",
		"entity", "entity?id=3", "entity?id=ent_x", "entity?slot=-1", "entity?slot=4294967296",
		"pick", "pick?x=1", "pick?x=NaN&y=0", "pick?x=0&y=inf", "pick?x=0&y=0&r=-1", "pick?x=0&y=0&r=1e99", "pick?x=a&y=0", "pick?x=1e39&y=0",
		"events?after=-1", "trace?after=x", "columns?of=log", "queues?of=other",
	} {
		refused(t, in, query, 400)
	}
	for _, query := range []string{"entity?id=ent_0", "entity?id=ent_999999", "entity?id=ent_1", "entity?slot=4095", "entity?slot=4294967295"} {
		refused(t, in, query, 404)
	}
	if !slices.Equal(hash, z.sim.AppendColumnHashes(nil)) {
		t.Error("a refused request has changed the state")
	}
	if n := len(z.sim.World.Describe().Tags); n != 2 {
		t.Errorf("a refused request has added a tag: %d", n)
	}
}

type entityAnswer struct {
	Tick    uint64
	ID      ecs.ID
	Slot    ecs.Slot
	Tags    []string
	Columns []struct {
		Name, Kind string
		Values     []json.RawMessage
		Version    uint64
	}
	Blobs []struct {
		Name  string
		Bytes int
	}
	Body *struct {
		Row                int
		Type               string
		Awake              bool
		Mass, Angle        json.RawMessage
		Position, Velocity [2]json.RawMessage
		AngularVelocity    json.RawMessage `json:"angular_velocity"`
		Shapes             []struct {
			Shape  string
			Sensor bool
		}
		Contacts []struct {
			Shape string
			Other struct {
				Entity      *ecs.ID
				Body, Shape string
			}
		}
	}
}

func TestEntity(t *testing.T) {
	z := newZoo(t, seeded(t), 200)
	if err := z.sim.StepN(5); err != nil {
		t.Fatal(err)
	}
	in := newInspector(t, z.sim, Config{})
	w := z.sim.World
	order := w.LiveSlots(nil)
	slices.Reverse(order)
	if err := w.Reorder(order); err != nil {
		t.Fatal(err)
	}
	touching := 0
	for i, id := range z.ids {
		slot, _ := w.Slot(id)
		query := "entity?id=" + id.String()
		if i%2 == 0 {
			query = fmt.Sprintf("entity?slot=%d", slot)
		}
		e := decode[entityAnswer](t, get(t, in, query))
		tags := []string{}
		for _, tag := range []ecs.Tag{z.red, z.by} {
			if tag.Has(id) {
				tags = append(tags, tag.Name())
			}
		}
		if e.ID != id || e.Slot != slot || e.Tick != 5 || !slices.Equal(e.Tags, tags) || len(e.Columns) != len(w.Columns()) || (len(e.Blobs) == 1) != (i%5 == 0) {
			t.Fatalf("%v is %+v, with tags %v", id, e, tags)
		}
		if i%5 == 0 && (e.Blobs[0].Name != "name" || e.Blobs[0].Bytes != i) {
			t.Errorf("blobs of %v: %+v, want %d bytes", id, e.Blobs, i)
		}
		for j, c := range w.Columns() {
			of := e.Columns[j]
			if of.Name != c.Name() || of.Kind != c.Kind().String() || len(of.Values) != c.Components() || of.Version != c.Version() {
				t.Fatalf("column %d of %v is %+v", j, id, of)
			}
			for k, v := range of.Values {
				if want := text(c.Value(slot, k)); string(v) != want {
					t.Errorf("%s[%d] of %v is %s, want %s", of.Name, k, id, v, want)
				}
			}
		}
		touching += z.checkBody(t, id, &e)
	}
	if touching == 0 {
		t.Error("no body touches another one")
	}
}

// checkBody compares the body of an entity with what the physics says, and returns the number of contacts.
func (z *zoo) checkBody(t *testing.T, id ecs.ID, e *entityAnswer) int {
	t.Helper()
	p := z.sim.Physics
	b, ok := z.sim.Body(id)
	if !ok {
		if e.Body != nil {
			t.Errorf("%v has the body %+v", id, e.Body)
		}
		return 0
	}
	v, c, row := e.Body, p.Columns(), b.Index()
	mass := must(p.MassData(b))
	shapes := must(p.AppendShapes(nil, b))
	touches := must(p.AppendContacts(nil, b))
	if v.Row != row || v.Type != c.Type[row].String() || v.Awake != p.Awake(b) || string(v.Mass) != text(mass.Mass) ||
		string(v.Position[0]) != text(c.X[row]) || string(v.Position[1]) != text(c.Y[row]) || string(v.Angle) != text(c.Angle[row]) ||
		string(v.Velocity[0]) != text(c.VX[row]) || string(v.Velocity[1]) != text(c.VY[row]) || string(v.AngularVelocity) != text(c.W[row]) ||
		len(v.Shapes) != len(shapes) || len(v.Contacts) != len(touches) {
		t.Fatalf("the body of %v is %+v", id, v)
	}
	for i, s := range shapes {
		if v.Shapes[i].Shape != s.String() {
			t.Errorf("shape %d of %v is %+v, want %v", i, id, v.Shapes[i], s)
		}
	}
	for i, touch := range touches {
		own, other := touch.A, touch.B
		if must(p.ShapeBody(own)) != b {
			own, other = other, own
		}
		with := v.Contacts[i]
		want, has := z.sim.ShapeEntity(other)
		if with.Shape != own.String() || with.Other.Shape != other.String() || with.Other.Body != must(p.ShapeBody(other)).String() ||
			(with.Other.Entity != nil) != has || has && *with.Other.Entity != want {
			t.Errorf("contact %d of %v is %+v", i, id, with)
		}
	}
	return len(touches)
}

// pickSim has entities in the plane, with bodies where wanted.
type pickSim struct {
	*evertick.Sim
	t testing.TB
}

func (s pickSim) at(x, y float32, shapes ...func(b physics.Body)) ecs.ID {
	id := must(s.World.Spawn())
	plane := s.Physics.Config().Plane
	p := plane.Join([2]float32{x, y}, 0)
	if err := s.World.SetPosition(id, p[0], p[1], p[2]); err != nil {
		s.t.Fatal(err)
	}
	if len(shapes) > 0 {
		d := physics.DefaultBodyDef()
		d.Position = [2]float32{x, y}
		b := must(s.CreateBody(id, d))
		for _, f := range shapes {
			f(b)
		}
	}
	return id
}

func (s pickSim) circle(r float32) func(physics.Body) {
	return func(b physics.Body) {
		must(s.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: r}))
	}
}

func (s pickSim) sensor(hx, hy float32) func(physics.Body) {
	return func(b physics.Body) {
		d := physics.DefaultShapeDef()
		d.Sensor = true
		must(s.Physics.CreatePolygon(b, d, physics.Box(hx, hy)))
	}
}

type pickAnswer struct {
	ID   *ecs.ID
	Slot *ecs.Slot
}

func TestPick(t *testing.T) {
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		s := pickSim{must(evertick.New(evertick.Config{Capacity: 64, Physics: physics.Config{Plane: plane}})), t}
		ground := must(s.Physics.CreateBody(physics.DefaultBodyDef())) // of no entity
		s.sensor(100, 100)(ground)
		large := s.at(0, 0, s.circle(5))
		small := s.at(1, 0, s.circle(1))
		area := s.at(20, 0, s.sensor(2, 1))
		twin := s.at(20, 0, s.sensor(2, 1)) // the same box as area: the lower index counts
		far := s.at(-20, 0)
		s.at(-20, 0) // at the same place: the lower slot counts
		in := newInspector(t, s.Sim, Config{})
		for _, c := range []struct {
			x, y, r float64
			want    ecs.ID
		}{
			{0.9, 0, 0, small}, {1.9, 0.2, 0, small}, {-3, 3, 0, large}, {3.5, 3.5, 0, large}, {3.6, 3.6, 0, 0}, {3.6, 3.6, 10, small},
			{21.9, 0.9, 0, area}, {22.1, 0, 0, 0}, {22.1, 0, 3, area}, {-20, 0, 0, far}, {-20.5, 0, 0.4, 0}, {-20.5, 0, 0.5, far},
			{1e30, 1e30, 1, 0}, {3e38, -3e38, 0, 0},
		} {
			p := decode[pickAnswer](t, get(t, in, fmt.Sprintf("pick?x=%s&y=%s&r=%g", url.QueryEscape(fmt.Sprint(c.x)), url.QueryEscape(fmt.Sprint(c.y)), c.r)))
			if c.want == 0 && p.ID != nil || c.want != 0 && (p.ID == nil || *p.ID != c.want) {
				t.Errorf("%v: at %g, %g within %g is %v, want %v", plane, c.x, c.y, c.r, p.ID, c.want)
			}
			if p.ID != nil {
				if slot, _ := s.World.Slot(*p.ID); slot != *p.Slot {
					t.Errorf("slot %d, want %d", *p.Slot, slot)
				}
			}
		}
		s.World.Despawn(area)
		if p := decode[pickAnswer](t, get(t, in, "pick?x=20&y=0")); p.ID == nil || *p.ID != twin {
			t.Errorf("after a despawn it is %v, want %v", p.ID, twin)
		}
	}
	in := newInspector(t, newSim(t, evertick.Config{Capacity: 4}, 0), Config{})
	if a := get(t, in, "pick?x=0&y=0&r=9"); string(a.Body) != `{"id":null}` {
		t.Errorf("in an empty world: %s", a.Body)
	}
}

// Picks in drawn worlds are those of brute force over circles and positions.
func TestPickDrawn(t *testing.T) {
	r := seeded(t)
	s := pickSim{must(evertick.New(evertick.Config{Capacity: 512})), t}
	type thing struct {
		id        ecs.ID
		x, y, rad float64
	}
	var all []thing
	for i := range 300 {
		v := thing{x: float64(r.Float32() * 40), y: float64(r.Float32() * 40)}
		if i%2 == 0 {
			v.rad = float64(0.1 + r.Float32())
			v.id = s.at(float32(v.x), float32(v.y), s.circle(float32(v.rad)))
		} else {
			v.id = s.at(float32(v.x), float32(v.y))
		}
		all = append(all, v)
	}
	byShape := 0
	in := newInspector(t, s.Sim, Config{})
	for range some(1000) {
		q := pickQuery{r.Float32() * 40, r.Float32() * 40, r.Float32()}
		var want ecs.ID
		clear := true // no circle or radius ends so near to the point that rounding decides
		least := math.Inf(1)
		distance := func(v thing) float64 { return math.Hypot(v.x-float64(q.x), v.y-float64(q.y)) }
		for _, v := range all {
			d := distance(v)
			clear = clear && math.Abs(d-v.rad) > 1e-4
			if v.rad > 0 && d < v.rad && v.rad < least {
				want, least = v.id, v.rad
			}
		}
		if want == 0 {
			least = float64(q.r)
			for _, v := range all {
				if d := distance(v); d < least {
					want, least = v.id, d
				}
			}
		} else {
			byShape++
		}
		p := decode[picked](t, get(t, in, fmt.Sprintf("pick?x=%v&y=%v&r=%v", q.x, q.y, q.r)))
		if got := p.ID; clear && (got == nil) != (want == 0) || clear && got != nil && *got != want {
			t.Errorf("at %+v is %v, want %v", q, got, want)
		}
	}
	if byShape < some(50) {
		t.Errorf("only %d picks by shape", byShape)
	}
}
