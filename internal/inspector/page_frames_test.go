package inspector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
)

// readFrames reads frames as the page does, and writes what it would draw of each.
const readFrames = `
const { readFileSync } = require("node:fs");
const script = ["frame.js", "view.js"].map(name => readFileSync("../page/inspect/" + name, "utf8")).join("\n");
const { readFrame, slotsOf } = new Function('"use strict";' + script + "\nreturn {readFrame, slotsOf};")();
let slots = new Uint32Array(0);
const drawn = JSON.parse(readFileSync(0, "utf8")).map(text => {
	const bytes = Buffer.from(text, "base64"), frame = readFrame(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
	slots = slotsOf(frame, slots);
	return {slots: [...slots], circles: frame.sections.circle_colours?.length ?? 0, x: frame.sections.x?.length ?? 0};
});
console.log(JSON.stringify(drawn));`

// The page reads each frame of a world whose entities come and go, until none is left, and of one that never had any: it draws
// those that live, and no others.
func TestThePageReadsFramesUntilNobodyLives(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("not run: node is not installed")
	}
	r := seeded(t)
	var frames [][]byte
	var want [][]uint32
	for _, n := range []int{0, 12} {
		sim := newSim(t, evertick.Config{Capacity: 16}, n)
		for id := range sim.World.IDs() {
			body := must(sim.CreateBody(id, physics.DefaultBodyDef()))
			must(sim.Physics.CreateCircle(body, physics.DefaultShapeDef(), physics.Circle{Radius: 1}))
		}
		in := newInspector(t, sim, Config{})
		seq, have := uint64(0), uint64(0)
		for {
			if err := sim.Step(); err != nil {
				t.Fatal(err)
			}
			a := get(t, in, fmt.Sprintf("frame?after=%d&have=%d&by=position.x&contacts=1", seq, have))
			f := decodeFrame(t, a)
			seq, have = f.Seq, f.SlotsVersion
			frames, want = append(frames, a.Body), append(want, sim.World.LiveSlots([]uint32{}))
			if sim.World.Len() == 0 {
				break
			}
			for range r.IntN(5) { // none is a frame without slots
				if live := sim.World.LiveSlots(nil); len(live) > 0 {
					id, _ := sim.World.ID(live[r.IntN(len(live))])
					sim.World.Despawn(id)
				}
			}
		}
	}
	script := exec.Command(node, "-e", readFrames)
	script.Stdin = bytes.NewReader(must(json.Marshal(frames)))
	var drawn []struct {
		Slots      []uint32
		Circles, X int
	}
	out, err := script.CombinedOutput()
	if err == nil {
		err = json.Unmarshal(out, &drawn)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, d := range drawn {
		if !slices.Equal(d.Slots, want[i]) || d.Circles != len(want[i]) || d.X != len(want[i]) {
			t.Errorf("frame %d is drawn as %+v, want %v", i, d, want[i])
		}
	}
}
