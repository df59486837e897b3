package physics3_test

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
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// snapshotMagic and snapshotVersion are those of snapshots of physics3.
const (
	snapshotMagic   = "evtk.rg3"
	snapshotVersion = 1
)

// rich is a small world that has something of everything in its snapshot: contacts with bases, sleepers, hulls, sensors, and so on.
func rich(t testing.TB) *physics3.World {
	t.Helper()
	w := newWorld(t, physics3.Config{Capacity: 20})
	bodies := tower(t, w, 3)
	w.Columns().X[3] = 0.1
	for i, h := range []*physics3.Hull{cube, prism, tetrahedron, cube} {
		b := bodyAt(t, w, physics3.DynamicBody, 3, 0.4+0.9*float32(i), 0)
		must[physics3.Shape](t)(w.CreateHull(b, plain, h, physics3.Placement{}))
	}
	d := dynamicAt(-3, 0.45, 0)
	d.Slot, d.HasSlot, d.Asleep = 3, true, true
	asleep := addBox(t, w, d, vec{0.5, 0.5, 0.5})
	sensing := plain
	sensing.Sensor = true
	gate := bodyAt(t, w, physics3.KinematicBody, 0, 1, 0)
	box(t, w, gate, sensing, 1, 1, 1)
	hung := bodyAt(t, w, physics3.DynamicBody, 6, 0.5, 0)
	must[physics3.Shape](t)(w.CreateCapsule(hung, plain, physics3.Capsule{P2: vec{1}, Radius: 0.5}))
	sphere(t, w, bodyAt(t, w, physics3.DynamicBody, 9, 0.5, 0), plain, 0.5)
	no(t, w.IgnorePair(bodies[0], asleep))
	no(t, w.SetMassData(bodies[1], physics3.MassData{Mass: 2, Inertia: [6]float32{1, 1, 1}}))
	no(t, w.SetTuning(physics3.Tuning{HitSpeed: 3}))
	no(t, w.ShiftOrigin(vec{0, 0, 1024}))
	no(t, w.DestroyBody(bodyAt(t, w, physics3.DynamicBody, 0, 90, 0)))
	must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.StaticBody, 14, 0, 0), plain, pitch, physics3.Placement{}))
	sphere(t, w, bodyAt(t, w, physics3.DynamicBody, 14.1, 0.5, 0.1), plain, 0.5)
	box(t, w, bodyAt(t, w, physics3.DynamicBody, 14.1, 1.5, 0.1), plain, 0.5, 0.5, 0.5)
	spare := must[physics3.Joint](t)(w.CreateJoint(&physics3.FilterJointDef{JointDef: physics3.JointDef{BodyA: bodies[0], BodyB: hung}}))
	for _, def := range []physics3.AnyJointDef{
		&physics3.RevoluteJointDef{EnableMotor: true, MotorSpeed: 2, MaxMotorTorque: 50, JointDef: physics3.JointDef{BodyA: gate, BodyB: hung, FrameA: physics3.JointFrame{Point: vec{6, 0, 0}}}},
		&physics3.GenericJointDef{Axes: [6]physics3.JointAxis{{Motion: physics3.AxisLimited, Lower: -1, Upper: 40}}, JointDef: physics3.JointDef{BodyA: bodies[2], BodyB: hung, CollideConnected: true}},
	} {
		must[physics3.Joint](t)(w.CreateJoint(def))
	}
	no(t, w.DestroyJoint(spare))
	steps(t, w, 12)
	e := physics3.Transforms{X: make([]float32, 4), Y: make([]float32, 4), Z: make([]float32, 4)}
	e.QX, e.QY, e.QZ, e.QW = make([]float32, 4), make([]float32, 4), make([]float32, 4), make([]float32, 4)
	no(t, w.Sync(e))
	no(t, w.SetAwake(bodies[0], true)) // waits for the step
	return w
}

