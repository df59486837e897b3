package ecs_test

import (
	"fmt"
	"os"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
)

func Example() {
	w, err := ecs.New(ecs.Config{Capacity: 1000})
	if err != nil {
		panic(err)
	}
	speed, err := ecs.AddColumn[float32](w, "speed")
	if err != nil {
		panic(err)
	}
	frozen, err := w.Tag("frozen")
	if err != nil {
		panic(err)
	}

	ids := make([]ecs.ID, 3)
	if err := w.SpawnN(ids); err != nil {
		panic(err)
	}
	for i, s := range w.LiveSlots(nil) {
		speed.Values()[s] = float32(10 * i)
	}
	frozen.Set(ids[1])

	const dt = 1.0 / 4
	x, v := w.Position.X, speed.Values()
	for s := range w.Query(ecs.Without(frozen)) {
		x[s] += float32(v[s] * dt) // the conversion keeps the product from being fused
	}

	saved, hash := w.Snapshot(nil), w.Hash()
	w.Despawn(ids[0])
	w.Spawn() // takes the free slot; ids[0] stays dead
	if err := w.Restore(saved); err != nil {
		panic(err)
	}
	for id := range w.IDs() {
		s, _ := w.Slot(id)
		fmt.Println(id, x[s], frozen.Has(id))
	}
	fmt.Println(w.Hash() == hash)
	// Output:
	// ent_1 0 false
	// ent_2 0 true
	// ent_3 5 false
	// true
}

// A network sends the rows that changed, of every column that was written since the last time. It
// knows none of the columns.
func ExampleColumnView() {
	w, err := ecs.New(ecs.Config{Capacity: 1000})
	if err != nil {
		panic(err)
	}
	hp, err := ecs.AddColumn[int16](w, "hp")
	if err != nil {
		panic(err)
	}
	home, err := ecs.AddArrayColumn[[2]float32](w, "home")
	if err != nil {
		panic(err)
	}
	if err := w.SpawnN(make([]ecs.ID, 4)); err != nil {
		panic(err)
	}

	sent := w.LastTouch() // what the other side has
	hp.Values()[1], hp.Values()[3] = -2, 300
	hp.Touch()
	home.Values()[3] = [2]float32{0.5, 4}
	home.Touch()

	changed := []ecs.Slot{1, 3}
	for _, c := range w.Columns() {
		if c.Version() > sent {
			fmt.Printf("%s, %d %v a row: bytes %x, floats %v\n", c.Name(), c.Components(), c.Kind(),
				c.AppendBytesAt(nil, changed), c.AppendFloatsAt(nil, changed))
		}
	}
	// Output:
	// hp, 1 int16 a row: bytes feff2c01, floats [-2 300]
	// home, 2 float32 a row: bytes 00000000000000000000003f00008040, floats [0 0 0.5 4]
}

// While a query iterates, entities without life are replaced by a grave.
func ExampleCommands() {
	w, err := ecs.New(ecs.Config{Capacity: 100})
	if err != nil {
		panic(err)
	}
	life, err := ecs.AddColumn[int32](w, "life")
	if err != nil {
		panic(err)
	}
	grave, err := w.Tag("grave")
	if err != nil {
		panic(err)
	}
	if err := w.SpawnN(make([]ecs.ID, 3)); err != nil {
		panic(err)
	}
	copy(life.Values(), []int32{5, 0, 7})

	commands := w.NewCommands()
	for slot := range w.Query(ecs.Without(grave)) {
		if life.Values()[slot] > 0 {
			continue
		}
		id, _ := w.ID(slot)
		commands.Despawn(id)
		stone := commands.Spawn() // a provisional id: the entity does not exist yet
		commands.Set(grave, stone)
		ecs.Write(commands, life, stone, -1)
	}
	applied, err := w.Apply(commands)
	fmt.Printf("%+v %v\n", applied, err)
	fmt.Println(commands.Spawned(0), grave.Has(commands.Spawned(0)), w.Len())
	// Output:
	// {Spawned:1 Despawned:1 Tagged:1 Untagged:0 Written:1 Stale:0} <nil>
	// ent_4 true 3
}

