package worldlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/evertick/evertick/internal/fault"
)

// Log is a log open for writing. Its methods may be called from any goroutine;
// a record belongs to the tick that the next Commit ends.
type Log struct {
	opt Options
	dir string
	id  Identity

	mu    sync.Mutex
	space sync.Cond // buf was taken, or err was set
	err   error     // why the log accepts nothing more

	enc            coder
	buf            []byte       // encoded and not yet taken by the writer; never grows
	ready          int          // so much of buf may be written
	committedBytes int          // so much of it ends with a commit
	ends           []segmentEnd // where in buf[:ready] segments end
	seg            struct {
		index, ticks uint64
		bytes        int64
	}
	open struct { // the tick that is not committed yet
		records uint64
		bytes   int
	}
	last    commit   // only with committed
	at      position // after it; offset 0: nothing is committed
	asks    []sumAsk // in the order of at
	refs    []snapshotRef
	syncNow bool // sync as soon as possible
	closing bool
	waiters []waiter
	// Calls of Sync are numbered from 1: those up to syncs wait for the writer,
	// which has answered those up to confirmed.
	syncs, confirmed uint64
	marked           uint64 // tick+1 that the file markName says on disk; 0: there is none
	stats            Stats

	committed, written, durable atomic.Uint64 // tick+1; 0: none

	wake   chan struct{} // for the writer; holds one call
	done   chan struct{} // closed when the writer has ended
	keeper *keeper
	lock   *dirLock

	close     sync.Once
	unlockErr error
}

// segmentEnd is the end of a segment within a buffer.
type segmentEnd struct {
	at    int
	next  header // Parent is filled in by the writer
	ticks uint64 // tick+1 of the last commit before it
}

// sumAsk asks the writer for the checkpoint after a commit.
type sumAsk struct {
	at    int // where in buf the commit ends; 0: it was taken
	pos   position
	reply chan checkpoint
}

// waiter is a call that waits until a tick is durable, or until the writer has
// confirmed a Sync.
type waiter struct {
	until uint64 // tick+1
	sync  uint64 // number of the Sync; 0: none
	reply chan error
}

// isDone reports whether w has what it waits for, while the writer runs.
func (l *Log) isDone(w *waiter) bool {
	if w.sync > 0 {
		return w.sync <= l.confirmed
	}
	return w.until <= l.durable.Load()
}

// result returns the answer for w once the writer has ended with err. A Sync needs the
// mark, which may be missing although the ticks are durable. It never succeeds on a
// log that is poisoned.
func (w *waiter) result(l *Log, err error) error {
	has := w.until <= l.durable.Load()
	if w.sync > 0 {
		has = w.until <= l.marked && !errors.Is(err, ErrPoisoned)
	}
	if has {
		return nil
	}
	return err
}

// Stats count what a log has done since it was opened.
type Stats struct {
	Ticks      uint64 // committed
	Records    uint64 // accepted by Append
	Bytes      uint64 // encoded, headers of segments left out
	Segments   uint64 // begun
	Syncs      uint64 // of the log's data
	Blocked    uint64 // calls of Append and Commit that waited for the disk
	BufferPeak int    // most bytes of a half of the buffer in use

	Snapshots     uint64 // on disk
	SnapshotErr   error  // the last failure; it does not stop the log
	SnapshotsBusy uint64 // refused with ErrBusy
	Retired       uint64 // segments archived or dropped
	Packed        uint64 // segments compressed
	PackErr       error  // the last failure; the segment stays as it was
}

// Create starts a log in dir, which is made if needed and must hold no log. With OS the log stays in that directory if
// the working directory or a symbolic link changes later. Snapshots and the mark of another
// one, whose segments were removed, are kept under names that end with ".cut", as by Recover.
// Errors wrap ErrRange, ErrLocked, fs.ErrExist, or are those of the file system.
func Create(dir string, id Identity, opt Options) (*Log, error) {
	if err := errors.Join(id.validate(), opt.Validate()); err != nil {
		return nil, err
	}
	opt = opt.withDefaults()
	if err := opt.FS.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("worldlog: %w", err)
	}
	dir = fixed(opt.FS, dir)
	lock, err := takeLock(&opt, dir)
	if err != nil {
		return nil, fmt.Errorf("worldlog: %w", err)
	}
	l := newLog(dir, id, opt, lock)
	w, err := l.create()
	if err != nil {
		return nil, fmt.Errorf("worldlog: %w", errors.Join(err, lock.Close()))
	}
	l.start(w)
	return l, nil
}