// From any tick on, a restored world and a copy continue as the original, also one that had another history, level, capacity and number of workers.
func TestRestoredWorldGoesOnAsTheOriginal(t *testing.T) {
	const seed, before, moments = 4, 25, 8
	c := randomConfig(seed)
	w := newRandomWorld(t, c, seed, nil)
	for range before {
		w.act()
		w.step()
	}
	c.Capacity, c.Level, c.Workers = randomBodies, native.Go, 3
	reused, copied := newRandomWorld(t, c, seed, nil), newRandomWorld(t, c, seed, nil)
	for range 9 { // other histories
		reused.act()
		reused.step()
	}
	type moment struct {
		w    randomWorld
		snap []byte
	}
	var all []moment
	for range moments {
		w.act() // destroyed shapes and forces wait for the step
		m := moment{*w, snapshot(t, w.World)}
		m.w.World = must[*physics3.World](t)(w.Clone())
		m.w.bodies, m.w.shapes, m.w.entities = slices.Clone(w.bodies), slices.Clone(w.shapes), cloneEntities(&w.entities)
		all = append(all, m)
		w.step()
	}
	for k := range all {
		m := &all[k]
		no(t, reused.Restore(m.snap))
		no(t, copied.CopyFrom(m.w.World))
		for name, other := range map[string]*randomWorld{"Restore": reused, "CopyFrom": copied, "Clone": &m.w} {
			what := fmt.Sprintf("%s of moment %d", name, k)
			if other != &m.w {
				other.as(&m.w)
			}
			if !bytes.Equal(snapshot(t, other.World), m.snap) {
				t.Fatalf("%s: another snapshot", what)
			}
			if name == "Clone" {
				continue
			}
			other.step()
			for range moments - 1 - k {
				other.act()
				other.step()
			}
			sameState(t, what, w.World, other.World)
			if k == moments-1 && fmt.Sprint(other.Events().Begin, other.Events().Hit, other.Events().Moved) !=
				fmt.Sprint(w.Events().Begin, w.Events().Hit, w.Events().Moved) {
				t.Fatalf("%s: other events", what)
			}
		}
	}
}

func cloneEntities(e *physics3.Transforms) physics3.Transforms {
	return physics3.Transforms{X: slices.Clone(e.X), Y: slices.Clone(e.Y), Z: slices.Clone(e.Z), QX: slices.Clone(e.QX),
		QY: slices.Clone(e.QY), QZ: slices.Clone(e.QZ), QW: slices.Clone(e.QW)}
}

// PrepareCopy and Commit are CopyFrom with the events of the last step; so are Prepare and PrepareEvents with AppendEvents.
func TestPrepare(t *testing.T) {
	w, seen := rich(t), 0
	copied, restored := emptyWorld(t, w.Config()), emptyWorld(t, w.Config())
	for tick := range 40 {
		steps(t, w, 1)
		before := copied.Hash()
		no(t, copied.PrepareCopy(w))
		no(t, restored.Prepare(snapshot(t, w)))
		no(t, restored.PrepareEvents(w.AppendEvents(nil)))
		if copied.Hash() != before {
			t.Fatal("PrepareCopy has changed the world")
		}
		if tick%5 == 0 {
			copied.Discard()
			restored.Discard()
			continue
		}
		copied.Commit()
		restored.Commit()
		for _, other := range []*physics3.World{copied, restored} {
			sameState(t, "a copy", w, other)
			if !bytes.Equal(w.AppendEvents(nil), other.AppendEvents(nil)) {
				t.Fatalf("tick %d: other events", tick)
			}
		}
		seen += len(w.Events().Begin) + len(w.Events().Slept)
		no(t, copied.CopyFrom(w))
		if e := copied.Events(); len(e.Begin)+len(e.Moved)+len(e.Slept) > 0 {
			t.Fatal("events after CopyFrom")
		}
	}
	if seen == 0 {
		t.Error("there was no event")
	}
	for want, call := range map[string]func(){
		"physics3: Commit without Prepare":            copied.Commit,
		"physics3: PrepareEvents without Prepare":     func() { _ = copied.PrepareEvents(nil) },
		"physics3: PrepareCopy from the world itself": func() { _ = copied.PrepareCopy(copied) },
	} {
		if got := panicOf(call); got != want {
			t.Errorf("panic %v, want %s", got, want)
		}
	}
}

