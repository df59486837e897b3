// Package ecs is the world: a fixed number of rows, one entity per row, and the state of
// all entities in plain columns, one slice per value (Structure of Arrays). Kernels,
// systems and other packages read and write the columns directly; this package keeps track
// of the live entities, their rows and their tags, and computes the hash of the state.
//
// # Model
//
// A [World] has a fixed [World.Cap]. An entity has an [ID], which is never reused, and a [Slot],
// its row, which is reused: spawning takes the lowest free slot, so live rows stay packed and the
// set of live slots alone decides which slot comes next. Slots below [World.HighWater] have been
// used at least once. A kernel runs over [0, HighWater) and may compute garbage in the free rows;
// they are reset when they are used again.
//
// [World.Reorder] moves all entities to rows in an order that the program gives, such as the order of
// a grid in space. Ids stay, slots change. Nothing else ever moves a row.
//
// Spawning resets the row of the entity: rotation (0, 0, 0, 1), scale (1, 1, 1), everything else
// zero, user columns included, and no tags. The next entity never sees what the last one left in
// its row, or what a kernel wrote there since. Until then the content of a free row is part of the
// hash and the snapshot, since a kernel over all rows can read it.
//
// Columns have the length of the capacity, never move, and begin on a cache line. Of any 64 columns
// of one world no two share an address modulo 4096: otherwise a loop that walks many columns at one
// index would find all of them in one set of the L1 cache.
//
// [World.Register] adds the columns, tags and blobs that a struct declares as its fields;
// [AddColumn], [AddArrayColumn], [World.Tag] and [World.Blobs] add one by its name.
//
// Code that writes to a column directly calls Touch ([Vec3.Touch], [Column.Touch]), once
// for all rows: it changes the Version of the column, by which an index, a renderer or a
// sync layer notices the change. SetPosition and its like touch by themselves.
//
// Code that does not know the columns (a network, an inspector, an exporter) reads them
// without their types: [World.Columns] lists them, and a [ColumnView] returns rows as
// bytes or as float64.
//
// [Tag]s are bitsets, 64 entities a word. [World.Query] selects by tags, in
// ascending slot order; a query of [World.NewQuery] caches the result as a bitmap, for
// frequent use and for kernels. [World.IDs] yields all entities in order of age. A [Handle]
// is an id with its slot, for frequent access to one entity. [World.SpawnSlot] returns both for a
// new entity, for the writes to its row.
//
// [Blobs] are strings of bytes of an entity, such as the name of its mesh: state without a fixed
// length.
//
// With [Config].Previous a world keeps the transforms of the last tick, so that a
// renderer that runs between two ticks can [World.Interpolate].
//
// # Visiting entities
//
// All of these visit rows in ascending order and leave the same bits. The figures are
// nanoseconds an entity for pos += vel*dt, over all of 16,384 entities and over one in ten, by a tag
// at random: medians of go run ./bench -ops -quick on a Zen 5 CPU, level avx512, one worker.
//
//	                                   all    one in ten
//	operations of native.Ops          0.05    0.7   where one does what you need; Live takes Query.Mask
//	[Query.Runs], a loop over slices  0.43    2.2   any other loop over many rows
//	[Query.Runs], a loop over rows    0.47    1.7   the same where runs are short: for row := lo; row < hi; row++
//	[Query.Slots]                     0.81    1.2   for few rows here and there, a list to use again, or if the body spawns
//	[Query.All]                       2.3     2.7   if the body changes the tags of entities not yet visited
//	[World.Query]                     2.3     3.3   for a few entities, once, or up to the first that fits
//
// Query.Slots returns what matches when it is called, whatever the body does. Query.All and World.Query
// visit what matches when it is reached; they call the body through a pointer for each entity.
// [World.Runs] evaluates its terms anew, without a cache: it costs as much as Query.Runs if nearly
// all rows match, and half a nanosecond more per match if one in ten does.
//
// # Deferred changes
//
// While a query iterates, no entity may be spawned or despawned. [Commands] record spawns,
// despawns, tags, blobs and writes, and [World.Apply] makes them at the boundary of the tick:
// lists in the order given, commands in the order recorded, one by one as if called
// directly. With one list for each chunk of the work the result does not depend on the
// order in which goroutines record. Apply counts the room before the first change: it
// makes all changes or none.
//
// # Observers
//
// [World.OnSpawn], [World.OnDespawn], [Tag.OnSet] and [Tag.OnUnset] register a function that is
// called within the change itself. It may write to columns, change tags, and add and stop observers. It must record
// spawns and despawns in Commands. [World.OnReorder] registers one for programs that keep slots.
//
// A change that observers hear of is a round: all of them are called for one entity, in the order in which they
// were registered. What an observer changes happens at once, with a round of its own within the first, except:
//
//   - Rounds of one tag of one entity never come within each other. While the entity gets the tag, taking it away
//     is noted, and happens when the round has ended, unless the tag is given again meanwhile. While the entity loses
//     the tag, giving and taking it have no effect.
//   - In a despawn an entity loses its tags for good: each tag is there until the despawn ends, its observers are
//     called once, and from then on giving and taking it have no effect. A tag that the entity gets before the despawn
//     ends, even when its turn has passed, it loses in a round as well.
//   - An observer that was stopped is not called any more, also not in a round that has begun. An observer that
//     was added is called from the next round on.
//
// So every observer hears of each tag of each entity, in turn, that it was given and that it is being lost, and what
// it hears last is what is. Observers that answer each other come to an end, and 1,024 rounds within each other
// panic. SetWhere, UnsetWhere, SetAll, UnsetAll and DespawnWhere select all entities before the first round.
//
// # Bindings
//
// A [Binding] attaches handles of objects outside the world, one to an entity, and
// releases each once when its entity is gone: despawned alone, in a batch or by
// Apply, or absent after a Restore.
//
// # Guarantees
//
//   - A stale id never resolves, however often its slot was reused. IDs do not
//     identify their world: one from another world resolves if this world issued
//     the same number to an entity still alive. After a Restore or CopyFrom to an
//     earlier state, ids that were issued since are issued again, and then resolve.
//   - [World.Hash] is a function of what decides the future (the entity in each
//     slot, the next id, the tags and blobs of entities, the rows of all columns below
//     HighWater) and of nothing else: not the capacity, not the order in which
//     columns and tags were registered, not tags and names of blobs that no entity has,
//     not the payload of a NaN. It is the same number on every architecture.
//   - [Diff] names the first thing in which two worlds differ, and finds none if and
//     only if their hashes are equal.
//   - [World.Restore] accepts what [World.Snapshot] wrote, on any architecture, or leaves
//     the world as it was. The restored world issues the same next ids and slots, has the
//     same versions of columns and, without further columns of its own, the same hash. It
//     keeps columns that the program has not added, and writes them to its own snapshots.
//     Untrusted data is safe: Restore takes memory in proportion to the length of the data,
//     and a bit a row of the world for each tag that the world lacks. Tags and names of blobs
//     are never removed, so a world can have at most MaxTags and MaxBlobs of them in its life.
//   - [World.CopyFrom] does the same from another world, without an encoding,
//     and [World.Clone] makes a second world: a run that goes back a few ticks and
//     repeats them gives the same results as one that does not.
//   - An error leaves the world unchanged, and a batch with one bad element
//     changes nothing.
//   - No allocation after warm-up in Spawn, SpawnN, Despawn, Slot, ID, tags, Blobs, Query and
//     Runs (written in the range clause), Commands and Apply, Binding, Hash, CopyFrom, Reorder, and
//     the forms that append to a caller's slice. Spawning allocates a page of the id
//     table once every 1024 entities until pages become empty as fast as new ones are
//     needed, and room in kept columns when it goes beyond HighWater. Blobs allocate when they
//     take more memory than ever before.
//
// # Memory
//
// [World.Describe] returns the memory that a world takes. The ten built-in columns and the
// ids take 48 bytes a row, user columns the size of their type, a tag and the set of live
// slots a bit each, Config.Previous 40 bytes; all of this for the whole capacity and from
// the start. The id table takes 4.7 KiB for every block of 1024 consecutive ids of which at
// least one is alive: at most Len()+1 such pages, near Len()/1024 unless survivors are rare
// and old, and up to 16 spare ones. Kept columns, which came with a snapshot and were not
// added, hold at most twice the rows ever used. [Blobs] says what a blob takes.
//
// # Concurrency
//
// A World has no mutex. Methods that change nothing (Slot, ID, Handle, Valid, Len,
// HighWater, Version, LiveSlots, LiveMask, IDs, World.Query, World.Runs, the Has, Count and Mask of a
// Tag, Get and At of a Binding, Get, At, Len and All of Blobs, FindColumn, Columns, the methods of
// ColumnView, Snapshot, Hash, ColumnHashes, FirstNaN, Diff, Dump, Describe, Clone, and
// CopyFrom for the world that is copied) may run concurrently
// with each other, with direct writes to columns that they do not read, and with recording
// into Commands, each list by one goroutine. A [Query] caches its result, so each goroutine
// needs its own. Call NewQuery and NewCommands before the goroutines start. Everything
// else, direct writes to one column included, needs the exclusion that any Go variable
// needs; between [World.HoldTouches] and [World.ReleaseTouches], goroutines may also touch
// different columns, and change blobs of different names, at the same time.
package ecs
