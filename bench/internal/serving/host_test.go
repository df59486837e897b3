package serving

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestHost(t *testing.T) {
	t.Parallel() // it waits for ticks
	var got struct {
		Facts   map[string]any
		Figures []struct {
			Name string `json:"name"`
			P50  int64  `json:"p50_ns"`
			P95  int64  `json:"p95_ns"`
		}
	}
	out := mustRun(t, "-scene", "host", "-n", "2", "-hz", "10", "-ticks", "12", "-warmup", "2", "-workers", "2", "-json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	number := func(name string) float64 {
		v, ok := got.Facts[name].(float64)
		if !ok {
			t.Errorf("%s = %v", name, got.Facts[name])
		}
		return v
	}
	worlds := number("worlds")
	if full := got.Facts["full"] == true; full == (worlds == 2) || number("budget_cores") != 1.6 {
		t.Errorf("%v worlds, full: %t, budget %v", worlds, full, number("budget_cores"))
	}
	ran := number("ticks") > 0 // none on a machine that stood still for a second
	if ran && (number("admitted_cores") <= 0 || number("busy_cores") <= 0) {
		t.Errorf("%v", got.Facts)
	}
	if number("late_ticks") < number("dropped_ticks") {
		t.Errorf("%v ticks dropped, %v late", number("dropped_ticks"), number("late_ticks"))
	}
	for i, name := range []string{"tick", "late by"} {
		if f := got.Figures[i]; f.Name != name || f.P50 > f.P95 || ran && i == 0 && f.P50 <= 0 {
			t.Errorf("%+v", f)
		}
	}
	text := mustRun(t, "-scene", "host", "-n", "1", "-hz", "20", "-ticks", "4")
	for _, part := range []string{"capstones at 20 Hz on 1 worker(s)", "admitted", "late by", "p95"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
