package loop

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/evertick/evertick/internal/fault"
)

var (
	// ErrFull is wrapped by the errors of [Queue] that refuse an entry because there is no room. It
	// wraps ErrCapacity of the other packages.
	ErrFull = fmt.Errorf("queue full: %w", fault.ErrCapacity)
	// ErrShare is wrapped by the errors of [Queue] that refuse an entry because its source has used
	// its share of the room. It wraps ErrFull.
	ErrShare = fmt.Errorf("share of the source used up: %w", ErrFull)
	// ErrDuplicate is wrapped by the errors of [Queue] that refuse an entry
	// because one of the same Source and Seq waits already.
	ErrDuplicate = errors.New("source and sequence number wait already")
)

const (
	defaultQueueCapacity = 4096
	queueLimit           = 1 << 30
)

// Entry is what a Queue holds: a value that takes effect at a tick.
type Entry[T any] struct {
	// Tick is the earliest tick that the entry is for. 0: the next one, so that the entry is never late.
	Tick uint64
	// Source is the sender: a player, a connection, a module.
	Source uint32
	// Seq numbers what a source pushes. Numbers may have gaps.
	Seq   uint64
	Value T
}

// before is the order of a queue: by Tick, then Source, then Seq.
func (e *Entry[T]) before(o *Entry[T]) bool {
	if e.Tick != o.Tick {
		return e.Tick < o.Tick
	}
	if e.Source != o.Source {
		return e.Source < o.Source
	}
	return e.Seq < o.Seq
}

// QueueConfig describes a Queue. The zero value means 4096 entries of any size.
type QueueConfig[T any] struct {
	// Capacity is the most entries that wait at once, from 1 to 1<<30.
	// 0 means 4096. Memory is taken as it is needed.
	Capacity int
	// MaxBytes is the most that the sizes of the waiting entries add up to,
	// by Size. 0 means math.MaxInt64; it needs Size.
	MaxBytes int64
	// PerSource is the most entries of one source that wait at once, from 1 to 1<<30, also if the
	// share of the source is larger. 0 means 1<<30.
	PerSource int
	// PerSourceBytes is the most that the sizes of the waiting entries of one source add up to. 0
	// means math.MaxInt64; it needs Size.
	PerSourceBytes int64
	// Size returns what a value counts against MaxBytes, not negative. It is called once for each
	// Push and for each entry of Restore. It must not call the queue, and several goroutines may
	// call it at once. nil: values count nothing.
	Size func(T) int
}

// Validate returns nil if NewQueue accepts c, and otherwise one error that joins
// all faults. Each names the field and its value and wraps ErrRange.
func (c QueueConfig[T]) Validate() error {
	var faults []error
	if c.Capacity < 0 || c.Capacity > queueLimit {
		faults = append(faults, fault.Field(ErrRange, "loop: QueueConfig.Capacity", c.Capacity))
	}
	if c.MaxBytes < 0 || c.MaxBytes > 0 && c.Size == nil {
		faults = append(faults, fault.Field(ErrRange, "loop: QueueConfig.MaxBytes", c.MaxBytes))
	}
	if c.PerSource < 0 || c.PerSource > queueLimit {
		faults = append(faults, fault.Field(ErrRange, "loop: QueueConfig.PerSource", c.PerSource))
	}
	if c.PerSourceBytes < 0 || c.PerSourceBytes > 0 && c.Size == nil {
		faults = append(faults, fault.Field(ErrRange, "loop: QueueConfig.PerSourceBytes", c.PerSourceBytes))
	}
	return errors.Join(faults...)
}

