// Package ecs is the world: a fixed number of rows, one entity a row, and the
// state of all entities in plain columns, one slice per value (Structure of
// Arrays). Kernels, systems and other packages read and write the columns
// directly; this package keeps the books: who is alive, in which row, with
// which tags, and what the whole of it hashes to.
//
// # Model
//
// A [World] has a fixed [World.Cap]. An entity has an [ID], which is never
// reused, and lives in a [Slot], which is: the lowest free slot is always taken
// first, so live rows stay packed and the set of live slots alone decides which
// slot comes next. Slots below [World.HighWater] have been used at least once;
// a kernel runs over [0, HighWater) and may compute garbage in the free rows,
// which are reset when they are used again.
//
// A row is reset when an entity is born in it: rotation (0, 0, 0, 1), scale
// (1, 1, 1), everything else zero, user columns included, and no tags. What the
// last entity left there, or a kernel wrote there since, does not reach the next
// one; until then it is part of the hash and the snapshot, since a kernel over
// all rows can read it.
//
// Columns have the length of the capacity, never move, begin on a cache line,
// and of any 64 of one world no two share an address modulo 4096. A loop that
// walks many columns at one index would otherwise find all of them in one set
// of the L1 cache.
//
// Who writes to a column directly says so with Touch ([Vec3.Touch], [Column.Touch]),
// once for all rows: the Version of the column then tells an index, a renderer or a sync
// layer that there is something new. SetPosition and its like do it themselves.
//
// [Tag]s are bitsets, 64 entities a word. [World.Query] selects by tags, in
// ascending slot order, and [World.NewQuery] keeps the answer as a bitmap, for those who ask
// often and for kernels; [World.IDs] goes by age. A [Handle] is an id with its slot, for
// those who look at one entity often.
//
// With [Config].Previous a world keeps the transforms of the tick before, so that a
// renderer that runs between two ticks can [World.Interpolate].
//
// # Deferred changes
//
// While a query iterates, entities stay. [Commands] record what shall come, go, be
// tagged or written, and [World.Apply] does it at the boundary of the tick: lists in
// the order given, commands in the order recorded, one by one as if called directly.
// With one list for each chunk of the work the result does not depend on who
// recorded when. Room is counted before the first change: all of it happens, or nothing.
//
// # Observers
//
// [World.OnSpawn], [World.OnDespawn], [Tag.OnSet] and [Tag.OnUnset] call a function
// within the change itself. It may write and tag; what it would spawn or despawn
// it records.
//
// # Bindings
//
// A [Binding] ties handles of things outside the world, one to an entity, and
// releases each once when its entity goes, be it alone, in a batch, by
// Apply or by a Restore to where it is not.
//
// # Guarantees
//
//   - A stale id never resolves, however often its slot was reused. IDs carry no
//     mark of their world: one from another world resolves if this world issued
//     the same number to an entity still alive. So does, after a Restore or CopyFrom,
//     one that was issued in the time that is undone: it is issued again.
//   - [World.Hash] is a function of what decides the future (which entities
//     live where, the next id, the tags carried, the rows of all columns below
//     HighWater) and of nothing else: not the capacity, not the order in which
//     columns and tags were registered, not tags that nobody carries, not the
//     payload of a NaN. It is the same number on every architecture.
//   - [Diff] names the first thing in which two worlds differ, and finds none if and
//     only if their hashes are equal.
//   - [World.Restore] accepts what [World.Snapshot] wrote, on any architecture,
//     or leaves the world as it was. The restored world issues the same next ids and
//     slots, has the same versions of columns and, without further columns of its
//     own, the same hash. Columns that it does not know are kept, and come back with
//     its own snapshots. It may be fed data of strangers: Restore takes memory in
//     proportion to the length of the data, and a bit a row of the world for each tag
//     that the world lacks. Tags stay, so a world meets at most MaxTags names in its life.
//   - [World.CopyFrom] does the same from another world, without going through bytes,
//     and [World.Clone] makes a second world: going back a few ticks and on again
//     gives the run that would have been without.
//   - An error leaves the world unchanged, and a batch with one bad element
//     changes nothing.
//   - No allocation after warm-up in Spawn, SpawnN, Despawn, Slot, ID, tags, Query
//     (written in the range clause), Commands and Apply, Binding, Hash, CopyFrom, and
//     the forms that append to a caller's slice. Spawning allocates a page of the id
//     table once every 1024 entities until as many pages have died as are being
//     born, and room in kept columns when it goes beyond HighWater.
//
// # Memory
//
// [World.Describe] says what a world takes. The ten built-in columns and the ids take
// 48 bytes a row, user columns the size of their type, a tag and the set of live slots
// a bit each, Config.Previous 40 bytes; all of this for the whole capacity and from
// the start. The id table takes 4.7 KiB for every block of 1024 consecutive ids of
// which at least one is alive: at most Len()+1 such pages, near Len()/1024 unless
// survivors are rare and old, and up to 16 spare ones. Kept columns, of which only a
// snapshot knows, hold at most twice the rows ever used.
//
// # Concurrency
//
// A World has no locks. What changes nothing (Slot, ID, Handle, Valid, Len, HighWater,
// Version, LiveSlots, LiveMask, IDs, World.Query, the Has, Count and Mask of a Tag, Get and
// At of a Binding, FindColumn, Snapshot, Hash, ColumnHashes, FirstNaN, Diff, Dump, Describe,
// Clone, and CopyFrom for the world that is copied) may run concurrently with
// each other, with direct writes to columns that they do not read, and with
// recording into Commands, each list by one goroutine. A [Query] keeps its answer, so
// each goroutine makes one of its own, before they start: NewQuery and NewCommands.
// Everything else, direct writes to one column included, needs the exclusion
// that any Go variable needs; between [World.HoldTouches] and [World.ReleaseTouches]
// touching one column and touching another may go on side by side, too.
package ecs
