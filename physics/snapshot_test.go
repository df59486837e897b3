package physics_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

func snapshot(t testing.TB, w *physics.World) []byte {
	t.Helper()
	return must[[]byte](t)(w.Snapshot(nil))
}

func restore(t testing.TB, w *physics.World, data []byte) {
	t.Helper()
	if err := w.Restore(data); err != nil {
		t.Fatal(err)
	}
}

// From each tick on, a restored world, a clone and a copy continue like the
// original; so does a world that had another state before Restore.
func TestRestoredWorldGoesOnAsTheOriginal(t *testing.T) {
	const ticks = 40
	c := physics.Config{Capacity: 200}
	w := newCrowd(t, c, 60, 7)
	w.run(60)
	reused := newCrowd(t, physics.Config{Capacity: 300, Level: native.Go}, 90, 8)
	reused.run(20)
	copied := newCrowd(t, physics.Config{Capacity: 111}, 5, 9)
	type moment struct {
		*crowd
		snap []byte
	}
	var moments []moment
	for range ticks {
		w.stir() // destroyed shapes and forces wait for the step
		moments = append(moments, moment{w.clone(), snapshot(t, w.World)})
		if err := w.Step(1. / 60); err != nil {
			t.Fatal(err)
		}
	}
	for k, m := range moments {
		goOn := func(name string, other *physics.World) {
			t.Helper()
			rng := *m.rng
			c := &crowd{World: other, t: t, rng: &rng, n: w.n}
			what := fmt.Sprintf("%s of tick %d", name, k)
			sameState(t, what, m.World, other)
			if err := c.Step(1. / 60); err != nil {
				t.Fatal(err)
			}
			c.run(ticks - 1 - k)
			sameState(t, what+", at the end", w.World, other)
			if k == ticks-1 && !sameEvents(w.Events(), other.Events()) {
				t.Fatalf("%s: other events", what)
			}
		}
		fresh := newWorld(t, c)
		restore(t, fresh, m.snap)
		if again := snapshot(t, fresh); !slices.Equal(again, m.snap) {
			t.Fatalf("tick %d: the snapshot of a restored world differs", k)
		}
		goOn("Restore", fresh)
		restore(t, reused.World, m.snap)
		goOn("Restore into a world in use", reused.World)
		if err := copied.CopyFrom(m.World); err != nil {
			t.Fatal(err)
		}
		goOn("CopyFrom", copied.World)
		goOn("Clone", m.clone().World)
	}
}

// PrepareCopy and Commit are CopyFrom with the events of the last step.
func TestPrepareCopy(t *testing.T) {
	w, other := newCrowd(t, physics.Config{Capacity: 120}, 40, 7), newCrowd(t, physics.Config{Capacity: 111}, 5, 9)
	seen := 0
	for tick := range 60 {
		w.run(1)
		other.run(1)
		before := other.Hash()
		if err := other.PrepareCopy(w.World); err != nil || other.Hash() != before {
			t.Fatalf("%v, or a change", err)
		}
		if tick%5 == 0 {
			other.Discard()
			continue
		}
		other.Commit()
		sameState(t, "a copy", w.World, other.World)
		if !sameEvents(w.Events(), other.Events()) || !bytes.Equal(w.AppendEvents(nil), other.AppendEvents(nil)) {
			t.Fatalf("tick %d: other events", tick)
		}
		seen += len(w.Events().Begin)
		if err := other.CopyFrom(w.World); err != nil || len(other.Events().Begin)+len(other.Events().Moved) > 0 {
			t.Fatalf("%v, or events after CopyFrom", err)
		}
	}
	if seen == 0 {
		t.Error("there was no event")
	}
	for want, f := range map[string]func(){
		"physics: Commit without Prepare":            other.Commit,
		"physics: PrepareCopy from the world itself": func() { _ = other.PrepareCopy(other.World) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %s", got, want)
				}
			}()
			f()
		}()
	}
}