// Damaged events are refused, or read.
func TestPrepareEventsRefusesDamage(t *testing.T) {
	w := rich(t)
	w.Columns().VX[3] = nan
	steps(t, w, 1)
	data, events := snapshot(t, w), w.AppendEvents(nil)
	refused := 0
	for i := range events {
		for _, bad := range [][]byte{events[:i], slices.Concat(events[:i], []byte{events[i] ^ 0x81}, events[i+1:])} {
			no(t, w.Prepare(data))
			if err := w.PrepareEvents(bad); err != nil {
				refused++
				if !errors.Is(err, physics3.ErrCorrupt) {
					t.Fatalf("byte %d: %v", i, err)
				}
			}
			w.Commit()
		}
	}
	if refused < len(events) {
		t.Errorf("%d of %d are refused", refused, 2*len(events))
	}
}

// After a Restore the handles of the snapshot are valid, and new handles equal those of the original.
func TestRestoreKeepsHandles(t *testing.T) {
	w := rich(t)
	old, _ := w.BodyAt(5)
	snap := snapshot(t, w)
	no(t, w.DestroyBody(old))
	steps(t, w, 3)
	other := emptyWorld(t, w.Config())
	no(t, w.Restore(snap))
	no(t, other.Restore(snap))
	if !w.Valid(old) || !other.Valid(old) {
		t.Error("a handle of the snapshot is stale")
	}
	for range 5 {
		a, b := bodyAt(t, w, physics3.DynamicBody, 0, 20, 0), bodyAt(t, other, physics3.DynamicBody, 0, 20, 0)
		if sa, sb := box(t, w, a, plain, 1, 1, 1), box(t, other, b, plain, 1, 1, 1); a != b || sa != sb {
			t.Fatalf("bodies %v and %v, shapes %v and %v", a, b, sa, sb)
		}
	}
}

// What a program does in each frame allocates nothing once it has been done.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, c := range []physics3.Config{{}, {DisableSleep: true, Workers: 2}, {Level: native.Go}} {
		w := newWorld(t, c)
		tower(t, w, 8)
		for i := range 10 {
			b := bodyAt(t, w, physics3.DynamicBody, 3+float32(i%2)*0.3, 0.5+float32(i), 0)
			must[physics3.Shape](t)(w.CreateHull(b, plain, cube, physics3.Placement{}))
		}
		steps(t, w, 60)
		buf, events, other, hashes := snapshot(t, w), w.AppendEvents(nil), must[*physics3.World](t)(w.Clone()), w.ColumnHashes()
		no(t, other.Restore(buf))
		for name, call := range map[string]func(){
			"Step":               func() { no(t, w.Step(dt)) },
			"Hash":               func() { w.Hash() },
			"AppendColumnHashes": func() { hashes = w.AppendColumnHashes(hashes[:0]) },
			"Snapshot":           func() { buf, _ = w.Snapshot(buf[:0]) },
			"AppendEvents":       func() { events = w.AppendEvents(events[:0]) },
			"CopyFrom":           func() { no(t, other.CopyFrom(w)) },
		} {
			if n := testing.AllocsPerRun(20, call); n != 0 {
				t.Errorf("%+v: %s has %g allocations", c, name, n)
			}
		}
	}
}

