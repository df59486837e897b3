package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/evertick/evertick/ecs"
)

// One bit in the row of an agent changes the hash, none in the row of a body
// does.
func TestBodilessHash(t *testing.T) {
	s := newTestScene(t, "capstone", 1)
	w := s.sim.World
	before := s.bodilessHash()
	bodySlot, _ := w.Slot(s.bodyIDs[3])
	for name, column := range map[string][]float32{
		"position.x": w.Position.X, "position.y": w.Position.Y, "position.z": w.Position.Z,
		"rotation.x": w.Rotation.X, "rotation.y": w.Rotation.Y, "rotation.z": w.Rotation.Z, "rotation.w": w.Rotation.W,
		"scale.x": w.Scale.X, "scale.y": w.Scale.Y, "scale.z": w.Scale.Z,
		"velocity.x": s.velX, "velocity.z": s.velZ,
	} {
		for slot, changes := range map[ecs.Slot]bool{s.agentAt[5]: true, bodySlot: false} {
			old := column[slot]
			column[slot]++
			if got := s.bodilessHash() != before; got != changes {
				t.Errorf("%s[%d]: the hash changes: %t, want %t", name, slot, got, changes)
			}
			column[slot] = old
		}
	}
}

func TestHashesAreReadAsWritten(t *testing.T) {
	s := newTestScene(t, "limina", 1)
	var file bytes.Buffer
	var want []tickHashes
	for range 3 {
		advance(t, s, 1)
		want = append(want, s.columnHashes())
		if err := s.columnHashes().write(&file); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readHashes(&file)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, %v, want %v", got, err, want)
	}
	if _, err := readHashes(strings.NewReader("1 00ff seed\n1 zz tick\n")); err == nil || !strings.Contains(err.Error(), "1 zz tick") {
		t.Errorf("a line that is none: %v", err)
	}
}