func ExampleBinding() {
	w, err := ecs.New(ecs.Config{Capacity: 100})
	if err != nil {
		panic(err)
	}
	meshes := ecs.NewBinding(w, func(id ecs.ID, mesh string) {
		fmt.Println("unload", mesh, "of", id)
	})
	ids := make([]ecs.ID, 2)
	if err := w.SpawnN(ids); err != nil {
		panic(err)
	}
	for i, mesh := range []string{"cat.obj", "mouse.obj"} {
		if err := meshes.Bind(ids[i], mesh); err != nil {
			panic(err)
		}
	}
	w.Despawn(ids[1])
	for id, mesh := range meshes.All() {
		fmt.Println(id, "has", mesh)
	}
	// Output:
	// unload mouse.obj of ent_2
	// ent_1 has cat.obj
}

// Rollback: the state of some ticks is kept, and an input that comes late is played
// from the tick that it belongs to.
func ExampleWorld_CopyFrom() {
	w, err := ecs.New(ecs.Config{Capacity: 1000})
	if err != nil {
		panic(err)
	}
	player, err := w.Spawn()
	if err != nil {
		panic(err)
	}
	step := func(input float32) {
		slot, _ := w.Slot(player)
		w.Position.X[slot] += input
	}

	saved := w.Clone() // later saved.CopyFrom(w), which allocates nothing
	step(1)
	step(1)
	guessed := w.Clone()

	if err := w.CopyFrom(saved); err != nil { // the first input was another
		panic(err)
	}
	step(5)
	step(1)
	difference, _ := ecs.Diff(guessed, w)
	fmt.Println(difference)
	// Output:
	// value of position.x, slot 0 (ent_1): 2 (0x40000000) and 6 (0x40c00000)
}

func ExampleWorld_Dump() {
	w, err := ecs.New(ecs.Config{Capacity: 1000})
	if err != nil {
		panic(err)
	}
	hot, err := w.Tag("hot")
	if err != nil {
		panic(err)
	}
	for i := range 3 {
		id, err := w.Spawn()
		if err != nil {
			panic(err)
		}
		if err := w.SetPosition(id, float32(i)/2, 0, -1); err != nil {
			panic(err)
		}
		if i > 0 {
			hot.Set(id)
		}
	}
	if err := w.Dump(os.Stdout, ecs.With(hot)); err != nil {
		panic(err)
	}
	// Output:
	// id     slot  tags  position.x  position.y  position.z  rotation.x  rotation.y  rotation.z  rotation.w  scale.x  scale.y  scale.z
	// ent_2     1   hot         0.5           0          -1           0           0           0           1        1        1        1
	// ent_3     2   hot           1           0          -1           0           0           0           1        1        1        1
}

// A kernel works on the entities that a query finds, and on no others.
func ExampleQuery_Mask() {
	w, err := ecs.New(ecs.Config{Capacity: 1000})
	if err != nil {
		panic(err)
	}
	ids := make([]ecs.ID, 4)
	if err := w.SpawnN(ids); err != nil {
		panic(err)
	}
	asleep, err := w.Tag("asleep")
	if err != nil {
		panic(err)
	}
	asleep.Set(ids[1])
	speed, err := ecs.AddColumn[float32](w, "speed")
	if err != nil {
		panic(err)
	}
	copy(speed.Values(), []float32{1, 2, 3, 4})

	awake := w.NewQuery(ecs.Without(asleep))
	n := w.HighWater()
	ops := native.Ops{Live: awake.Mask()}
	if err := ops.Integrate(w.Position.X[:n], speed.Values()[:n], 0.5); err != nil {
		panic(err)
	}
	w.Position.Touch() // written directly
	fmt.Println(awake.Count(), w.Position.X[:n])
	// Output: 3 [0.5 0 1.5 2]
}