// Every damage of a snapshot gives a typed error, and leaves the world unchanged.
func TestRestoreRefusesWhatIsSpoiled(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	w := rich(t)
	good := snapshot(t, w)
	into := newWorld(t, physics3.Config{Capacity: 20})
	tower(t, into, 2)
	steps(t, into, 5)
	hash := into.Hash()
	refused := func(what string, data []byte, is error) {
		t.Helper()
		if err := into.Restore(data); !errors.Is(err, is) || !strings.HasPrefix(err.Error(), "physics3: snapshot") {
			t.Fatalf("%s: got %v, want %v", what, err, is)
		}
		if into.Hash() != hash {
			t.Fatalf("%s: a refused snapshot changed the world", what)
		}
	}
	stride := 1
	if testing.Short() {
		stride = 7
	}
	for i := int(paritytest.Seed()) % stride; i < len(good); i += stride {
		refused(fmt.Sprintf("%d bytes", i), good[:i], physics3.ErrCorrupt)
		data := slices.Clone(good)
		data[i] ^= 1 << (i % 8)
		is := physics3.ErrCorrupt
		if i >= 8 && i < 12 {
			is = physics3.ErrUnsupported
		}
		refused(fmt.Sprintf("byte %d", i), data, is)
	}
	for i := 8; i < 12; i++ {
		data := slices.Clone(good)
		data[i]++
		refused("another version", data, physics3.ErrUnsupported)
	}
	refused("a byte more", append(slices.Clone(good), 0), physics3.ErrCorrupt)

	small := emptyWorld(t, physics3.Config{Capacity: 10})
	for call, err := range map[string]error{"Restore": small.Restore(good), "CopyFrom": small.CopyFrom(w)} {
		if !errors.Is(err, physics3.ErrCapacity) || small.Rows() != 0 {
			t.Errorf("%s into a small world: %v", call, err)
		}
	}
	for name, c := range map[string]physics3.Config{
		"SubSteps": {SubSteps: 3}, "ContactHertz": {ContactHertz: 20}, "ContactDamping": {ContactDamping: 1},
		"JointHertz": {JointHertz: 30}, "JointDamping": {JointDamping: 1}, "PushSpeed": {PushSpeed: 1},
		"RestitutionThreshold": {RestitutionThreshold: 2}, "MaxSpeed": {MaxSpeed: 5}, "FrictionMix": {FrictionMix: physics3.MixMin},
		"RestitutionMix": {RestitutionMix: physics3.MixAverage},
	} {
		other := emptyWorld(t, c)
		for call, err := range map[string]error{"Restore": other.Restore(good), "CopyFrom": other.CopyFrom(w)} {
			if !errors.Is(err, physics3.ErrUnsupported) || !strings.Contains(err.Error(), "Config."+name) {
				t.Errorf("%s with another %s: %v", call, name, err)
			}
		}
	}
}

