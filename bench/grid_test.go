package main

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
	var rep gridReport
	decode(t, mustRun(t, "-scene", "queries", "-n", "500,2000", "-q", "20", "-r", "1.5,3", "-quick", "-json", "-csv", file), &rep)
	if len(rep.Cells) != 4 {
		t.Fatalf("%+v", rep.Cells)
	}
	for i, want := range []struct {
		points int
		radius float64
	}{{500, 1.5}, {500, 3}, {2000, 1.5}, {2000, 3}} {
		c := rep.Cells[i]
		if c.Points != want.points || c.Queries != 20 || c.Radius != want.radius || c.QueryUs.Median <= 0 || c.BuildUs.Median <= 0 || c.VersusGo.Low > c.VersusGo.High {
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
	if n := strings.Count(text, "\n"); n != 7+len(gridQueries)*len(gridRadii) {
		t.Errorf("%d lines\n%s", n, text)
	}
}

func TestGridUsage(t *testing.T) {
	for _, args := range []string{"-n 0", "-n 5,0", "-n 99999999", "-q 0", "-q 4097", "-r 0", "-r 1,-1", "-r 1e9", "-n 2000000 -q 4096 -r 100", "-scale -q 1,2", "-scale -r 1,2", "-scale -r 0", "-scale -n 5"} {
		if err := run(strings.Fields("-scene queries "+args), io.Discard, io.Discard); !errors.Is(err, errUsage) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if (&gridCell{Queries: 5}).nsPerHit() != 0 {
		t.Error("no hits")
	}
}
