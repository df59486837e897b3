package inspector

import (
	"cmp"
	"encoding/json"
	flags "flag"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// hostileWorld is a world whose names contain what requests use as signs. Nothing but its own lists says what it holds.
type hostileWorld struct {
	in      *Inspector
	numbers []hostileNumber
	tags    map[string][]bool // by slot
}

type hostileNumber struct {
	column        string
	count, number int
	values        []float64 // by slot
}

const hostileRows = 10

// newHostileWorld adds columns, those that are listed as arrays with two numbers in each row, and tags.
func newHostileWorld(t *testing.T, scalars, arrays, tags []string) *hostileWorld {
	sim := newSim(t, evertick.Config{Capacity: 16}, hostileRows)
	h := &hostileWorld{tags: map[string][]bool{}}
	add := func(column string, count int, set func(slot, number int, v float64)) {
		for number := range count {
			n := hostileNumber{column: column, count: count, number: number}
			for slot := range hostileRows { // a permutation of its own
				v := float64((slot*[]int{1, 3, 7, 9}[len(h.numbers)%4] + len(h.numbers)/4) % hostileRows)
				n.values = append(n.values, v)
				set(slot, number, v)
			}
			h.numbers = append(h.numbers, n)
		}
	}
	for _, name := range scalars {
		c := must(ecs.AddColumn[int32](sim.World, name))
		add(name, 1, func(slot, _ int, v float64) { c.Values()[slot] = int32(v) })
	}
	for _, name := range arrays {
		c := must(ecs.AddArrayColumn[[2]float32](sim.World, name))
		add(name, 2, func(slot, number int, v float64) { c.Values()[slot][number] = float32(v) })
	}
	for i, name := range tags {
		tag := must(sim.World.Tag(name))
		for slot := range hostileRows {
			h.tags[name] = append(h.tags[name], (slot*(i+2)+i)%3 == 0)
			if id, _ := sim.World.ID(ecs.Slot(slot)); h.tags[name][slot] {
				tag.Set(id)
			}
		}
	}
	h.in = newInspector(t, sim, Config{})
	return h
}

var endsLikeIndex = regexp.MustCompile(`\[[0-9]+\]$`)

// name is how the page names a number: see componentsOf in its scripts.
func (n *hostileNumber) name() string {
	if n.count == 1 && !endsLikeIndex.MatchString(n.column) {
		return n.column
	}
	return fmt.Sprintf("%s[%d]", n.column, n.number)
}

func (h *hostileWorld) ask(t tb, q url.Values) rawPage {
	return decode[rawPage](t, get(t, h.in, "entities?"+q.Encode()))
}

func slotsIn(p rawPage) (slots []int) {
	for _, row := range p.Rows {
		slots = append(slots, int(row.Slot))
	}
	return slots
}

// slots returns the slots that satisfy a condition.
func slotsThat(holds func(slot int) bool) (slots []int) {
	for slot := range hostileRows {
		if holds(slot) {
			slots = append(slots, slot)
		}
	}
	return slots
}

// check reaches each number and each tag by its name in every request that takes one, and finds its own rows.
func (h *hostileWorld) check(t tb) {
	all := url.Values{}
	for i := range h.numbers {
		all.Add("columns", h.numbers[i].name())
	}
	p := h.ask(t, all)
	for i := range h.numbers {
		n := &h.numbers[i]
		for slot, v := range n.values {
			if got := string(p.Rows[slot].Values[i]); got != fmt.Sprint(v) {
				t.Fatalf("columns: %q of slot %d is %s, want %v", n.name(), slot, got, v)
			}
		}
		h.checkSort(t, n)
		h.checkWhere(t, n)
		if f := decodeFrame(t, get(t, h.in, "frame?"+url.Values{"by": {n.name()}}.Encode())); !slices.EqualFunc(f.f32["by"], n.values, func(a float32, b float64) bool { return float64(a) == b }) {
			t.Fatalf("frame by %q: %v, want %v", n.name(), f.f32["by"], n.values)
		}
	}
	for name, has := range h.tags {
		with, without := h.ask(t, url.Values{"tag": {name}}), h.ask(t, url.Values{"without": {name}})
		want := slotsThat(func(slot int) bool { return has[slot] })
		if !slices.Equal(slotsIn(with), want) || without.Total != hostileRows-len(want) {
			t.Fatalf("tag %q: %v, and %d without; want %v", name, slotsIn(with), without.Total, want)
		}
		f := decodeFrame(t, get(t, h.in, "frame?"+url.Values{"tag": {name}}.Encode()))
		if got := slotsThat(func(slot int) bool { return f.f32["by"][slot] == 1 }); !slices.Equal(got, want) {
			t.Fatalf("frame by the tag %q: %v, want %v", name, got, want)
		}
	}
}

func (h *hostileWorld) checkSort(t tb, n *hostileNumber) {
	for _, descending := range []string{"0", "1"} {
		p := h.ask(t, url.Values{"sort": {n.name()}, "descending": {descending}})
		want := slotsThat(func(int) bool { return true })
		slices.SortFunc(want, func(a, b int) int { return cmp.Compare(n.values[a], n.values[b]) })
		if descending == "1" {
			slices.Reverse(want)
		}
		if got := slotsIn(p); !slices.Equal(got, want) {
			t.Fatalf("sort by %q, descending %s: %v, want %v", n.name(), descending, got, want)
		}
	}
}

func (h *hostileWorld) checkWhere(t tb, n *hostileNumber) {
	index := ""
	if n.count > 1 {
		index = fmt.Sprintf("[%d]", n.number)
	}
	written := []string{strconv.Quote(n.column) + index, string(must(json.Marshal(n.column))) + index}
	if plain := n.name(); strings.Trim(plain, " ") == plain && plain[0] != '"' {
		written = append(written, plain)
	}
	want := slotsThat(func(slot int) bool { return n.values[slot] >= 5 })
	for _, name := range written {
		if got := slotsIn(h.ask(t, url.Values{"where": {name + " >= 5"}})); !slices.Equal(got, want) {
			t.Fatalf("where %s >= 5: %v, want %v", name, got, want)
		}
		if got := slotsIn(h.ask(t, url.Values{"where": {name + " is nan"}})); len(got) > 0 {
			t.Fatalf("where %s is nan: %v", name, got)
		}
	}
}

// Names that are made of what requests use as signs, beside their own parts, are reached in every request and select their own rows.
func TestHostileNamesOf(t *testing.T) {
	for _, c := range [][3][]string{
		{{"hp", "-hp", "hp,max", "max", "hp, max", ",", "-", "!", "!hp"}, nil, {"dead", "!dead", "dead,alive", "alive", "tag:dead", "-dead", ","}},
		{{"vel[1]", "vel[1][0]", "vel[01]", "vel[2]", "a[b", "[0]", "[", "]", "a[]"}, {"vel", "hp[0]", "hp", "vel[2][0]"}, {"vel"}},
		{{"slot", "-slot", "entity", "descending", "sort", "tag:red", "__proto__", "constructor"}, nil, {"slot", "red", "__proto__"}},
		{{"hp > 3", "rock and roll", "rock", "roll", "is nan", "x", "x is nan", "a<", "a=", "a", "!=", ">="}, nil, {"rock and roll"}},
		{{" hp", "hp ", "hp", " ", "\n", "\x00", "\u00a0hp", "\ufeffhp", "ü\u202eneg"}, nil, {" ", "\n", "\x00"}},
		{{`"`, `"hp"`, "hp", `\`, `"hp`, `a"b\n`, "`", "a&b=c", "a%2Cb", "100%", "+", "a;b", strings.Repeat("n", 255), strings.Repeat("é,", 85)}, {`"v"`, "v"}, {`"hp"`, "hp"}},
		{{"seed", "ticks", "state.x", "body.x"}, nil, nil},
	} {
		newHostileWorld(t, c[0], c[1], c[2]).check(t)
	}
	// Without a column of this name the order by "slot" is that of slots.
	if got := slotsIn(newHostileWorld(t, []string{"hp"}, nil, nil).ask(t, url.Values{"sort": {"slot"}, "descending": {"1"}})); got[0] != hostileRows-1 {
		t.Errorf("by slot: %v", got)
	}
}

// The same of drawn names: a fifth of the checks that are asked for, unless EVERTICK_LONG is set.
func TestHostileNames(t *testing.T) {
	piece := rapid.SampledFrom([]string{"hp", "vel", ",", "-", "!", "[0]", "[1]", "[", "]", " ", "\n", "\x00", " and ", `"`, `\`, " is nan", ">", "<=", "=", "3", "slot", "tag:", "é", "\u202e", "&", ";", "%"})
	name := rapid.Map(rapid.SliceOfN(piece, 1, 4), func(parts []string) string { return strings.Join(parts, "") })
	checks := flags.Lookup("rapid.checks").Value
	before := checks.String()
	defer checks.Set(before)
	_ = checks.Set(strconv.Itoa(some(must(strconv.Atoi(before)))))
	rapid.Check(t, func(rt *rapid.T) {
		columns := rapid.SliceOfNDistinct(name, 1, 5, rapid.ID[string]).Draw(rt, "columns")
		arrays := rapid.IntRange(0, len(columns)).Draw(rt, "arrays")
		tags := rapid.SliceOfNDistinct(name, 0, 3, rapid.ID[string]).Draw(rt, "tags")
		h := newHostileWorld(t, columns[arrays:], columns[:arrays], tags)
		h.check(rt)
		_ = h.in.Close()
	})
}

// The parts of a state that are no columns are listed as such, and with their own hashes, beside columns of the same names.
func TestPartsBesideColumnsOfTheirNames(t *testing.T) {
	plain := newZoo(t, seeded(t), 5).sim
	z := newZoo(t, seeded(t), 5)
	for _, name := range []string{"state.memo", "state.none", "body.X"} {
		must(ecs.AddColumn[int32](z.sim.World, name))
	}
	parts := func(sim *evertick.Sim) string { return fmt.Sprint(hashedParts(sim)) }
	for _, sim := range []*evertick.Sim{plain, z.sim} {
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	listed := func(sim *evertick.Sim) (names []string) {
		for _, c := range decode[worldAnswer](t, get(t, newInspector(t, sim, Config{}), "world")).Columns {
			if c.Owner == "state" {
				names = append(names, c.Name)
			}
		}
		return names
	}
	if got, want := fmt.Sprint(listed(z.sim)), fmt.Sprint(listed(plain)); got != want || want == "[]" {
		t.Errorf("states %s, want %s", got, want)
	}
	if got, want := len(hashedParts(z.sim)), len(hashedParts(plain)); got != want {
		t.Errorf("%d parts, want %d: %s", got, want, parts(z.sim))
	}
}