// Corrupt content is detected even with correct checksums.
func TestRestoreRefusesForgeries(t *testing.T) {
	w := rich(t)
	good := snapshot(t, w)
	into := emptyWorld(t, physics3.Config{Capacity: 20})
	header := frametest.Split(good)[0]
	rows, shapes := w.Rows(), int(binary.LittleEndian.Uint32(header[56:]))
	at := func(frame, offset int, to ...byte) func([][]byte) {
		return func(list [][]byte) { copy(list[frame][offset:], to) }
	}
	fromEnd := func(frame, offset int, to ...byte) func([][]byte) {
		return func(list [][]byte) { copy(list[frame][len(list[frame])-offset:], to) }
	}
	bad := []byte{0, 0, 0xc0, 0x7f} // NaN
	geometry := func(shape, offset int) int { return 8*shapes + 52*shape + offset }
	for name, c := range map[string]struct {
		forge func([][]byte)
		words string
	}{
		"a frame missing":        {func(l [][]byte) { l[4] = nil }, "length of the contacts"},
		"gravity":                {at(0, 40, bad...), "gravity"},
		"huge gravity":           {at(0, 44, 0, 0, 0, 0x5f), "gravity"}, // 2^63
		"more rows":              {at(0, 52, 0xff, 0xff, 0xff, 0xff), "rows"},
		"more shapes":            {at(0, 56, 0xff, 0xff, 0xff, 0xff), "shapes"},
		"more seen than shapes":  {at(0, 60, 0xff, 0xff, 0, 0), "seen"},
		"more hulls":             {at(0, 64, 0xff, 0xff, 0, 0), "hulls"},
		"more contacts":          {at(0, 68, 0xff, 0xff, 0, 0), "length of the contacts"},
		"too many contacts":      {at(0, 68, 0xff, 0xff, 0xff, 0xff), "contacts"},
		"switches":               {at(0, 84, 32), "switches"},
		"asleep without sleep":   {at(0, 84, 0), "flags of body"},
		"flags":                  {at(1, 154*rows, 1<<5), "flags of body[0]"},
		"locks":                  {at(1, 153*rows+1, 1<<6), "locks of body[1]"},
		"type":                   {at(1, 152*rows+2, 3), "type of body[2]"},
		"generation":             {at(1, 148*rows, 0, 0, 0, 0), "generation of body[0]"},
		"static and asleep":      {at(1, 154*rows, 1<<7|1<<4), "flags of body[0]"},
		"dead body with shapes":  {at(1, 154*rows, 0), "body of shape"},
		"vertices of a hull":     {at(2, 0, 0xff, 0xff), "vertices of hull[0]"},
		"no vertices":            {at(2, 0, 0), "hull"},
		"a vertex":               {at(2, 8, bad...), "hull[0]"},
		"vertices in another":    {func(l [][]byte) { copy(l[2][8:20], l[2][20:32]) }, "hull[0]"},
		"radius of a hull":       {at(2, 4, 0, 0, 0x80, 0x3f), "shape"},
		"bytes after the hulls":  {func(l [][]byte) { l[2] = append(l[2], 0) }, "length of the hulls"},
		"body that is not there": {at(3, 4*shapes, 0xee, 0xee, 0, 0), "body of shape[0]"},
		"no body":                {at(3, 4*shapes, 0xff, 0xff, 0xff, 0xff), "body of shape[0]"},
		"shape generation":       {at(3, 0, 0, 0, 0, 0), "generation of shape[0]"},
		"kind of a shape":        {at(3, geometry(0, 44), 9), "shape[0]"},
		"no kind":                {at(3, geometry(1, 44), 0), "shape[1]"},
		"place of a shape":       {at(3, geometry(0, 0), bad...), "shape[0]"},
		"rotation of a shape":    {at(3, geometry(0, 24), 0, 0, 0, 0x40), "shape[0]"},
		"half of a box":          {at(3, geometry(0, 28), 0, 0, 0, 0), "shape[0]"},
		"negative radius":        {at(3, geometry(0, 40), 0, 0, 0x80, 0xbf), "shape[0]"},
		"hull of a box":          {at(3, geometry(0, 48), 1), "shape[0]"},
		"hull that is not there": {at(3, geometry(4, 48), 0xee), "shape[4]"},
		"friction":               {at(3, 60*shapes, bad...), "shape[0]"},
		"sensor":                 {at(3, 120*shapes, 2), "shape[0]"},
		"contact out of order":   {func(l [][]byte) { copy(l[4][76:152], l[4][:76]) }, "shapes of contact[1]"},
		"contact with itself":    {func(l [][]byte) { copy(l[4][:4], l[4][4:8]) }, "shapes of contact[0]"},
		"points":                 {at(4, 8, 5), "points and flags of contact[0]"},
		"contact flags":          {at(4, 12, 0xff), "points and flags of contact[0]"},
		"impulse":                {at(4, 16, bad...), "impulse of contact[0]"},
		"rolling":                {at(4, 72, bad...), "impulse of contact[0]"},
		"bases missing":          {func(l [][]byte) { l[5] = l[5][160:] }, "length of the bases"},
		"base":                   {at(5, 0, bad...), "base of contact[0]"},
		"half a pair":            {func(l [][]byte) { l[6] = l[6][:4] }, "length of the pairs"},
		"pair":                   {func(l [][]byte) { copy(l[6][:4], l[6][4:8]) }, "pair[0]"},
		"pair of the dead":       {at(6, 0, 0xff), "pair[0]"},
		"pair twice":             {func(l [][]byte) { l[6] = append(l[6], l[6]...) }, "pair[1]"},
		"tuning":                 {at(7, 0, bad...), "tuning"},
		"rate":                   {func(l [][]byte) { copy(l[7][len(l[7])-4:], bad) }, "rate"},
		"mass":                   {at(8, 4, bad...), "mass[0]"},
		"mass of the dead":       {at(8, 0, 0xff), "mass[0]"},
		"inertia":                {at(8, 8, 0, 0, 0x80, 0xbf), "mass[0]"},
		"half a mass":            {func(l [][]byte) { l[8] = l[8][:40] }, "length of the masses"},
		"sleep missing":          {func(l [][]byte) { l[9] = nil }, "length of the sleep"},
		"more that is noted":     {at(9, 0, 9), "length of the sleep"},
		"time at rest":           {at(9, 8, bad...), "time at rest of body[0]"},
		"sleep threshold":        {at(9, 8+4*rows, bad...), "sleep threshold of body[0]"},
		"origin":                 {at(10, 16, 1), "origin[2]"},
		"negative zero":          {at(10, 7, 0x80), "origin[0]"},
		"more surfaces":          {at(0, 72, 0xff), "surfaces"},
		"kind of a surface":      {fromEnd(2, 162, 77), "surface[0]"},
		"length of a surface":    {fromEnd(2, 161, 0xff, 0xff, 0xff), "length of surface[0]"},
		"switches of a mesh":     {fromEnd(2, 157, 8), "surface[0]"},
		"more triangles":         {fromEnd(2, 152, 9), "surface[0]"},
		"vertex":                 {fromEnd(2, 144, bad...), "surface[0]"},
		"vertices out of order":  {fromEnd(2, 144, 0, 0, 0x80, 0x40), "surface[0]"},
		"no such vertex":         {fromEnd(2, 96, 4), "surface[0]"},
		"number of a triangle":   {fromEnd(2, 72, 0, 0, 0, 1), "surface[0]"},
		"no such material":       {fromEnd(2, 64, 2), "surface[0]"},
		"friction of triangles":  {fromEnd(2, 48, bad...), "surface[0]"},
		"surface of a hull":      {at(3, geometry(4, 44), byte(rigid3.KindSurface)), "shape[4]"},
		"no surface flag":        {func(l [][]byte) { l[4][len(l[4])-64] &^= rigid3.FlagSurface }, "shapes of contact"},
		"touches missing":        {func(l [][]byte) { l[11] = nil }, "length of the touches"},
		"normal of a touch":      {at(11, 4, bad...), "normal of touch[0]"},
		"joints missing":         {func(l [][]byte) { l[12] = nil }, "joints"},
		"more joints":            {at(12, 0, 9), "kind of joint[0]"},
		"joint generation":       {at(12, 8, 0, 0, 0, 0), "generation of joint[1]"},
		"body of a joint":        {at(12, 24, 0xff), "bodies of joint[1]"},
		"joint of one body":      {func(l [][]byte) { copy(l[12][24:28], l[12][28:32]) }, "bodies of joint[1]"},
		"kind of a joint":        {at(12, 40, 11), "kind of joint[1]"},
		"no kind of joint":       {at(12, 40, 0), "kind of joint[1]"},
		"flags of a joint":       {at(12, 44, 0xff), "joint[1]"},
		"frame of a joint":       {at(12, 48, bad...), "joint[1]"},
		"number of a joint":      {at(12, 40+4*22, bad...), "joint[1]"},
		"words of a joint":       {at(12, 40+4*29+7, 0xff), "what is kept of joint[1]"},
		"impulse of a joint":     {at(12, 40+4*31, bad...), "impulse of joint[1]"},
		"zero impulse":           {at(12, 40+4*31, 0, 0, 0, 0), "what is kept of joint[1]"},
		"bytes after the joints": {func(l [][]byte) { l[12] = append(l[12], 0) }, "length of the joints"},
	} {
		list := frametest.Split(good)
		c.forge(list)
		hash := into.Hash()
		err := into.Restore(frametest.Forge(snapshotMagic, snapshotVersion, list))
		if !errors.Is(err, physics3.ErrCorrupt) && !(name == "more rows" && errors.Is(err, physics3.ErrCapacity)) || !strings.Contains(fmt.Sprint(err), c.words) {
			t.Errorf("%s: got %v, want %q", name, err, c.words)
		}
		if into.Hash() != hash {
			t.Fatalf("%s: a refused snapshot changed the world", name)
		}
	}
}