func newLog(dir string, id Identity, opt Options, lock *dirLock) *Log {
	l := &Log{opt: opt, dir: dir, id: id, lock: lock,
		buf: make([]byte, 0, opt.Buffer/2), wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.space.L = &l.mu
	l.keeper = newKeeper(l)
	return l
}

// create writes the first segment.
func (l *Log) create() (*writer, error) {
	files, err := listDir(l.opt.FS, l.dir)
	if err != nil {
		return nil, err
	}
	if len(files.segments) == 0 {
		err = files.complete(l.opt.FS, l.dir, 0)
	}
	if len(files.segments) > 0 {
		return nil, fmt.Errorf("%s holds a log: %w", l.dir, fs.ErrExist)
	}
	if err != nil {
		return nil, err
	}
	if err := l.moveAside(files); err != nil {
		return nil, err
	}
	h := header{id: l.id, first: l.id.FirstTick}
	h.seed()
	w := newWriter(l)
	if err := w.createSegment(h); err != nil {
		return nil, err
	}
	l.enc.crc = h.crc
	l.seg.bytes = h.size()
	return w, nil
}

// moveAside renames what is left of another log, before the first segment is there.
func (l *Log) moveAside(files listing) error {
	var left []string
	if files.mark {
		left = append(left, markName)
	}
	for _, tick := range files.snapshots {
		left = append(left, snapshotName(tick))
	}
	for _, name := range left {
		if _, err := moveAside(l.opt.FS, l.dir, files.cuts, name); err != nil {
			return err
		}
	}
	if len(left) == 0 {
		return nil
	}
	return l.opt.FS.SyncDir(l.dir)
}

func (l *Log) start(w *writer) {
	go w.run()
	go l.keeper.run()
}

// Append adds a record to the tick that the next Commit ends. r is not kept.
// Errors wrap ErrRange (a type that is not for Append, or too much data),
// ErrCapacity (data too large for the buffer, or a tick beyond MaxTick or
// MaxRecords): then nothing was changed; or they are why the log accepts nothing
// more: ErrFull, ErrPoisoned, ErrClosed.
func (l *Log) Append(r *Record) error {
	if r.Type == 0 || r.Type >= typeEnd || r.Type.own() {
		return fault.Field(ErrRange, "worldlog: Record.Type", r.Type)
	}
	if len(r.Data) > MaxData {
		return fault.Field(ErrRange, "worldlog: len(Record.Data)", len(r.Data))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.append(r)
}

func (l *Log) append(r *Record) error {
	need := maxOverhead + len(r.Data)
	if l.open.bytes+need > MaxTick-maxCommit {
		return l.tooLarge("bytes in a tick", l.open.bytes+need)
	}
	if l.open.records == MaxRecords {
		return l.tooLarge("records in a tick", MaxRecords+1)
	}
	if err := l.reserve(need); err != nil {
		return err
	}
	start := len(l.buf)
	l.buf = l.enc.append(l.buf, r)
	l.open.bytes += len(l.buf) - start
	l.open.records++
	l.stats.Records++
	return nil
}

func (l *Log) tooLarge(what string, n int) error {
	if l.err != nil {
		return l.err
	}
	return fault.Field(ErrCapacity, "worldlog: "+what, n)
}

// reserve makes room for need bytes in buf, by the policy Options.Full.
func (l *Log) reserve(need int) error {
	if l.err != nil {
		return l.err
	}
	if len(l.buf)+need <= cap(l.buf) {
		return nil
	}
	if need > cap(l.buf) {
		return fault.Field(ErrCapacity, "worldlog: Options.Buffer", l.opt.Buffer)
	}
	if l.opt.Full == Stop {
		l.stop(fmt.Errorf("worldlog: tick after %s: %w", tickText(l.committed.Load()), ErrFull))
		return l.err
	}
	l.stats.Blocked++
	for l.err == nil && len(l.buf)+need > cap(l.buf) {
		l.ready = len(l.buf) // the beginning of a tick may be written before its end
		signal(l.wake)
		l.space.Wait()
	}
	return l.err
}

// Commit ends a tick, with the hash of the state after it. Ticks rise, not
// necessarily by one. Errors wrap ErrRange (tick not above the last one, below
// Identity.FirstTick or above 2^63-1): then nothing was changed; or are those of
// Append that end the log.
func (l *Log) Commit(tick, hash uint64, counts Counts) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tick > maxTickNumber || tick < l.id.FirstTick || tick < l.committed.Load() {
		return fault.Field(ErrRange, "worldlog: tick after "+tickText(l.committed.Load()), tick)
	}
	if err := l.appendRefs(); err != nil {
		return err
	}
	if err := l.reserve(maxCommit); err != nil {
		return err
	}
	l.last = commit{tick: tick, hash: hash, records: l.open.records, counts: counts}
	if d := l.durable.Load(); d > 0 {
		l.last.lag = tick + 1 - d
	}
	start := len(l.buf)
	l.buf = l.enc.appendCommit(l.buf, &l.last)
	l.endTick(l.open.bytes + len(l.buf) - start)
	signal(l.wake)
	return nil
}

func (l *Log) endTick(bytes int) {
	l.ready, l.committedBytes = len(l.buf), len(l.buf)
	l.open.records, l.open.bytes = 0, 0
	l.stats.Ticks++
	l.stats.Bytes += uint64(bytes)
	l.stats.BufferPeak = max(l.stats.BufferPeak, len(l.buf))
	l.committed.Store(l.last.tick + 1)
	l.seg.bytes += int64(bytes)
	l.seg.ticks++
	l.at = position{segment: l.seg.index, offset: l.seg.bytes, segTicks: l.seg.ticks,
		ticks: l.at.ticks + 1, records: l.at.records + l.last.records, coder: l.enc}
	l.rotate()
}

// askSum asks for the checkpoint after the last commit; mu is held.
func (l *Log) askSum(job *snapshotJob) {
	if l.at.offset == 0 {
		return
	}
	job.at = make(chan checkpoint, 1)
	l.asks = append(l.asks, sumAsk{at: l.committedBytes, pos: l.at, reply: job.at})
	signal(l.wake)
}

// appendRefs adds the SnapshotRefs of the snapshots that are finished.
func (l *Log) appendRefs() error {
	for len(l.refs) > 0 {
		var data [maxRef]byte
		err := l.append(&Record{Type: SnapshotRef, Data: l.refs[0].append(data[:0])})
		if errors.Is(err, ErrCapacity) && l.err == nil {
			return nil // the tick is full; the next one has room
		}
		if err != nil {
			return err
		}
		l.refs = l.refs[:copy(l.refs, l.refs[1:])]
	}
	return nil
}

// rotate ends the segment if it is full.
func (l *Log) rotate() {
	full := l.seg.bytes >= l.opt.SegmentBytes || l.opt.SegmentTicks > 0 && l.seg.ticks >= l.opt.SegmentTicks
	if full && l.last.tick < maxTickNumber {
		l.ends = append(l.ends, segmentEnd{at: len(l.buf), next: l.nextSegment(l.last.tick + 1), ticks: l.last.tick + 1})
	}
}

// nextSegment makes what follows part of a new segment, and returns its header,
// but for the chain hash.
func (l *Log) nextSegment(first uint64) header {
	h := header{id: l.id, index: l.seg.index + 1, first: first, crc: l.enc.crc}
	l.seg.index, l.seg.ticks, l.seg.bytes = h.index, 0, h.size()
	l.enc.seq = 0
	return h
}

// signal puts a token into a channel that holds one, unless it is there already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// stop ends the log for err, unless it ended before; mu is held.
func (l *Log) stop(err error) {
	if l.err == nil {
		l.err = err
	}
	l.space.Broadcast()
}

// poison ends the log for an error of the disk, which replaces any other reason.
func (l *Log) poison(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	durable, committed, lost := l.durable.Load(), l.committed.Load(), ""
	if committed > durable {
		lost = fmt.Sprintf(", ticks %d to %d are not confirmed", max(durable, l.id.FirstTick), committed-1)
	}
	l.err = fmt.Errorf("worldlog: %s: %w after durable tick %s%s: %w", l.dir, ErrPoisoned, tickText(durable), lost, cause)
	l.space.Broadcast()
}

// CommittedTick returns the last tick that Commit accepted, before or after the
// log was opened, and whether there is one. It need not be on disk.
func (l *Log) CommittedTick() (uint64, bool) { return tickOf(l.committed.Load()) }

// WrittenTick returns the last tick that the operating system has taken: it
// survives the process, and not a power cut.
func (l *Log) WrittenTick() (uint64, bool) { return tickOf(l.written.Load()) }

// DurableTick returns the last tick that the disk has confirmed, together with all
// ticks before it.
func (l *Log) DurableTick() (uint64, bool) { return tickOf(l.durable.Load()) }

func tickOf(next uint64) (uint64, bool) { return next - min(next, 1), next > 0 }

func tickText(next uint64) string {
	if tick, ok := tickOf(next); ok {
		return fmt.Sprint(tick)
	}
	return "none"
}

// Identity returns what the log was created with.
func (l *Log) Identity() Identity { return l.id }

// Dir returns the directory of the log: for OS its absolute path, without symbolic links.
func (l *Log) Dir() string { return l.dir }

// Err returns why the log accepts nothing more, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Stats returns the counts so far.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// Sync returns once every tick committed before is durable, or with the error that
// ended the log. Like Close it also syncs the mark beside the log: from then on a log
// that lacks one of these ticks counts as damaged, also after a power cut. If there
// are new ticks, that is one sync more, for the first mark of a log two. WaitDurable
// does not wait for that.
func (l *Log) Sync() error {
	l.mu.Lock()
	l.syncs++
	return l.wait(context.Background(), waiter{until: l.committed.Load(), sync: l.syncs}, true)
}

// WaitDurable returns once tick is durable, with the error that ended the log
// before, or with ctx.Err(). It starts no sync by itself: see Durability.
func (l *Log) WaitDurable(ctx context.Context, tick uint64) error {
	return l.waitTicks(ctx, min(tick, maxTickNumber)+1, false)
}

func (l *Log) count(f func(*Stats)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.stats)
}

