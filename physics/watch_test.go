package physics_test

import (
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
)

// A step that is watched computes the same, and every stage that several workers share has a name of its own.
func TestWatchedStep(t *testing.T) {
	defer func() { pace.Watched = nil }()
	for _, scene := range []string{"arena", "ragdolls"} {
		hashes := map[uint64]bool{}
		for _, c := range []struct {
			workers int
			watched bool
		}{{1, false}, {1, true}, {2, true}} {
			s, err := scenes.New(scene, map[string]int{"arena": 2200, "ragdolls": 300}[scene], 1, physics.Config{Workers: c.workers})
			if err != nil {
				t.Fatal(err)
			}
			if c.watched {
				pace.Watched = new(pace.Watch)
				pace.Watched.Start()
			}
			for range 12 {
				if err := s.Step(); err != nil {
					t.Fatal(err)
				}
			}
			hashes[s.World.Hash()] = true
			if !c.watched {
				continue
			}
			stages, _ := pace.Watched.Take()
			pace.Watched = nil
			names := map[string]bool{}
			for _, stage := range stages {
				names[stage.Name] = true
			}
			want := []string{"outOfRange", "updateCentres", "updateShapeBounds", "finalizeRows", "collectHits"}
			if c.workers == 1 {
				want = append(want, "fillBlocks", "loadStates", "prepareContacts", "integrateVelocities", "warmStartContacts", "solveContacts",
					"integratePositions", "relaxContacts", "storeContactImpulses", "storeStates")
			} else {
				want = append(want, "countRegions", "fillRegions", "loadRegions", "prepareRegions", "doRegionStep", "storeRegions")
			}
			if scene == "ragdolls" {
				want = append(want, "prepareJoints", "storeJointImpulses")
				if c.workers == 1 {
					want = append(want, "warmStartJoints", "solveJoints", "relaxJoints")
				}
			}
			for _, name := range want {
				if !names["physics."+name] {
					t.Errorf("%s, %d worker(s): no stage physics.%s", scene, c.workers, name)
				}
			}
			if names["physics.applyRestitution"] {
				t.Errorf("%s, %d worker(s): a stage of restitution, although no contact has any", scene, c.workers)
			}
			if !names["broad.searchPart"] {
				t.Errorf("%s, %d worker(s): no stage of the broad phase", scene, c.workers)
			}
			for _, general := range []string{"physics.runStage", "physics.runSpans", "physics.runParts"} {
				if names[general] {
					t.Errorf("%s: a stage is called %s", scene, general)
				}
			}
			if slices.ContainsFunc(stages, func(s pace.Stage) bool { return s.Calls == 0 || s.Chunks < s.Calls }) {
				t.Errorf("%s: %+v", scene, stages)
			}
		}
		if len(hashes) != 1 {
			t.Errorf("%s: %d results", scene, len(hashes))
		}
	}
}