// Queue holds entries until their tick: any goroutine pushes, the simulation
// takes what is due. What comes out of it is ordered by (Tick, Source, Seq),
// so it depends on which entries had arrived when a tick began, and not on the
// order of their arrival.
//
// Among the waiting entries a pair of Source and Seq occurs once: a second one
// is refused with ErrDuplicate, whatever its tick and value, and the first one
// stays. The queue does not remember the pairs that Due has taken out; a program
// that must recognise a late repetition keeps the last number of each source.
//
// No source can take all of the room. The share of each source is three times the room that is left,
// so it shrinks as the queue fills. A push is refused with ErrShare if its source has n entries
// waiting and n is at least 3 × (Capacity − the entries of all sources). So a source alone gets three
// quarters of Capacity. Several sources that push without end, and equally fast, get equal parts and
// leave some room. A source with nothing waiting is refused only if no room is left. Network switches
// divide a common buffer in the same way, by "dynamic thresholds" (Choudhury and Hahne, 1998).
//
// The bytes are shared in the same way, except that the size of the new value counts as well, since it
// may be large: a push is refused if its source would then have more than three times the bytes that
// are left. A value of size 0 is not refused, nor is the first value of a source, of any size. To keep
// one value from taking all bytes, set PerSourceBytes.
//
// A push costs time logarithmic in the number of waiting entries, and linear
// only if sources choose their numbers so that they collide. Nothing allocates
// unless the queue holds more than ever before.
type Queue[T any] struct {
	capacity  int
	maxBytes  int64
	size      func(T) int
	tooMany   error // built once: refusals can be many and must not allocate
	tooLarge  error // likewise
	tooLong   *fault.Limit
	most      holding // PerSource and PerSourceBytes
	mu        sync.Mutex
	waiting   entryHeap[T]
	restoring entryHeap[T] // where Restore builds before it commits
	stats     QueueStats
	shares    fault.SourceLimits
}

// The limits for a source, as fault.SourceLimit.Which numbers them.
const (
	shareOfCapacity = iota
	shareOfBytes
	perSource
	perSourceBytes
)

// shareOfFree is the share of a source, as a multiple of the room that is left.
const shareOfFree = 3

// QueueStats are counts since NewQueue, and the most that ever waited.
type QueueStats struct {
	Pushed         uint64 // accepted
	Full           uint64 // refused with ErrFull
	Share          uint64 // of the ones in Full, those that were refused with ErrShare
	Duplicate      uint64 // refused with ErrDuplicate
	Late           uint64 // taken at a tick after their own, other than 0
	HighWater      int    // most entries that waited at once
	HighWaterBytes int64  // most that their sizes added up to
}

// NewQueue returns an empty queue. Its error is that of QueueConfig.Validate.
func NewQueue[T any](c QueueConfig[T]) (*Queue[T], error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	q := &Queue[T]{capacity: cmp.Or(c.Capacity, defaultQueueCapacity), maxBytes: cmp.Or(c.MaxBytes, math.MaxInt64), size: c.Size}
	q.tooMany = fault.Field(ErrFull, "loop: QueueConfig.Capacity", q.capacity)
	q.tooLarge = fault.Field(ErrFull, "loop: QueueConfig.MaxBytes", q.maxBytes)
	q.tooLong = &fault.Limit{Field: "loop: QueueConfig.MaxBytes", Value: "a value", Most: q.maxBytes, Err: ErrFull}
	q.most = holding{cmp.Or(c.PerSource, queueLimit), cmp.Or(c.PerSourceBytes, math.MaxInt64)}
	q.shares.Limits = [...]fault.Limit{
		shareOfCapacity: {Field: "loop: QueueConfig.Capacity", Most: int64(q.capacity), Err: ErrShare},
		shareOfBytes:    {Field: "loop: QueueConfig.MaxBytes", Most: q.maxBytes, Err: ErrShare},
		perSource:       {Field: "loop: QueueConfig.PerSource", Most: int64(q.most.entries), Err: ErrShare},
		perSourceBytes:  {Field: "loop: QueueConfig.PerSourceBytes", Most: q.most.bytes, Err: ErrShare},
	}
	return q, nil
}

