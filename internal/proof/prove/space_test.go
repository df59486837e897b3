package main

import (
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/proof"
	"github.com/evertick/evertick/native"
)

// The hall stays full of bodies that touch, stay in it, come and go; and has the same hashes on every level, with two workers and in
// another Sim every 17 ticks.
func TestHall(t *testing.T) {
	ticks, compared := 600, 300
	if testing.Short() {
		ticks, compared = 150, 40
	}
	var h *hall
	s, err := proof.New(proof.Config{Seed: 4, Extend: func(sim *evertick.Sim) (err error) {
		h, err = newHall(sim)
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	w := h.bodies.World()
	begun, ended, sensed, most := 0, 0, 0, 0
	for range ticks {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
		e := w.Events()
		begun, ended, sensed, most = begun+len(e.Begin), ended+len(e.End), sensed+len(e.SensorBegin), max(most, w.Len())
	}
	if begun < ticks/8 || ended < ticks/16 || sensed == 0 || most < 20 {
		t.Errorf("%d touches began, %d ended, %d in the sensor, at most %d bodies", begun, ended, sensed, most)
	}

	from, err := proof.Record(proof.Config{Seed: 4, Level: native.Go, Extend: addHall}, compared, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range native.Levels() {
		r, err := proof.Record(proof.Config{Seed: 4, Level: level, Workers: 2, Extend: addHall}, compared, 17)
		if err != nil {
			t.Fatal(err)
		}
		if tick, differ := proof.FirstDifference(from, r); differ {
			t.Errorf("level %v: differs after tick %d", level, tick)
		}
	}
}
