package gate

import "testing"

// Mutants of package replica that its model test must notice: clients get another state than that of the Sim.
var replicaMutants = []struct {
	name    string
	changes []change
	want    string // in what the test says; empty: that it passes
}{
	{"none", nil, ""},
	{"forgotten birth", []change{
		{"replica/stays.go", "f.list = append(f.list, enters[0]|netcode.Young)", "f.list = append(f.list, enters[0])"},
		{"replica/stays.go", "f.list = append(f.list, slot|netcode.Young)", "f.list = append(f.list, slot)"},
		{"replica/delta.go", "slot |= netcode.Young", "_ = netcode.Young"},
	}, `has lanes .*, want`},
	{"base off by one", []change{{"replica/encode.go", "e.f.tick-e.base.tick)", "e.f.tick-e.base.tick+1)"}}, `refuses a frame|has lanes .*, want`},
	{"truncating quantiser", []change{{"internal/netcode/quantise.go", "return int32(math.RoundToEven(float64(v)))", "return int32(v)"}}, `has lanes .*, want`},
	{"no hysteresis", []change{{"replica/views.go", "> s.viewConfig.Enter*s.viewConfig.Enter &&", "> s.viewConfig.Leave*s.viewConfig.Leave &&"}}, failsModel},
	{"slots used again without a leave", []change{{"replica/capture.go", "; id != was {", "; (id == 0) != (was == 0) {"}}, failsModel},
	{"forgotten teleport", []change{{"replica/capture.go", "s.teleports[i] |= word", "s.teleports[i] = word"}}, failsModel},
	{"velocity of another change", []change{{"replica/decode.go", "to[i] = sx(b, now[i]-was[d.from[i]])", "to[i] = sx(b, now[i]-was[d.from[i]]) &^ 1"}}, failsModel},
	{"owned entity that left", []change{{"replica/decode.go", "d.from[place] < int32(was)", "d.from[place] < int32(was)-1"}}, failsModel},
	{"newest state instead of the base", []change{{"replica/client.go", "if base = c.base(h.tick - h.age); base == nil {", "if base = newest; base == nil {"}}, failsModel},
}

const failsModel = "--- FAIL: TestModel"

func TestReplicaTeeth(t *testing.T) {
	needGate(t)
	if testing.Short() {
		t.Skip("each compiles a large test again: -short")
	}
	for _, m := range replicaMutants {
		t.Run(m.name, func(t *testing.T) {
			out, err := run(repo(t), []string{"CGO_ENABLED=0", "EVERTICK_SEED=7"}, "go", "test", "-vet=off", "-short", "-run", "^TestModel$", "-overlay", overlay(t, m.changes), "./replica")
			switch {
			case m.want == "" && err != nil:
				t.Error(err)
			case m.want != "" && (err == nil || !re(m.want).MatchString(out)):
				t.Errorf("the model test let a mutant through:\n%s", tail(out))
			}
		})
	}
}
