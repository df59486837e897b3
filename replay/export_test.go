package replay_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/evertick/evertick/replay"
)

// What is exported is what happened.
func TestExport(t *testing.T) {
	dir, hashes := recorded(t, scenario(nil), 40, replay.Options{SnapshotTicks: 10})
	var table, trace bytes.Buffer
	if err := replay.ExportCSV(&table, dir, nil); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at, inputs := 0, 0
	for _, row := range rows[1:] {
		if row[1] == "input" {
			in, ok := inputOf(uint64(at))
			if want := fmt.Sprintf("%d %d %d %x %d %d", in.Source, in.Seq, in.Kind, in.Data, in.At, in.Fraction); !ok || fmt.Sprint(row[5], " ", row[6], " ", row[7], " ", row[9], " ", row[10], " ", row[11]) != want {
				t.Errorf("tick %d: input %v, want %s", at, row, want)
			}
			inputs++
			continue
		}
		if row[0] != fmt.Sprint(at) || row[2] != fmt.Sprintf("%016x", hashes[at]) {
			t.Errorf("tick %d: %v, want hash %016x", at, row, hashes[at])
		}
		at++
	}
	if at != 40 || inputs == 0 {
		t.Errorf("%d ticks, %d inputs", at, inputs)
	}

	if err := replay.ExportTrace(&trace, dir, nil); err != nil {
		t.Fatal(err)
	}
	var events []struct {
		Name, Ph string
		Ts, Dur  float64
		Tid      int
		Args     map[string]any
	}
	if err := json.Unmarshal(trace.Bytes(), &events); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range events {
		count[fmt.Sprint(e.Ph, e.Tid)]++
		if e.Ph == "X" && e.Name == "tick 6" && (e.Ts < 99999 || e.Ts > 100001 || e.Args["hash"] != fmt.Sprintf("%016x", hashes[6])) {
			t.Errorf("%+v", e)
		}
	}
	if count["X1"] != 40 || count["C1"] != 40 || count["i2"] != inputs || count["M1"] != 1 || count["i3"] == 0 {
		t.Errorf("events: %v", count)
	}
}

// Inputs are those that were pushed, each in its tick, and a reader may stop at any of them.
func TestInputs(t *testing.T) {
	dir, _ := recorded(t, scenario(nil), 40, replay.Options{})
	tick, n := uint64(0), 0
	for got, err := range replay.Inputs(dir, nil) {
		if err != nil {
			t.Fatal(err)
		}
		want, ok := inputOf(tick)
		for ; !ok; want, ok = inputOf(tick) {
			tick++
		}
		if fmt.Sprint(got.Input) != fmt.Sprint(want) || got.At != tick {
			t.Fatalf("%+v, want %+v", got, want)
		}
		tick++
		n++
	}
	if n < 10 {
		t.Errorf("%d inputs", n)
	}
	for range replay.Inputs(dir, nil) {
		break
	}
	failed := false
	for _, err := range replay.Inputs(t.TempDir(), nil) {
		failed = err != nil
	}
	if !failed {
		t.Error("no error of a log that is not there")
	}
}
