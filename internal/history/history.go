// Package history keeps snapshots of past ticks, and what came from outside in the ticks since the oldest, within a
// number of bytes. It does not know what a snapshot holds.
package history

import "unsafe"

// Config is evertick.HistoryConfig with its defaults.
type Config struct {
	Keep, Every int
	Bytes       int64
}

// Log is what a tick got from outside.
type Log struct {
	Data  []byte // what arrived before the tick, or was fed to it; then what arrived while it ran
	Split int    // where that which arrived while it ran begins in Data
	Fed   bool
	Hash  uint64 // of the state after it
}

// size is the memory that the log takes.
func (l *Log) size() int64 { return int64(unsafe.Sizeof(*l)) + int64(cap(l.Data)) }

// Aside is what arrived before a tick from which the history went back.
type Aside struct {
	Tick uint64
	Data []byte
}

// checkpoint is a snapshot.
type checkpoint struct {
	tick uint64 // the tick that runs next from here
	data []byte
}

// Store holds the checkpoints and the logs of the ticks since the oldest. The ticks of the logs follow each other; after a
// step back the last of them are undone.
type Store struct {
	Config
	Aside  []Aside // what arrived before later ticks, ascending; all are later than the tick that runs next
	Backup []byte  // the state before a step back

	checkpoints []checkpoint // ascending
	log         []Log
	first       uint64 // tick of log[0]
	logBytes    int64  // of the log since the last checkpoint

	spareCheckpoints, spareLogs [][]byte
}

// On reports whether there is a history.
func (h *Store) On() bool { return h.Keep > 0 }

// Empty reports whether there is no checkpoint.
func (h *Store) Empty() bool { return len(h.checkpoints) == 0 }

// Size returns the memory that the history takes.
func (h *Store) Size() int64 {
	n := int64(cap(h.Backup))
	for i := range h.Aside {
		n += int64(cap(h.Aside[i].Data))
	}
	for _, spares := range [...][][]byte{h.spareCheckpoints, h.spareLogs} {
		for _, b := range spares {
			n += int64(cap(b))
		}
	}
	for i := range h.checkpoints {
		n += int64(cap(h.checkpoints[i].data))
	}
	for i := range h.log {
		n += h.log[i].size()
	}
	return n
}

// Oldest returns the tick of the oldest checkpoint, or now if there is none.
func (h *Store) Oldest(now uint64) uint64 {
	if h.Empty() {
		return now
	}
	return h.checkpoints[0].tick
}

// end is the tick after the last one of the log.
func (h *Store) end() uint64 { return h.first + uint64(len(h.log)) }

// Undone is the number of ticks that were undone.
func (h *Store) Undone(now uint64) uint64 {
	if end := h.end(); len(h.log) > 0 && now < end {
		return end - now
	}
	return 0
}

// LogOf returns the log of a tick.
func (h *Store) LogOf(tick uint64) *Log { return &h.log[tick-h.first] }

// SnapshotBefore returns the latest snapshot that is not later than a tick. There always is one.
func (h *Store) SnapshotBefore(tick uint64) []byte {
	i := len(h.checkpoints) - 1
	for h.checkpoints[i].tick > tick {
		i--
	}
	return h.checkpoints[i].data
}

// DropUndone drops the ticks that were undone, and what was set aside for later ones.
func (h *Store) DropUndone(now uint64) {
	if h.Undone(now) == 0 && len(h.Aside) == 0 {
		return
	}
	for h.end() > now {
		last := len(h.log) - 1
		h.spareLogs = append(h.spareLogs, h.log[last].Data)
		h.log = h.log[:last]
	}
	for n := len(h.checkpoints); n > 0 && h.checkpoints[n-1].tick > now; n-- {
		h.spareCheckpoints = append(h.spareCheckpoints, h.checkpoints[n-1].data)
		h.checkpoints = h.checkpoints[:n-1]
	}
	h.Aside, h.logBytes = nil, 0
	for i := h.checkpoints[len(h.checkpoints)-1].tick - h.first; i < uint64(len(h.log)); i++ {
		h.logBytes += h.log[i].size()
	}
}

// Begin makes now the tick of the first log, before the first checkpoint.
func (h *Store) Begin(now uint64) { h.first, h.log = now, h.log[:0] }

// NewLog returns the log of a tick with memory that is free again.
func (h *Store) NewLog(hash uint64) Log { return Log{Hash: hash, Data: Pop(&h.spareLogs)} }

// Append adds the log of the tick before now, and reports whether a checkpoint is due.
func (h *Store) Append(log Log, now uint64) bool {
	h.log = append(h.log, log)
	h.logBytes += log.size()
	return now-h.checkpoints[len(h.checkpoints)-1].tick >= uint64(h.Every) || h.logBytes > h.Bytes/4
}

// SpareSnapshot returns memory for the next checkpoint; it may be nil.
func (h *Store) SpareSnapshot() []byte { return Pop(&h.spareCheckpoints) }

// AddCheckpoint adds a snapshot, and drops the oldest if there are too many.
func (h *Store) AddCheckpoint(now uint64, snapshot []byte) {
	h.checkpoints, h.logBytes = append(h.checkpoints, checkpoint{now, snapshot}), 0
	for len(h.checkpoints) > h.Keep {
		h.dropOldest()
	}
	for h.Size() > h.Bytes && len(h.checkpoints) > 1 {
		h.dropOldest()
		h.spareCheckpoints, h.spareLogs = nil, nil
	}
}

// Clear drops everything.
func (h *Store) Clear() {
	for !h.Empty() {
		h.dropOldest()
	}
	h.Aside = nil
}

// dropOldest drops the oldest checkpoint and the ticks up to the next.
func (h *Store) dropOldest() {
	h.spareCheckpoints = append(h.spareCheckpoints, h.checkpoints[0].data)
	n := copy(h.checkpoints, h.checkpoints[1:])
	h.checkpoints[n] = checkpoint{}
	h.checkpoints = h.checkpoints[:n]
	dropped := len(h.log)
	if n > 0 {
		dropped = int(h.checkpoints[0].tick - h.first)
		h.first = h.checkpoints[0].tick
	}
	for i := range dropped {
		h.spareLogs = append(h.spareLogs, h.log[i].Data)
	}
	left := copy(h.log, h.log[dropped:])
	clear(h.log[left:])
	h.log = h.log[:left]
}

// Pop removes and returns the last slice, emptied; nil if there is none.
func Pop(list *[][]byte) []byte {
	n := len(*list)
	if n == 0 {
		return nil
	}
	b := (*list)[n-1][:0]
	*list = (*list)[:n-1]
	return b
}
