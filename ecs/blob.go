package ecs

import (
	"iter"
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
)

const (
	// MaxBlobs is the number of names that blobs can have in a world.
	MaxBlobs = 256

	maxBlob      = 1 << 24 // bytes of one
	maxBlobBytes = 1 << 30 // of all of one name: they are one frame of a snapshot
)

// Blobs are strings of bytes under one name, at most one for each entity: the name of a mesh, the
// path of a resource, JSON, the state of a script. They are part of the state: of snapshots, copies
// and the hash. World.Blobs returns them.
//
// A blob belongs to its entity. A despawn removes it, after observers and bindings have seen it. A
// new entity has none. A blob of no bytes is a blob, too.
//
// A blob takes the memory of its bytes, rounded up to a multiple of eight, and 12 to 16 bytes more.
// The index takes half a byte for each row up to the highest one with a blob. Spare room takes an
// eighth more. Equal blobs are not shared. Set overwrites a blob in place if the new one is not
// longer, and otherwise uses spare room. When that is used up, Set moves all blobs of the name
// together, in time proportional to their bytes. Blobs allocate only when they take more memory than
// ever before.
//
// For concurrent use, the blobs of one name count as one column of the world. So systems that run
// side by side may change blobs of different names.
type Blobs struct {
	world   *World
	name    string
	column  string // in the hash
	index   uint16 // in World.blobs
	version changeVersion

	groups []blobGroup // up to the group of the highest slot that had a blob
	// arena holds records without gaps. A record is a word, with the slot in its upper half and the
	// number of bytes in its lower half, and then the bytes, in whole words.
	arena []uint64
	used  int    // words in all records that hold a blob
	bytes int    // bytes of all blobs
	count int    // number of blobs
	sum   uint64 // sum of the hashes of all blobs
}

// blobGroup is the blobs of 64 slots.
type blobGroup struct {
	has uint64   // bit s%64 is set if slot s has a blob
	at  []uint32 // index in the arena of each record, by ascending slots
}

// freeRecord is the slot of a record that holds no blob.
const freeRecord = ^Slot(0)

// blobColumn precedes the name of Blobs in the hash.
const blobColumn = "blob."

func (b *Blobs) label() string { return b.name }

// Blobs returns the blobs of that name, and registers the name if it is new. A name that is not
// 1 to 255 bytes of UTF-8 is ErrRange, the 257th name ErrCapacity.
func (w *World) Blobs(name string) (*Blobs, error) {
	if _, err := w.checkBlobs("ecs: Blobs", name, nil); err != nil {
		return nil, err
	}
	return w.blobsNamed(name), nil
}

// checkBlobs calls checkNew for a name of blobs.
func (w *World) checkBlobs(caller, name string, coming []string) ([]string, error) {
	return checkNew(caller, "names", name, w.blobsByName, coming, MaxBlobs)
}

func (w *World) addBlobs(name string) *Blobs {
	b := &Blobs{world: w, name: name, column: blobColumn + name, index: uint16(len(w.blobs)), version: changeVersion{world: w}}
	w.blobs = append(w.blobs, b)
	w.blobsByName = insertByName(w.blobsByName, b)
	w.despawnWatchers++
	return b
}

// blobsNamed returns the blobs of that name, and adds them if there are none.
func (w *World) blobsNamed(name string) *Blobs {
	if b := find(w.blobsByName, name); b != nil {
		return b
	}
	return w.addBlobs(name)
}

// Name returns the name of the blobs.
func (b *Blobs) Name() string { return b.name }

// Len returns the number of blobs.
func (b *Blobs) Len() int { return b.count }

// Version returns the number of the last Set or Unset; see World.LastTouch. A despawn changes
// World.Version instead.
func (b *Blobs) Version() uint64 { return b.version.number }

// slot is World.Slot.
func (b *Blobs) slot(id ID) (Slot, bool) {
	if b == nil {
		panic("ecs: use of nil Blobs: Register or Blobs has returned an error, or was not called")
	}
	return b.world.Slot(id)
}

// Set makes a copy of data the blob of an entity. data may be the memory of a blob. If the entity
// does not exist the error is ErrStale. If data has more than 16 MiB, or all blobs of the name would
// have more than 1 GiB, it is ErrCapacity. After an error nothing is changed.
func (b *Blobs) Set(id ID, data []byte) error {
	slot, ok := b.slot(id)
	if !ok {
		return fault.Field(ErrStale, "ecs: Blobs.Set id", id)
	}
	if len(data) > maxBlob {
		return fault.Field(ErrCapacity, "ecs: Blobs.Set len(data)", len(data))
	}
	old, _ := b.At(slot)
	if total := b.bytes - len(old) + len(data); total > maxBlobBytes {
		return fault.Field(ErrCapacity, "ecs: Blobs.Set bytes of "+b.name, total)
	}
	b.put(slot, data)
	b.version.touch()
	return nil
}

// Unset removes the blob of an entity, if it has one. It reports false, and changes nothing, if
// there is no such entity.
func (b *Blobs) Unset(id ID) bool {
	slot, ok := b.slot(id)
	if ok && b.find(slot) != nil {
		b.remove(slot)
		b.version.touch()
	}
	return ok
}

// Get returns the blob of an entity, and false if there is none. The slice is the memory of the
// blobs themselves: only read it. It is valid until a blob of this name changes, also by a despawn
// or a Restore.
func (b *Blobs) Get(id ID) ([]byte, bool) {
	slot, ok := b.slot(id)
	if !ok {
		return nil, false
	}
	return b.At(slot)
}

// At is Get for the entity in a slot. It also reports false for a free slot, and for one beyond the
// capacity.
func (b *Blobs) At(slot Slot) ([]byte, bool) {
	at := b.find(slot)
	if at == nil {
		return nil, false
	}
	return b.record(*at), true
}

// All yields the entities that have blobs, with the blobs as Get returns them, in ascending order of
// slots. The loop body may set and unset blobs: All yields a blob if it exists when the iteration
// reaches its slot. A Restore or Reorder in the body ends the iteration.
func (b *Blobs) All() iter.Seq2[ID, []byte] {
	return func(yield func(ID, []byte) bool) {
		generation := b.world.generation
		for i := 0; i < len(b.groups); i++ {
			for ahead := full; b.groups[i].has&ahead != 0; {
				bit := bits.TrailingZeros64(b.groups[i].has & ahead)
				slot := Slot(i<<6 | bit)
				data, _ := b.At(slot)
				if !yield(b.world.ids[slot], data) || b.world.generation != generation {
					return
				}
				ahead = ^uint64(1) << bit
			}
		}
	}
}