// waitTicks waits until so many ticks are durable; force syncs at once.
func (l *Log) waitTicks(ctx context.Context, until uint64, force bool) error {
	l.mu.Lock()
	return l.wait(ctx, waiter{until: until}, force)
}

// stopped reports whether the writer has ended, so that it answers no more.
func (l *Log) stopped() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// wait waits for w; mu is held, and wait unlocks it.
func (l *Log) wait(ctx context.Context, w waiter, force bool) error {
	if l.stopped() {
		defer l.mu.Unlock()
		return w.result(l, l.err)
	}
	if l.isDone(&w) {
		l.mu.Unlock()
		return nil
	}
	w.reply = make(chan error, 1)
	l.waiters = append(l.waiters, w)
	if force {
		l.syncNow = true
		signal(l.wake)
	}
	l.mu.Unlock()
	select {
	case err := <-w.reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reply answers the waiters that are done, or all of them if the log has ended;
// mu is held.
func (l *Log) reply(ended error) {
	kept := l.waiters[:0]
	for _, w := range l.waiters {
		switch {
		case ended != nil:
			w.reply <- w.result(l, ended)
		case l.isDone(&w):
			w.reply <- nil
		default:
			kept = append(kept, w)
		}
	}
	clear(l.waiters[len(kept):])
	l.waiters = kept
}

// Close makes all committed ticks durable, writes the mark as Sync does, finishes
// snapshots and compression under way, and unlocks the directory. Records after the
// last Commit are lost. It returns the error that ended the log before, if any; a
// second Close returns the same.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closing = true
	l.stop(fmt.Errorf("worldlog: %w", ErrClosed))
	l.mu.Unlock()
	signal(l.wake)
	<-l.done
	l.close.Do(func() {
		l.keeper.close()
		l.unlockErr = l.lock.Close()
	})
	if err := l.Err(); !errors.Is(err, ErrClosed) {
		return err
	}
	return l.unlockErr
}
