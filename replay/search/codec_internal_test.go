package search

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
)

// someInputs has the extremes of every field.
var someInputs = []replay.Applied{
	{At: 0, Input: evertick.Input{}},
	{At: 7, Input: evertick.Input{Tick: 3, Source: math.MaxUint32, Seq: math.MaxUint64, At: math.MaxUint64, Fraction: math.MaxUint32, Kind: math.MaxUint32, Data: []byte("x")}},
	{At: 7, Input: evertick.Input{Tick: 7, Data: make([]byte, 300)}},
	{At: math.MaxUint64, Input: evertick.Input{Tick: 1}},
}

// FuzzShared: data are refused with evertick.ErrCorrupt, or mean what they say: encoding the result gives an encoding of the same.
func FuzzShared(f *testing.F) {
	f.Add(appendShared(nil, "scenario", "failure", nil))
	f.Add(appendShared(nil, "", "", someInputs[:0]))
	f.Add(appendShared(nil, "s", "f", someInputs))
	f.Add([]byte{0, 0, 1, 5, 6})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseShared(data)
		if err != nil {
			if !errors.Is(err, fault.ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		again, err := parseShared(appendShared(nil, s.scenario, s.failure, s.inputs))
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%+v, %v; want %+v", again, err, s)
		}
	})
}

func TestShared(t *testing.T) {
	for _, inputs := range [][]replay.Applied{nil, {}, someInputs} {
		s, err := parseShared(appendShared(nil, "scenario", "failure", inputs))
		if err != nil || s.scenario != "scenario" || s.failure != "failure" || len(s.inputs) != len(inputs) || (s.inputs == nil) != (inputs == nil) {
			t.Errorf("%+v, %v", s, err)
		}
		for i := range inputs {
			want, got := inputs[i], s.inputs[i]
			if !bytes.Equal(want.Input.Data, got.Input.Data) {
				t.Errorf("input %d: %v", i, got)
			}
			want.Input.Data, got.Input.Data = nil, nil
			if !reflect.DeepEqual(want, got) {
				t.Errorf("input %d: %+v", i, got)
			}
		}
	}
}

// FuzzTrial: numbers of inputs that a job keeps are ascending and there, whatever the data.
func FuzzTrial(f *testing.F) {
	for _, keep := range [][]uint32{nil, {0}, {9}, {0, 1, 2, 5, 6, 9}, {1, 3, 5}} {
		job := appendTrial(nil, math.MaxUint64, replay.Trial{Keep: keep, Ticks: 70})
		seed, trial, err := parseTrial(job, 10)
		if err != nil || seed != math.MaxUint64 || trial.Ticks != 70 || !reflect.DeepEqual(trial.Keep, keep) {
			f.Errorf("%v: %d, %v, %v", keep, seed, trial, err)
		}
		f.Add(job)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		seed, trial, err := parseTrial(data, 10)
		if err != nil {
			if !errors.Is(err, fault.ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		for i, k := range trial.Keep {
			if k >= 10 || i > 0 && k <= trial.Keep[i-1] {
				t.Fatalf("keeps %v", trial.Keep)
			}
		}
		if s, again, err := parseTrial(appendTrial(nil, seed, trial), 10); err != nil || s != seed || !reflect.DeepEqual(again, trial) {
			t.Errorf("%+v, %v; want %+v", again, err, trial)
		}
	})
}

// FuzzResults: outcomes, sets and matches.
func FuzzResults(f *testing.F) {
	f.Add(appendOutcome(nil, replay.Outcome{Failed: true, Tick: 300, Hash: math.MaxUint64, Err: "why"}))
	f.Add(appendSets(nil, [][]float32{{1, 2}, {}, {3}}))
	f.Add(appendMatch(nil, Match{Seed: 1, World: 300, Worlds: 7, Players: []int{0, 2, 1}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := parseOutcome(data)
		if err == nil {
			if again, err := parseOutcome(appendOutcome(nil, out)); err != nil || again != out {
				t.Errorf("%+v, %v; want %+v", again, err, out)
			}
		}
		sets, err2 := parseSets(data)
		if err2 == nil {
			if again := appendSets(nil, sets); len(again) > len(data) {
				t.Errorf("%d sets take %d bytes", len(sets), len(again))
			}
		}
		m, err3 := parseMatch(data, 3)
		if err3 == nil {
			if again, err := parseMatch(appendMatch(nil, m), 3); err != nil || !reflect.DeepEqual(again, m) {
				t.Errorf("%+v, %v; want %+v", again, err, m)
			}
		}
		for _, err := range []error{err, err2, err3} {
			if err != nil && !errors.Is(err, fault.ErrCorrupt) {
				t.Error(err)
			}
		}
	})
}
