package command

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRaysAgainstBox2D(t *testing.T) {
	out := mustRun(t, "-scene", "rays", "-n", "64", "-ticks", "4", "-warmup", "2", "-json", "-compare", "box2d")
	var rep struct {
		Facts struct {
			Hits, Rays, Differ int
			Compare            *comparison
		}
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil {
		t.Fatal(err)
	}
	if c := rep.Facts.Compare; c == nil || c.Name != engineBox2D || c.Median <= 0 || c.OursNs.P50 <= 0 || c.TheirsNs.P50 <= 0 {
		t.Errorf("compare: %+v", rep.Facts.Compare)
	}
	if rep.Facts.Hits == 0 || rep.Facts.Differ > rep.Facts.Rays/1000 {
		t.Errorf("%d hits, %d rays with another hit", rep.Facts.Hits, rep.Facts.Differ)
	}
	if text := mustRun(t, "-scene", "rays", "-n", "16", "-ticks", "2"); !strings.Contains(text, "rays hit one") {
		t.Error(text)
	}
}