// Entities grow older and die of age, without a loop over them.
func ExampleIn() {
	w, err := ecs.New(ecs.Config{Capacity: 1000})
	if err != nil {
		panic(err)
	}
	age, err := ecs.AddColumn[float32](w, "age")
	if err != nil {
		panic(err)
	}
	if err := w.SpawnN(make([]ecs.ID, 4)); err != nil {
		panic(err)
	}
	copy(age.Values(), []float32{0, 4.5, 2, 9})

	// guide:begin age
	ops := native.Ops{Live: w.LiveMask()}
	old := make([]uint64, len(ops.Live)) // a bitmap by slot
	if err := ops.Add(age.Values(), 0.5); err != nil {
		panic(err)
	}
	age.Touch() // written directly
	if err := ops.Compare(old, age.Values(), native.GreaterEqual, 5); err != nil {
		panic(err)
	}
	fmt.Println("slots", native.RowsOf(nil, old), "die of age")
	fmt.Println(w.DespawnWhere(ecs.In(old)), "despawned,", w.Len(), "left")
	// guide:end
	// Output:
	// slots [1 3] die of age
	// 2 despawned, 2 left
}

// An observer keeps a count without asking for it each tick.
func ExampleTag_OnSet() {
	w, err := ecs.New(ecs.Config{Capacity: 1000})
	if err != nil {
		panic(err)
	}
	burning, err := w.Tag("burning")
	if err != nil {
		panic(err)
	}
	fires := 0
	burning.OnSet(func(ecs.ID, ecs.Slot) { fires++ })
	burning.OnUnset(func(ecs.ID, ecs.Slot) { fires-- })
	ids := make([]ecs.ID, 10)
	if err := w.SpawnN(ids); err != nil {
		panic(err)
	}
	burning.SetWhere()
	burning.Unset(ids[0])
	w.Despawn(ids[1])
	fmt.Println(fires, burning.Count())
	// Output: 8 8
}

// The name of a mesh comes back with its entity.
func ExampleBlobs() {
	w, err := ecs.New(ecs.Config{Capacity: 1000})
	if err != nil {
		panic(err)
	}
	// guide:begin blobs
	mesh, err := w.Blobs("mesh") // bytes by entity; the name is like that of a tag
	if err != nil {
		panic(err)
	}
	tree, err := w.Spawn()
	if err != nil {
		panic(err)
	}
	if err := mesh.Set(tree, []byte("oak.glb")); err != nil { // copies the bytes
		panic(err)
	}
	saved := w.Snapshot(nil)
	w.Despawn(tree) // and its blob
	fmt.Println(mesh.Len(), "blobs")

	if err := w.Restore(saved); err != nil {
		panic(err)
	}
	for id, data := range mesh.All() { // ascending slots; only read data
		fmt.Printf("%v has the mesh %s\n", id, data)
	}
	// guide:end
	// Output:
	// 0 blobs
	// ent_1 has the mesh oak.glb
}

// Slots change, ids do not. An observer maps what a program keeps by slot.
func ExampleWorld_Reorder() {
	w, err := ecs.New(ecs.Config{Capacity: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := make([]ecs.ID, 4)
	if err := w.SpawnN(ids); err != nil {
		fmt.Println(err)
		return
	}
	w.Despawn(ids[1])
	names := []string{"a", "", "c", "d"} // by slot
	w.OnReorder(func(from []ecs.Slot) {
		var moved []string
		for _, slot := range from {
			moved = append(moved, names[slot])
		}
		names = moved
	})
	if err := w.Reorder([]ecs.Slot{3, 0, 2}); err != nil { // such as spatial.Index.SortPermutation returns
		fmt.Println(err)
		return
	}
	slot, _ := w.Slot(ids[3])
	fmt.Println(ids[3], "is in slot", slot, names, w.HighWater())
	// Output:
	// ent_4 is in slot 0 [d a c] 3
}