// tryRestore checks that a snapshot is refused without effect, or that the restored world can be stepped and destroyed, and has one encoding.
func tryRestore(t *testing.T, w *physics3.World, data []byte) (accepted bool) {
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
	snap := snapshot(t, w)
	readContacts(t, w)
	other := emptyWorld(t, physics3.Config{Capacity: 20, Level: native.Go})
	no(t, other.Restore(snap))
	sameState(t, "restored twice", w, other)
	for range 3 {
		steps(t, w, 1)
		steps(t, other, 1)
		sameState(t, "stepped", w, other)
	}
	for i := range w.Rows() {
		if b, ok := w.BodyAt(i); ok {
			no(t, w.DestroyBody(b))
		}
	}
	if w.Len() != 0 || w.ShapeCount() != 0 {
		t.Fatalf("%d bodies, %d shapes are left", w.Len(), w.ShapeCount())
	}
	return true
}

func FuzzRestore(f *testing.F) {
	f.Add(snapshot(f, rich(f)))
	f.Add(snapshot(f, emptyWorld(f, physics3.Config{Capacity: 1})))
	f.Fuzz(func(t *testing.T, data []byte) {
		tryRestore(t, emptyWorld(t, physics3.Config{Capacity: 20}), frametest.Reseal(data))
	})
}