func sameEvents(a, b *physics.Events) bool {
	return slices.Equal(a.Begin, b.Begin) && slices.Equal(a.End, b.End) && slices.Equal(a.Hit, b.Hit) &&
		slices.Equal(a.SensorBegin, b.SensorBegin) && slices.Equal(a.SensorEnd, b.SensorEnd) &&
		slices.Equal(a.Moved, b.Moved) && slices.Equal(a.Disabled, b.Disabled) && slices.Equal(a.Broken, b.Broken) &&
		slices.Equal(a.JointLoads, b.JointLoads)
}

// After a Restore the handles of the snapshot are valid, and new handles equal those of the
// original.
func TestRestoreKeepsHandles(t *testing.T) {
	w := newCrowd(t, physics.Config{Capacity: 100}, 30, 3)
	w.run(50)
	old, _ := w.BodyAt(5)
	snap := snapshot(t, w.World)
	if err := w.DestroyBody(old); err != nil {
		t.Fatal(err)
	}
	w.run(10)
	restore(t, w.World, snap)
	other := newWorld(t, physics.Config{Capacity: 100})
	restore(t, other, snap)
	if !w.Valid(old) || !other.Valid(old) {
		t.Error("a handle of the snapshot is stale")
	}
	for range 20 {
		a := body(t, w.World, physics.DynamicBody, 0, 0)
		b := body(t, other, physics.DynamicBody, 0, 0)
		if sa, sb := box(t, w.World, a, 1, 1), box(t, other, b, 1, 1); a != b || sa != sb {
			t.Fatalf("bodies %v and %v, shapes %v and %v", a, b, sa, sb)
		}
	}
}

func TestSnapshotSize(t *testing.T) {
	w := newCrowd(t, physics.Config{Capacity: 1200}, 1000, 5)
	for range max(20, paritytest.Rounds(100)) {
		if err := w.Step(1. / 60); err != nil {
			t.Fatal(err)
		}
	}
	list := frametest.Split(snapshot(t, w.World))
	bodies, contacts := len(list[1])/w.Rows(), len(list[4])
	t.Logf("%d bodies with %d shapes: %d bytes a body, %d of shapes and vertices, %d of contacts of 44",
		w.Rows(), w.ShapeCount(), bodies, len(list[2])+len(list[3]), contacts)
	if bodies > 100 || contacts%44 != 0 || contacts == 0 {
		t.Errorf("%d bytes a body, %d of contacts", bodies, contacts)
	}
}

func TestSnapshotAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	w := newCrowd(t, physics.Config{Capacity: 200}, 100, 5)
	w.run(30)
	buf := snapshot(t, w.World)
	c := must[*physics.World](t)(w.Clone())
	if n := testing.AllocsPerRun(20, func() {
		buf, _ = w.Snapshot(buf[:0])
		if err := c.CopyFrom(w.World); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// Every corruption of a snapshot gives a typed error, and leaves the world unchanged.
func TestRestoreRefusesWhatIsSpoiled(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	w := newCrowd(t, physics.Config{Capacity: 50}, 20, 5)
	w.run(30)
	good := snapshot(t, w.World)
	into := newCrowd(t, physics.Config{Capacity: 50}, 20, 6)
	into.run(5)
	hash := into.Hash()
	refused := func(what string, data []byte, is error) {
		t.Helper()
		if err := into.Restore(data); !errors.Is(err, is) || !strings.HasPrefix(err.Error(), "physics: snapshot") {
			t.Fatalf("%s: got %v, want %v", what, err, is)
		}
		if into.Hash() != hash {
			t.Fatalf("%s: a refused snapshot changed the world", what)
		}
	}
	for n := range len(good) {
		refused(fmt.Sprintf("%d bytes", n), good[:n], physics.ErrCorrupt)
	}
	for i := range good {
		data := slices.Clone(good)
		data[i] ^= 1 << (i % 8)
		is := physics.ErrCorrupt
		if i >= 8 && i < 12 {
			is = physics.ErrUnsupported
		}
		refused(fmt.Sprintf("byte %d", i), data, is)
	}
	refused("a byte more", append(slices.Clone(good), 0), physics.ErrCorrupt)

	small := newWorld(t, physics.Config{Capacity: 10})
	if err := small.Restore(good); !errors.Is(err, physics.ErrCapacity) || small.Rows() != 0 {
		t.Errorf("into a small world: %v", err)
	}
	if err := small.CopyFrom(w.World); !errors.Is(err, physics.ErrCapacity) || small.Rows() != 0 {
		t.Errorf("copy to a small world: %v", err)
	}
	for name, c := range map[string]physics.Config{
		"Plane": {Plane: physics.XZ}, "SubSteps": {SubSteps: 3}, "ContactHertz": {ContactHertz: 20},
		"ContactDamping": {ContactDamping: 1}, "PushSpeed": {PushSpeed: 1}, "RestitutionThreshold": {RestitutionThreshold: 2},
		"MaxSpeed": {MaxSpeed: 5}, "FrictionMix": {FrictionMix: physics.MixMin}, "RestitutionMix": {RestitutionMix: physics.MixMin},
		"JointHertz": {JointHertz: 30}, "JointDamping": {JointDamping: 2},
	} {
		other := newWorld(t, c)
		for call, err := range map[string]error{"Restore": other.Restore(good), "CopyFrom": other.CopyFrom(w.World)} {
			if !errors.Is(err, physics.ErrUnsupported) || !strings.Contains(err.Error(), "Config."+name) {
				t.Errorf("%s with another %s: %v", call, name, err)
			}
		}
	}
}

// Corrupt content is detected even with correct checksums.
func TestRestoreRefusesForgeries(t *testing.T) {
	w := newCrowd(t, physics.Config{Capacity: 50}, 20, 5)
	w.run(30)
	var ends [2]physics.Body // of the first joint
	for i := range 2 {
		ends[i], _ = w.BodyAt(4 + i)
	}
	if j, ok := w.JointAt(0); ok {
		if err := w.DestroyJoint(j); err != nil {
			t.Fatal(err)
		}
	}
	must[physics.Joint](t)(jointMakers[0].create(w.World, common(ends[0], ends[1])))
	good := snapshot(t, w.World)
	into := newWorld(t, physics.Config{Capacity: 50})
	rows, rules := w.Rows(), len(frametest.Split(good)[0])-36
	shapes := int(binary.LittleEndian.Uint32(frametest.Split(good)[0][rules+8+4:])) // rows of 53 bytes, and 4 for each one seen
	n, first := int(binary.LittleEndian.Uint32(frametest.Split(good)[5])), ends[1].Index()
	at := func(frame, offset int, to ...byte) func([][]byte) {
		return func(list [][]byte) { copy(list[frame][offset:], to) }
	}
	nan := []byte{0, 0, 0xc0, 0x7f}
	for name, c := range map[string]struct {
		forge func([][]byte)
		words string
	}{
		"a frame missing":        {func(l [][]byte) { l[4] = nil }, "length of the contacts"},
		"gravity":                {at(0, rules, nan...), "gravity"},
		"huge gravity":           {at(0, rules+4, 0, 0, 0, 0x5f), "gravity"}, // 2^63
		"more shapes":            {at(0, rules+8+4, 0xff, 0xff, 0xff, 0xff), "shapes"},
		"more seen than shapes":  {at(0, rules+8+8, 0xff, 0xff, 0, 0), "seen"},
		"flags":                  {at(1, 97*rows, 1<<4), "flags of body[0]"},
		"type":                   {at(1, 96*rows+2, 3), "type of body[2]"},
		"generation":             {at(1, 92*rows, 0, 0, 0, 0), "generation of body[0]"},
		"dead body with shapes":  {at(1, 97*rows, 0), "body of shape"},
		"body that is not there": {at(2, 4*shapes, 0xee, 0xee, 0, 0), "body of shape[0]"},
		"shape generation":       {at(2, 0, 0, 0, 0, 0), "generation of shape[0]"},
		"vertices of a shape":    {at(2, 8*shapes, 9), "kind of shape[0]"},
		"one vertex less":        {at(2, 8*shapes, 1), "vertices"},
		"radius":                 {at(2, 9*shapes, nan...), "shape[0]"},
		"friction":               {at(2, 17*shapes, nan...), "shape[0]"},
		"a vertex":               {at(3, 0, nan...), "shape[0]"},
		"two vertices in one":    {func(l [][]byte) { copy(l[3][8:16], l[3][:8]) }, "shape[0]"},
		"contact out of order":   {func(l [][]byte) { copy(l[4][44:88], l[4][:44]) }, "shapes of contact[1]"},
		"contact with itself":    {func(l [][]byte) { copy(l[4][:4], l[4][4:8]) }, "shapes of contact[0]"},
		"points":                 {at(4, 8, 3), "points and flags of contact[0]"},
		"contact flags":          {at(4, 12, 1), "points and flags of contact[0]"},
		"impulse":                {at(4, 20, nan...), "impulse of contact[0]"},

		"joints missing":             {func(l [][]byte) { l[5] = nil }, "length of the joints"},
		"more joints":                {at(5, 0, 0xff, 0xff, 0xff, 0), "joints"},
		"many more joints":           {at(5, 0, 0xff, 0xff, 0xff, 0xff), "joints"},
		"one joint less":             {func(l [][]byte) { l[5][0]-- }, "joints"},
		"rate":                       {at(5, 4, nan...), "rate"},
		"negative rate":              {at(5, 4, 0, 0, 0, 0xc0), "rate"},
		"generation of a joint":      {at(5, jointColumn(0, n), 0, 0, 0, 0), "generation of joint[0]"},
		"bodies of a joint":          {at(5, jointColumn(4, n), 0xee), "bodies of joint[0]"},
		"one body of a joint":        {at(5, jointColumn(4, n), 0xff, 0xff, 0xff, 0xff), "bodies of joint[0]"},
		"joint with itself":          {func(l [][]byte) { copy(l[5][jointColumn(4, n):][:4], l[5][jointColumn(4, n)+4:]) }, "bodies of joint[0]"},
		"joint of a dead body":       {func(l [][]byte) { l[1][97*rows+first] &^= 1 << 7 }, "body"},
		"no kind":                    {at(5, jointColumn(12, n), 0), "joint[0]"},
		"kind":                       {at(5, jointColumn(12, n), 9), "joint[0]"},
		"large kind":                 {at(5, jointColumn(12, n), 1, 1), "joint[0]"},
		"flags of a joint":           {at(5, jointColumn(12, n)+4, 16), "joint[0]"},
		"frame":                      {at(5, jointColumn(12, n)+8, nan...), "joint[0]"},
		"angle of a frame":           {at(5, jointColumn(12, n)+28, 0, 0, 0, 0x4f), "joint[0]"}, // 2^31
		"break force":                {at(5, jointColumn(12, n)+32, 0, 0, 0x80, 0xbf), "joint[0]"},
		"a number":                   {at(5, jointColumn(12, n)+40, nan...), "joint[0]"},
		"hertz":                      {at(5, jointColumn(12, n)+44, 0, 0, 0x80, 0xbf), "joint[0]"},
		"limits":                     {at(5, jointColumn(12, n)+56, 0, 0, 0x80, 0x47), "joint[0]"}, // MinLength 65536
		"a number that is not there": {at(5, jointColumn(12, n)+80, 1), "joint[0]"},
		"threshold of a joint":       {at(5, jointColumn(12, n)+84, 0, 0, 0x80, 0xbf), "joint[0]"},
		"range of a spring":          {at(5, jointColumn(12, n)+72, 0, 0, 0xc8, 0x42), "joint[0]"}, // from 100, to 70
		"other threshold":            {at(5, jointColumn(12, n)+88, nan...), "joint[0]"},
		"hertz of a constraint":      {at(5, jointColumn(12, n)+92, 0, 0, 0x80, 0xbf), "joint[0]"},
		"damping of a constraint":    {at(5, jointColumn(12, n)+96, 0, 0, 0, 0x4f), "joint[0]"},
		"impulse of a joint":         {at(5, jointColumn(112, n)+36, nan...), "impulse of joint[0]"},
		"more that is noted":         {at(11, 0, 9), "length of the sleep"},
		"time at rest":               {at(11, 8, nan...), "time at rest of body[0]"},
		"sleep threshold":            {at(11, 8+4*rows, nan...), "sleep threshold of body[0]"},
	} {
		list := frametest.Split(good)
		c.forge(list)
		refuses(t, into, list, name, c.words)
	}
}

// refuses checks that a world does not restore a snapshot of some frames, and stays as it is.
func refuses(t *testing.T, w *physics.World, frames [][]byte, name, words string) {
	t.Helper()
	hash := w.Hash()
	err := w.Restore(frametest.Forge("evtk.rig", 3, frames))
	if !errors.Is(err, physics.ErrCorrupt) || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: got %v, want %q", name, err, words)
	}
	if w.Hash() != hash {
		t.Fatalf("%s: a refused snapshot changed the world", name)
	}
}

// jointColumn returns the offset of a column of n joints after columns of so many bytes per joint.
func jointColumn(offset, n int) int { return 8 + offset*n }

// tryRestore checks that a snapshot is refused without effect, or that the restored world can be stepped and
// destroyed, and has one encoding.
func tryRestore(t *testing.T, data []byte) (accepted bool) {
	w := newCrowd(t, physics.Config{Capacity: 20}, 4, 2)
	hash := w.Hash()
	if err := w.Restore(data); err != nil {
		if w.Hash() != hash {
			t.Fatal("a refused snapshot changed the world")
		}
		if !frametest.Documented(err) {
			t.Fatalf("an error that Restore does not promise: %v", err)
		}
		return false
	}
	snap := snapshot(t, w.World)
	other := newWorld(t, physics.Config{Capacity: 20})
	restore(t, other, snap)
	sameState(t, "restored twice", w.World, other)
	steps(t, w.World, 3)
	steps(t, other, 3)
	sameState(t, "stepped", w.World, other)
	for i := range w.Rows() {
		if b, ok := w.BodyAt(i); ok {
			if err := w.DestroyBody(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if w.Len() != 0 || w.ShapeCount() != 0 {
		t.Fatalf("%d bodies, %d shapes are left", w.Len(), w.ShapeCount())
	}
	return true
}

func FuzzRestore(f *testing.F) {
	w := newCrowd(f, physics.Config{Capacity: 20}, 8, 5)
	w.run(20)
	f.Add(snapshot(f, w.World))
	f.Add(snapshot(f, grounded(f, physics.Config{Capacity: 20}, 6, 5).World))
	f.Add(snapshot(f, newWorld(f, physics.Config{Capacity: 1})))
	f.Fuzz(func(t *testing.T, data []byte) { tryRestore(t, frametest.Reseal(data)) })
}

// Snapshots with altered bytes and correct checksums.
func TestRestoreOfAlteredSnapshots(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	for name, make := range map[string]func(testing.TB, physics.Config, int, uint64) *crowd{
		"a crowd": newCrowd, "with chains and platforms": grounded,
	} {
		t.Run(name, func(t *testing.T) {
			w := make(t, physics.Config{Capacity: 20}, 8, 5)
			w.run(20)
			alter(t, snapshot(t, w.World))
		})
	}
}

func alter(t *testing.T, good []byte) {
	accepted := 0
	const n = 1000
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 0))
		data := slices.Clone(good)
		for range 1 + rng.IntN(20) {
			data[rng.IntN(len(data))] ^= byte(rng.Uint32())
		}
		if tryRestore(t, frametest.Reseal(data)) {
			accepted++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if accepted < n/10 || accepted > n*9/10 {
		t.Errorf("%d of %d are accepted: the test says little", accepted, n)
	}
}

// Every refusal of a mutated snapshot is one of the documented errors.
func TestRestoreRefusals(t *testing.T) {
	w := grounded(t, physics.Config{Capacity: 20}, 8, 5)
	w.run(20)
	for i := range uint64(5) {
		if err := w.SetMaterialPair(physics.MaterialPair{A: i, B: 4}); err != nil {
			t.Fatal(err)
		}
	}
	frames := frametest.Split(snapshot(t, w.World))
	into := newWorld(t, physics.Config{Capacity: 20, Slots: 30})
	refused := 0
	n := uint64(4000)
	if testing.Short() {
		n = 400
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 14))
		if err := into.Restore(frametest.Forge("evtk.rig", 3, frametest.Mutate(rng, frames))); err == nil {
			continue
		} else if refused++; !frametest.Documented(err) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if refused < int(n)/4 || refused == int(n) {
		t.Errorf("%d of %d are refused: the test says little", refused, n)
	}
}

// A slot beyond those of the world is refused, whatever its number.
func TestRestoreBeyondSlots(t *testing.T) {
	into := newWorld(t, physics.Config{Slots: 10})
	for _, c := range []struct {
		slot uint32
		want error
	}{{9, nil}, {10, physics.ErrCapacity}, {1064509617, physics.ErrCapacity}, {math.MaxUint32 - 1, physics.ErrCapacity}} {
		from := newWorld(t, physics.Config{})
		def := physics.DefaultBodyDef()
		def.Slot, def.HasSlot = c.slot, true
		must[physics.Body](t)(from.CreateBody(def))
		for name, err := range map[string]error{"Restore": into.Restore(snapshot(t, from)), "CopyFrom": into.CopyFrom(from)} {
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("slot of body[0] = %d", c.slot)) {
				t.Errorf("%s of slot %d: %v", name, c.slot, err)
			}
		}
	}
}

func TestOtherEnginesHaveNoSnapshots(t *testing.T) {
	w := must[*physics.World](t)(box2d.New(physics.Config{}))
	_, snapErr := w.Snapshot(nil)
	_, cloneErr := w.Clone()
	for name, err := range map[string]error{
		"Snapshot": snapErr, "Clone": cloneErr, "Restore": w.Restore(nil), "CopyFrom": w.CopyFrom(w),
	} {
		if !errors.Is(err, physics.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	const n = 16384
	w := newWorld(b, physics.Config{Capacity: n})
	for i := range n {
		circle := body(b, w, physics.DynamicBody, float32(i%128), float32(i/128))
		if i%2 == 0 {
			box(b, w, circle, 0.5, 0.5)
		} else {
			must[physics.Shape](b)(w.CreateCircle(circle, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5}))
		}
	}
	if err := w.Step(1. / 60); err != nil {
		b.Fatal(err)
	}
	buf := snapshot(b, w)
	other := must[*physics.World](b)(w.Clone())
	b.Run("Snapshot", func(b *testing.B) {
		b.ReportMetric(float64(len(buf)), "bytes")
		for b.Loop() {
			buf, _ = w.Snapshot(buf[:0])
		}
	})
	b.Run("Restore", func(b *testing.B) {
		for b.Loop() {
			restore(b, w, buf)
		}
	})
	b.Run("CopyFrom", func(b *testing.B) {
		for b.Loop() {
			other.CopyFrom(w)
		}
	})
}
