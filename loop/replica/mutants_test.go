package replica_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each mutant is a server or client with one fault. TestModel finds every one of them.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("not run: it compiles each mutant")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("not run: the go command is not installed")
	}
	for _, m := range []struct{ name, file, old, new string }{
		{"a birth is forgotten, so that a slot is used again without a leave", "capture.go",
			"if id != p.ids[slot] {", "if (id == 0) != (p.ids[slot] == 0) {"},
		{"the base is one capture too old", "encode.go",
			"e.d = e.delta(e.base.capture)", "e.d = e.delta(max(e.base.capture, 2) - 1)"},
		{"floats are truncated", "../../native/quantise.go",
			"return int32(math.RoundToEven(float64(v)))", "return int32(v)"},
		{"a view has no hysteresis", "views.go",
			"> s.viewConfig.Enter*s.viewConfig.Enter &&", "> s.viewConfig.Leave*s.viewConfig.Leave &&"},
		{"a teleport is forgotten", "capture.go",
			"s.teleports[i] |= word", "s.teleports[i] = word"},
		{"a client predicts from another change than that of the last frame", "decode.go",
			"to[i] = sx(b, now[i]-was[d.from[i]])", "to[i] = sx(b, now[i]-was[d.from[i]]) &^ 1"},
		{"a client forgets that an owned entity has left", "decode.go",
			"d.from[place] < int32(was)", "d.from[place] < int32(was)-1"},
		{"a client changes the newest state instead of the base", "client.go",
			"if base = c.base(h.tick - h.age); base == nil {", "if base = newest; base == nil {"},
	} {
		t.Run(m.name, func(t *testing.T) {
			file, err := filepath.Abs(m.file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(text), m.old) != 1 {
				t.Fatalf("%s does not contain %q once: bring the mutant up to date", m.file, m.old)
			}
			mutant := filepath.Join(t.TempDir(), "mutant.go")
			overlay := filepath.Join(t.TempDir(), "overlay.json")
			list, err := json.Marshal(map[string]map[string]string{"Replace": {file: mutant}})
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string]string{mutant: strings.Replace(string(text), m.old, m.new, 1), overlay: string(list)} {
				if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("go", "test", "-short", "-count=1", "-vet=off", "-run", "^TestModel$", "-overlay", overlay, ".")
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			switch out, err := cmd.CombinedOutput(); {
			case err == nil:
				t.Error("the model test passes")
			case !strings.Contains(string(out), "--- FAIL: TestModel"):
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
