package replica

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// describe writes a schema in one line.
func describe(s Schema) string {
	var b strings.Builder
	for _, g := range s.Groups {
		b.WriteString("[")
		if g.Owner {
			b.WriteString("owner ")
		}
		if g.Predicted {
			b.WriteString("predicted ")
		}
		for i, f := range g.Fields {
			if i > 0 {
				b.WriteString(" ")
			}
			fmt.Fprintf(&b, "%s:%d/%d", f.Name, f.Codec, f.Bits)
		}
		b.WriteString("]")
	}
	return b.String() + strings.Join(s.Tags, ",")
}

// TestSchemaOfConfig: names that stand for several columns, groups and their order, defaults.
func TestSchemaOfConfig(t *testing.T) {
	for _, c := range []struct {
		name string
		c    Config
		want string
	}{
		{"default", Config{}, "[predicted position.x:2/25 position.y:2/25 position.z:2/25][predicted rotation:5/12]"},
		{"nothing", Config{Columns: []Column{}}, ""},
		{"everything", everything(), "[predicted position.x:2/25 position.y:2/25 position.z:2/25][predicted rotation:5/12]" +
			"[scale.x:2/16 scale.y:2/16 scale.z:2/16][hp:1/32][big:1/32][pair:2/12][:6/32][owner secret:1/8][owner big:1/32]red"},
		{"transform in two places", Config{Columns: []Column{{Name: "position.y", Codec: Quantised{}}, {Name: "hp"}, {Name: Rotation, Codec: Planar{Bits: 12}}}},
			"[predicted position.y:2/25 rotation:4/12][hp:1/32]"},
		{"exact transform", Config{Columns: []Column{{Name: "hp"}, {Name: "position"}, {Name: "rotation.z", Codec: Angle{}}}},
			"[hp:1/32][position.x:1/32][position.y:1/32][position.z:1/32][rotation.z:3/10]"},
		{"finer for the owner", Config{Owner: "owner", Columns: []Column{{Name: "position.x", To: Owner}, {Name: "position.x", Codec: Quantised{Bits: 9}}}},
			"[predicted position.x:2/9][owner position.x:1/32]"},
	} {
		g := newRig(t, 1, c.c)
		if got := describe(g.schema); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

// TestFaultsOfConfig: all faults at once, each with field and value, and no tag is added.
func TestFaultsOfConfig(t *testing.T) {
	g := newRig(t, 1, Config{})
	nan := float32(math.NaN())
	for _, c := range []struct {
		c    Config
		err  error
		want string
	}{
		{Config{Every: -1}, fault.ErrRange, "replica: Config.Every = -1"},
		{Config{Ring: 1}, fault.ErrRange, "replica: Config.Ring = 1"},
		{Config{Ring: 1025}, fault.ErrRange, "replica: Config.Ring = 1025"},
		{Config{Budget: 255}, fault.ErrRange, "replica: Config.Budget = 255"},
		{Config{Columns: []Column{{Name: "mana"}}}, fault.ErrUnsupported, "replica: Config.Columns[0].Name, a column that does not exist = mana"},
		{Config{Columns: []Column{{Name: "hp", Codec: Quantised{}}}}, fault.ErrUnsupported, "replica: Config.Columns[0]: replica: codec for float32: kind of hp = int32"},
		{Config{Columns: []Column{{Name: "hp", Codec: Quat{}}}}, fault.ErrUnsupported, "replica: Config.Columns[0].Name, for this codec = hp"},
		{Config{Columns: []Column{{Name: "rotation"}}}, fault.ErrUnsupported, "replica: Config.Columns[0].Name, for this codec = rotation"},
		{Config{Columns: []Column{{Name: "hp"}, {Name: "hp"}}}, fault.ErrRange, "replica: Config.Columns[1].Name, which is there twice = hp"},
		{Config{Columns: []Column{{Name: "hp", To: Owner}}}, fault.ErrRange, "replica: Config.Columns[0].To = 1"},
		{Config{Columns: []Column{{Name: "hp", To: 7}}, Owner: "owner"}, fault.ErrRange, "replica: Config.Columns[0].To = 7"},
		{Config{Columns: []Column{{Name: "long"}}}, fault.ErrUnsupported, "lanes of long = 9"},
		{Config{Tags: []string{"red", "new", "red"}}, fault.ErrRange, "replica: Config.Tags[2] = red"},
		{Config{Tags: make([]string, 33)}, fault.ErrCapacity, "replica: Config.Tags: number = 33"},
		{Config{Tags: []string{""}}, fault.ErrRange, "replica: Config.Tags[0]"},
		{Config{Owner: "hp"}, fault.ErrUnsupported, "replica: Config.Owner, a column of [1]int32 = hp"},
		{Config{Owner: "big"}, fault.ErrUnsupported, "replica: Config.Owner, a column of [1]uint64 = big"},
		{Config{View: ViewConfig{Enter: nan}}, fault.ErrNotFinite, "replica: Config.View.Enter = NaN"},
		{Config{View: ViewConfig{Enter: -1}}, fault.ErrRange, "replica: Config.View.Enter = -1"},
		{Config{View: ViewConfig{Enter: 5, Leave: 4}}, fault.ErrRange, "replica: Config.View.Leave = 4"},
		{Config{View: ViewConfig{Leave: 4}}, fault.ErrRange, "replica: Config.View.Leave = 4"},
		{Config{View: ViewConfig{Category: "hp"}}, fault.ErrUnsupported, "replica: Config.View.Category, a column of [1]int32 = hp"},
		{Config{View: ViewConfig{Weight: "pair"}}, fault.ErrUnsupported, "replica: Config.View.Weight, a column of [2]float32 = pair"},
	} {
		if _, ok := g.w.ColumnNamed("long"); !ok {
			ecs.AddArrayColumn[[9]uint8](g.w, "long")
		}
		c.c.Columns = append(c.c.Columns, Column{Name: "missing"})
		tags := len(g.w.Describe().Tags)
		s, err := newSource(g.sim, &c.c)
		if s != nil || !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		if !strings.Contains(err.Error(), "missing") {
			t.Errorf("one of two faults: %v", err)
		}
		if n := len(g.w.Describe().Tags); n != tags {
			t.Errorf("%v: %d tags, before %d", err, n, tags)
		}
	}
}

// TestLanes: the lanes of each codec, of columns of several numbers, and of tags.
func TestLanes(t *testing.T) {
	c := everything()
	c.Columns[1].Codec = Planar{Bits: 8}
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		sim, err := evertick.New(evertick.Config{Physics: physics.Config{Plane: plane}})
		if err != nil {
			t.Fatal(err)
		}
		g := newRigOn(t, 1, c, sim)
		id, slot, _ := g.w.SpawnSlot()
		g.w.SetPosition(id, 1.5, -2.25, 1e9)
		q := plane.Rotation(math.Pi / 2)
		g.w.SetRotation(id, q[0], q[1], q[2], q[3])
		g.w.SetScale(id, 1, 2, 3)
		g.hp.Values()[slot], g.big.Values()[slot], g.pair.Values()[slot], g.secret.Values()[slot] = -7, 1<<63|5, [2]float32{1, float32(math.NaN())}, -3
		g.red.Set(id)
		g.tick = 1
		g.truth = append(g.truth, nil)
		g.capture()
		want := []int32{384, -576, 1<<24 - 1, 64, 256, 512, 768, -7, 5, math.MinInt32, 2, -2048, 1, -3, 5, math.MinInt32}
		if got := g.truth[1][slot].lanes; !slices.Equal(got, want) {
			t.Errorf("%v: lanes %v, want %v", plane, got, want)
		}
	}
}

// TestCaptureShares: a group that has not changed shares its buffer, also after births in other slots; a
// slot that was used again in between is another entity.
func TestCaptureShares(t *testing.T) {
	g := newRig(t, 1, everything())
	g.spawn(10)
	capture := func() []int {
		g.tick++
		g.truth = append(g.truth, nil)
		g.s.observe()
		g.capture()
		return slices.Clone(g.s.state(g.s.captures).buffers)
	}
	first := capture()
	if second := capture(); !slices.Equal(first, second) {
		t.Errorf("buffers %v after %v, though nothing has changed", second, first)
	}
	g.hp.Touch()
	if third := capture(); !slices.Equal(first, third) {
		t.Errorf("buffers %v after %v, though nothing has changed", third, first)
	}
	g.hp.Values()[3]++ // without Touch
	g.red.Set(g.ids[2])
	before := g.s.state(g.s.captures).buffers
	now := capture()
	for i, b := range now {
		changed := g.s.groups[i].Fields[0].Name == "hp" || g.s.groups[i].tags
		if (b != before[i]) != changed {
			t.Errorf("group %d %v: buffer %d after %d", i, g.s.groups[i].Fields[0].Name, b, before[i])
		}
	}
	slot, _ := g.w.Slot(g.ids[4])
	g.w.Despawn(g.ids[4])
	id, again, _ := g.w.SpawnSlot()
	if again != slot {
		t.Fatal("the slot is not used again")
	}
	capture()
	if p := &g.s.present; p.ids[slot] != id || p.changed[slot] != g.s.captures || p.changed[slot+1] == g.s.captures {
		t.Errorf("slot %d: %v, changed at %d of %d", slot, p.ids[slot], p.changed[slot], g.s.captures)
	}
	if g.truth[g.tick][slot].lanes[g.s.groups[0].lanes+3] != 0 {
		t.Error("the new entity has the hp of the old one")
	}
	for range 3 * g.s.ring {
		g.hp.Values()[3]++
		capture()
	}
	if err := g.s.begin(nil); err != nil {
		t.Fatal(err)
	}
	if g.s.capture(g.tick+1, 0) {
		t.Error("a capture between begin and end")
	}
	g.s.end()
}

// TestGrowth: the copy keeps its past when the world gets more entities than there was room for.
func TestGrowth(t *testing.T) {
	g := newRig(t, 3, Config{})
	g.join(1, true)
	g.spawn(20)
	for range 4 {
		g.step(true)
		g.send()
		g.spawn(200)
	}
	if g.seats[0].messages != 4 || g.seats[0].c.last.kind != kindUpdate || len(g.seats[0].c.state().list) < 600 {
		t.Errorf("%d frames, the last of kind %d with %d entities", g.seats[0].messages, g.seats[0].c.last.kind, len(g.seats[0].c.state().list))
	}
}

// TestRestoreEndsBases: after a tick that was there before, clients get Keyframes.
func TestRestoreEndsBases(t *testing.T) {
	g := newRig(t, 3, Config{})
	seat := g.join(1, true)
	g.spawn(20)
	for range 3 {
		g.step(true)
		g.send()
	}
	if seat.c.last.kind != kindUpdate {
		t.Fatal("no update")
	}
	g.tick = 1
	g.capture()
	g.send()
	if seat.c.last.kind != kindKeyframe {
		t.Error("a change of a state of the future")
	}
}
