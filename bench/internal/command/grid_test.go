package command

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// Every combination is timed, and hits grow with the radius.
func TestGrid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "grid.csv")
	var rep struct {
		Figures []struct {
			Points, Queries int
			Radius          float64 `json:"radius_m"`
			Hits            float64 `json:"hits_per_query"`
			Build           float64 `json:"build_us"`
			Query           float64 `json:"query_us"`
			NsPerHit        float64 `json:"ns_per_hit"`
			VersusGo        float64 `json:"times_as_fast_as_go"`
			Low, High       float64
		}
	}
	decode(t, mustRun(t, "-scene", "queries", "-n", "500,2000", "-q", "20", "-r", "1.5,3", "-quick", "-json", "-csv", file), &rep)
	if len(rep.Figures) != 4 {
		t.Fatalf("%+v", rep.Figures)
	}
	for i, want := range []struct {
		points int
		radius float64
	}{{500, 1.5}, {500, 3}, {2000, 1.5}, {2000, 3}} {
		c := rep.Figures[i]
		if c.Points != want.points || c.Queries != 20 || c.Radius != want.radius || c.Query <= 0 || c.Build <= 0 || c.NsPerHit <= 0 || c.Low > c.VersusGo || c.VersusGo > c.High {
			t.Errorf("%+v", c)
		}
		if sphere := 4.19 * want.radius * want.radius * want.radius; c.Hits > 1.5*sphere || c.Hits < sphere/4 {
			t.Errorf("%.1f hits, %.1f points in the sphere", c.Hits, sphere)
		}
	}
	if lines := strings.Split(strings.TrimSpace(readFile(t, file)), "\n"); len(lines) != 5 {
		t.Errorf("%q", lines)
	}
	text := mustRun(t, "-scene", "queries", "-n", "300", "-quick")
	if n := strings.Count(text, "\n"); n != 8+len(gridQueries)*len(gridRadii) {
		t.Errorf("%d lines\n%s", n, text)
	}
}

func TestGridUsage(t *testing.T) {
	for _, args := range []string{"-n 0", "-n 5,0", "-n 99999999", "-q 0", "-q 4097", "-r 0", "-r 1,-1", "-r 1e9", "-n 2000000 -q 4096 -r 100", "-scale -q 1,2", "-scale -r 1,2", "-scale -r 0", "-scale -n 5"} {
		if err := Run(strings.Fields("-scene queries "+args), io.Discard, io.Discard); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