// Snapshots with altered bytes and correct checksums: a world refuses them, or continues.
func TestRestoreOfAlteredSnapshots(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	good := snapshot(t, rich(t))
	frames := frametest.Split(good)
	accepted, n := 0, uint64(300)
	if paritytest.Long() {
		n = 20_000
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 0))
		data := slices.Clone(good)
		if seed%2 == 0 {
			for range 1 + rng.IntN(8) {
				data[rng.IntN(len(data))] ^= byte(rng.Uint32())
			}
			data = frametest.Reseal(data)
		} else {
			data = frametest.Forge(snapshotMagic, snapshotVersion, frametest.Mutate(rng, frames))
		}
		if tryRestore(t, rich20(t, seed), data) {
			accepted++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if accepted < int(n)/10 || accepted > int(n)*9/10 {
		t.Errorf("%d of %d are accepted: the test says little", accepted, n)
	}
}

// rich20 is an empty world, or one with bodies.
func rich20(t testing.TB, seed uint64) *physics3.World {
	w := emptyWorld(t, physics3.Config{Capacity: 20})
	if seed%4 < 2 {
		tower(t, w, 4)
		steps(t, w, 2)
	}
	return w
}

// A slot beyond those of the world is refused, whatever its number.
func TestRestoreBeyondSlots(t *testing.T) {
	into := emptyWorld(t, physics3.Config{Slots: 10})
	for _, c := range []struct {
		slot uint32
		want error
	}{{9, nil}, {10, physics3.ErrCapacity}, {1064509617, physics3.ErrCapacity}, {math.MaxUint32 - 1, physics3.ErrCapacity}} {
		from, def := emptyWorld(t, physics3.Config{}), physics3.DefaultBodyDef()
		def.Slot, def.HasSlot = c.slot, true
		bodyOf(t, from, def)
		for name, err := range map[string]error{"Restore": into.Restore(snapshot(t, from)), "CopyFrom": into.CopyFrom(from)} {
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("slot of body[0] = %d", c.slot)) {
				t.Errorf("%s of slot %d: %v", name, c.slot, err)
			}
		}
	}
}