// Push adds e, from any goroutine. It keeps e.Value as it is: what e.Value points to must not
// change until it has been taken. If there is no room for e the error wraps ErrFull and names the
// capacity; for a value that is larger than MaxBytes and would never fit, it also names the size.
// If the source has used its share the error wraps ErrShare, and names the source and the limit.
// If its Source and Seq wait already the error wraps ErrDuplicate. After an error only the counts
// have changed.
func (q *Queue[T]) Push(e Entry[T]) error {
	size := q.sizeOf(e.Value)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.check(&q.waiting, &e, size); err != nil {
		q.countRefusal(err)
		return err
	}
	has := q.waiting.sources.add(e.Source, 0)
	if err := q.checkShare(has, e.Source, size); err != nil {
		if has.entries == 0 {
			q.waiting.sources.remove(e.Source, 0)
		}
		q.countRefusal(err)
		return err
	}
	q.waiting.push(sizedEntry[T]{e, size}, has)
	q.stats.Pushed++
	q.updateHighWater()
	return nil
}

// countRefusal counts a push that err has refused.
func (q *Queue[T]) countRefusal(err error) {
	if !errors.Is(err, ErrFull) {
		q.stats.Duplicate++
		return
	}
	q.stats.Full++
	if errors.Is(err, ErrShare) {
		q.stats.Share++
	}
}

// sizeOf asks for the size of a value.
func (q *Queue[T]) sizeOf(v T) int64 {
	if q.capacity == 0 {
		panic("loop: Queue not made by NewQueue")
	}
	if q.size == nil {
		return 0
	}
	n := q.size(v)
	if n < 0 {
		panic("loop: QueueConfig.Size: negative size")
	}
	return int64(n)
}

// check returns an error if e cannot be added to w within the limits that do not depend on its
// source. A repetition is ErrDuplicate also when the queue is full, so that its source learns that
// the first one has arrived.
func (q *Queue[T]) check(w *entryHeap[T], e *Entry[T], size int64) error {
	switch {
	case w.keys.has(e.Source, e.Seq):
		return &duplicate{e.Source, e.Seq}
	case len(w.heap) >= q.capacity:
		return q.tooMany
	case size > q.maxBytes:
		return q.tooLong.Exceeded(size)
	case size > q.maxBytes-w.bytes:
		return q.tooLarge
	}
	return nil
}

// checkShare returns an error if a source that has so much waiting has used up its share. n ≥ 3 ×
// free is written as n / 3 ≥ free, and n > 3 × free as (n - 1) / 3 ≥ free, which cannot overflow.
func (q *Queue[T]) checkShare(has *holding, source uint32, size int64) error {
	which := 0
	switch {
	case has.entries/shareOfFree >= q.capacity-len(q.waiting.heap):
		which = shareOfCapacity
	case has.entries >= q.most.entries:
		which = perSource
	case size > 0 && has.bytes > 0 && (has.bytes+size-1)/shareOfFree >= q.maxBytes-q.waiting.bytes-size:
		which = shareOfBytes
	case size > q.most.bytes-has.bytes:
		which = perSourceBytes
	default:
		return nil
	}
	return q.shares.Of(which, source)
}

// duplicate is the error of a repetition. It takes one small allocation: such errors can be many,
// and are made while the queue is locked.
type duplicate struct {
	source uint32
	seq    uint64
}

func (d *duplicate) Error() string {
	return fmt.Sprintf("loop: Queue: source %d, seq %d: %v", d.source, d.seq, ErrDuplicate)
}

func (d *duplicate) Unwrap() error { return ErrDuplicate }

// updateHighWater keeps the high-water marks.
func (q *Queue[T]) updateHighWater() {
	q.stats.HighWater = max(q.stats.HighWater, len(q.waiting.heap))
	q.stats.HighWaterBytes = max(q.stats.HighWaterBytes, q.waiting.bytes)
}

// Due takes the entries with Tick <= tick out of the queue and appends them to
// dst, ordered by (Tick, Source, Seq). Entries of earlier ticks come first, keep
// the Tick that they were pushed for, and are counted as late if it is not 0.
func (q *Queue[T]) Due(tick uint64, dst []Entry[T]) []Entry[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting.heap) > 0 && q.waiting.heap[0].Tick <= tick {
		e := q.waiting.pop()
		if 0 < e.Tick && e.Tick < tick {
			q.stats.Late++
		}
		dst = append(dst, e)
	}
	return dst
}

