package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRaysAgainstBox2D(t *testing.T) {
	out := mustRun(t, "-scene", "rays", "-n", "64", "-ticks", "4", "-warmup", "2", "-json", "-compare", "box2d")
	var rep raysReport
	if err := json.Unmarshal([]byte(out), &rep); err != nil {
		t.Fatal(err)
	}
	if c := rep.Compare; c == nil || c.Name != compareBox2D || c.Ratio <= 0 || c.OursNs <= 0 || c.TheirsNs <= 0 {
		t.Errorf("compare: %+v", rep.Compare)
	}
	if rep.Hits == 0 || rep.Differ > rep.Rays/1000 {
		t.Errorf("%d hits, %d rays end elsewhere", rep.Hits, rep.Differ)
	}
	if text := mustRun(t, "-scene", "rays", "-n", "16", "-ticks", "2"); !strings.Contains(text, "rays meet one") {
		t.Error(text)
	}
}