// AppendWaiting appends to dst what waits, in the order of Due, and leaves it in
// the queue: for a snapshot, which Restore puts back.
func (q *Queue[T]) AppendWaiting(dst []Entry[T]) []Entry[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	begin := len(dst)
	for i := range q.waiting.heap {
		dst = append(dst, q.waiting.heap[i].Entry)
	}
	slices.SortFunc(dst[begin:], func(a, b Entry[T]) int {
		return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Seq, b.Seq))
	})
	return dst
}

// Restore replaces what waits by entries, in any order. If they exceed a limit
// or contain a pair of Source and Seq twice, the error is that of Push and the
// queue is as it was. Shares do not matter: what was accepted once stays accepted. Only the
// high-water marks are counted.
func (q *Queue[T]) Restore(entries []Entry[T]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.restoring.clear()
	for _, e := range entries {
		size := q.sizeOf(e.Value)
		if err := q.check(&q.restoring, &e, size); err != nil {
			q.restoring.clear()
			return err
		}
		q.restoring.push(sizedEntry[T]{e, size}, q.restoring.sources.add(e.Source, 0))
	}
	q.waiting, q.restoring = q.restoring, q.waiting
	q.restoring.clear()
	q.updateHighWater()
	return nil
}

// Len returns the number of entries that wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting.heap)
}

// Bytes returns the sum of the sizes of what waits, 0 without a Size.
func (q *Queue[T]) Bytes() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting.bytes
}

// Stats returns the counts.
func (q *Queue[T]) Stats() QueueStats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stats
}

// sizedEntry is an entry with the size that it had when it was pushed.
type sizedEntry[T any] struct {
	Entry[T]
	size int64
}

// entryHeap is a binary heap, the first entry in front, and the set of its pairs
// of Source and Seq, and what each source has in it.
type entryHeap[T any] struct {
	heap    []sizedEntry[T]
	keys    keyTable[struct{}]
	sources keyTable[holding] // by Source, with Seq 0
	bytes   int64
}

// holding is what the entries of one source add up to.
type holding struct {
	entries int
	bytes   int64
}

func (w *entryHeap[T]) clear() {
	clear(w.heap) // lets go of what the values point to
	w.heap = w.heap[:0]
	w.keys.clear()
	w.sources.clear()
	w.bytes = 0
}

// push adds an entry whose key is not there yet, and adds it to the sums of its source.
func (w *entryHeap[T]) push(e sizedEntry[T], has *holding) {
	w.keys.add(e.Source, e.Seq)
	has.entries++
	has.bytes += e.size
	w.bytes += e.size
	w.heap = append(w.heap, e)
	h := w.heap
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&h[parent].Entry) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// pop takes the first entry of a heap that is not empty.
func (w *entryHeap[T]) pop() Entry[T] {
	h := w.heap
	first, last := h[0], h[len(h)-1]
	h[len(h)-1] = sizedEntry[T]{} // lets go of what the value points to
	w.heap = h[:len(h)-1]
	if len(w.heap) > 0 {
		w.siftDown(last)
	}
	w.keys.remove(first.Source, first.Seq)
	w.take(first.Source, first.size)
	return first.Entry
}

// take removes one entry of a source from the sums.
func (w *entryHeap[T]) take(source uint32, size int64) {
	w.bytes -= size
	i := w.sources.find(source, 0)
	has := &w.sources.slots[i].value
	has.entries--
	has.bytes -= size
	if has.entries == 0 {
		w.sources.removeAt(i)
	}
}

// siftDown replaces the first entry by e, and moves e down to its place.
func (w *entryHeap[T]) siftDown(e sizedEntry[T]) {
	h, i := w.heap, 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(&h[child].Entry) {
			child++
		}
		if !h[child].before(&e.Entry) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = e
}
