package worldlog

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"time"
)

// writer is the goroutine that writes the open segment.
type writer struct {
	l             *Log
	fs            FS
	file          File // nil: no segment is open
	head          header
	sum           hash.Hash    // of the open segment, for its chain hash
	next          *header      // begins with the next byte
	size          int64        // of the open segment
	committedSize int64        // of it, up to the end of a commit
	atCommit      *checkpoint  // the sum there, if bytes of the next tick were written since
	spare         []byte       // the half of the buffer that is not being filled
	ends          []segmentEnd // likewise
	ticks         uint64       // tick+1 of the last commit written

	mark     marker
	timer    *time.Timer
	timerSet bool
}

// batch is the data that the writer takes at once.
type batch struct {
	bytes            []byte
	ends             []segmentEnd
	asks             []sumAsk
	whole            int    // bytes up to the end of the last commit
	ticks            uint64 // tick+1 of that commit, or of an earlier one
	syncs            uint64 // calls of Sync that it answers
	syncNow, closing bool
}

func newWriter(l *Log) *writer {
	w := &writer{l: l, fs: l.opt.FS, sum: sha256.New(), spare: make([]byte, 0, l.opt.Buffer/2)}
	w.mark = marker{fs: w.fs, dir: l.dir}
	w.timer = time.NewTimer(time.Hour)
	w.timer.Stop()
	return w
}

func (w *writer) run() {
	err := errors.Join(w.loop(), w.closeFiles())
	w.timer.Stop()
	l := w.l
	if err != nil {
		l.poison(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reply(l.err)
	close(l.done)
}

func (w *writer) closeFiles() error {
	err := w.mark.close()
	if w.file != nil {
		err = errors.Join(w.file.Close(), err)
		w.file = nil
	}
	return err
}

func (w *writer) loop() error {
	for {
		due := false
		select {
		case <-w.l.wake:
		case <-w.timer.C:
			w.timerSet, due = false, true
		}
		b := w.swapBuffers()
		if err := w.write(b); err != nil {
			return err
		}
		if err := w.syncIfDue(due || b.syncNow || b.closing); err != nil {
			return err
		}
		if b.closing || b.syncs > w.l.confirmed { // only this goroutine changes confirmed
			if err := w.confirm(b.syncs); err != nil {
				return err
			}
		}
		if b.closing {
			return w.truncateTail()
		}
	}
}

// swapBuffers swaps the two halves of the buffer. The records since the last commit
// move to the new half.
func (w *writer) swapBuffers() batch {
	l := w.l
	l.mu.Lock()
	defer l.mu.Unlock()
	b := batch{ticks: w.ticks, syncs: l.syncs, syncNow: l.syncNow, closing: l.closing}
	l.syncNow = false
	b.asks, l.asks = l.asks, nil
	if l.ready == 0 {
		return b
	}
	b.bytes, b.ends, b.whole, b.ticks = l.buf[:l.ready], l.ends, l.committedBytes, l.committed.Load()
	rest := l.buf[l.ready:]
	l.buf, w.spare = append(w.spare[:0], rest...), l.buf[:0]
	l.ends, w.ends = w.ends[:0], l.ends[:0]
	l.ready, l.committedBytes = 0, 0
	l.space.Broadcast()
	return b
}

// write passes b to the operating system, segment by segment.
func (w *writer) write(b batch) error {
	from := 0
	for i := range b.ends {
		m := &b.ends[i]
		if err := w.writeUpTo(&b, &from, m.at); err != nil {
			return err
		}
		if err := w.closeSegment(m); err != nil {
			return err
		}
	}
	if err := w.writeUpTo(&b, &from, b.whole); err != nil {
		return err
	}
	if from < len(b.bytes) && w.atCommit == nil {
		c := w.checkpoint()
		w.atCommit = &c
	}
	if err := w.append(b.bytes[from:]); err != nil {
		return err
	}
	if b.whole > 0 {
		w.committedSize = w.size - int64(len(b.bytes)-b.whole)
		w.ticks = b.ticks
		w.l.written.Store(b.ticks)
	}
	return nil
}

// writeUpTo writes the bytes of b from *from to to, where a commit ends, and answers the requests for a checkpoint there.
func (w *writer) writeUpTo(b *batch, from *int, to int) error {
	for len(b.asks) > 0 && b.asks[0].at <= to {
		ask := b.asks[0]
		b.asks = b.asks[1:]
		if err := w.appendCommits(b.bytes[*from:ask.at]); err != nil {
			return err
		}
		*from = ask.at
		c := w.checkpoint()
		if w.atCommit != nil {
			c = *w.atCommit
		}
		if c.segment != ask.pos.segment || c.offset != ask.pos.offset {
			c = checkpoint{} // none is better than a wrong one
		} else if c.offset > 0 {
			c.position = ask.pos
		}
		ask.reply <- c
	}
	err := w.appendCommits(b.bytes[*from:to])
	*from = to
	return err
}

// appendCommits writes bytes that end with a commit.
func (w *writer) appendCommits(p []byte) error {
	if len(p) > 0 {
		w.atCommit = nil
	}
	return w.append(p)
}

// checkpoint returns segment, offset and sums of what was written.
func (w *writer) checkpoint() (c checkpoint) {
	c.segment, c.offset = w.head.index, w.size
	if !c.setSum(w.sum) {
		return checkpoint{}
	}
	return c
}

func (w *writer) append(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if w.next != nil {
		h := *w.next
		w.next = nil
		if err := w.createSegment(h); err != nil {
			return err
		}
	}
	if err := writeAll(w.file, p); err != nil {
		return err
	}
	w.sum.Write(p)
	w.size += int64(len(p))
	return nil
}

// closeSegment closes the open segment and keeps the header of the next one.
func (w *writer) closeSegment(m *segmentEnd) error {
	w.ticks = m.ticks
	w.l.written.Store(m.ticks)
	if err := w.sync(); err != nil {
		return err
	}
	if err := w.check(); err != nil {
		return err
	}
	err := w.file.Close()
	w.file = nil
	if err != nil {
		return err
	}
	w.l.keeper.pack(w.head.index)
	next := m.next
	w.sum.Sum(next.id.Parent[:0])
	w.next = &next
	return nil
}

// createSegment makes the segment of h, with only its header. Its name appears once the
// header is on disk, so no segment has a torn header.
func (w *writer) createSegment(h header) error {
	text := h.append(nil)
	name := segmentName(h.index)
	s, found, err := hasSegment(w.fs, w.l.dir, h.index)
	if err == nil && found {
		err = fmt.Errorf("%s: %w", s.name(), fs.ErrExist)
	}
	if err == nil {
		err = writeNew(w.fs, w.l.dir, name, func(f io.Writer) error { return writeAll(f, text) })
	}
	if err != nil {
		return err
	}
	w.file, err = w.fs.Append(join(w.l.dir, name), int64(len(text)))
	if err != nil {
		return err
	}
	w.head, w.size, w.committedSize = h, int64(len(text)), int64(len(text))
	w.sum.Reset()
	w.sum.Write(text)
	w.l.count(func(s *Stats) { s.Segments++ })
	return nil
}

// syncIfDue syncs if it is time, or sets the timer.
func (w *writer) syncIfDue(now bool) error {
	if w.ticks == w.l.durable.Load() {
		return nil
	}
	if now || w.l.opt.Durability == EveryTick {
		return w.sync()
	}
	if w.l.opt.Durability == Interval && !w.timerSet {
		w.timer.Reset(w.l.opt.Interval)
		w.timerSet = true
	}
	return nil
}

// sync makes durable what was written, and then reports it.
func (w *writer) sync() error {
	if w.timerSet {
		w.timer.Stop()
		w.timerSet = false
	}
	if w.file == nil || w.ticks == w.l.durable.Load() {
		return nil
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	if err := w.check(); err != nil { // after the sync: what a next writer has found contains it
		return err
	}
	onDisk, err := w.mark.write(w.ticks) // before anybody hears of it
	if err != nil {
		return err
	}
	l := w.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if onDisk {
		l.marked = w.ticks
	}
	l.durable.Store(w.ticks)
	l.stats.Syncs++
	l.reply(nil)
	return nil
}

// check returns an error if the lock was lost, or the open segment was removed or replaced.
func (w *writer) check() error {
	lock, name := w.l.lock.check(), w.checkName()
	if lock != nil && name != nil {
		return fmt.Errorf("%w; %w", lock, name)
	}
	return cmp.Or(lock, name)
}

// checkName returns an error if the open segment was removed or replaced: data
// written to it would be lost.
func (w *writer) checkName() error {
	if w.file == nil {
		return nil
	}
	name := segmentName(w.head.index)
	has, err := hasName(w.file, join(w.l.dir, name))
	if err == nil && !has {
		err = fmt.Errorf("%s was removed or replaced while it was being written: %w", name, fs.ErrNotExist)
	}
	return err
}

// hasName reports whether name leads to f. It is true of a File without that method.
func hasName(f File, name string) (bool, error) {
	if f, ok := f.(named); ok {
		return f.HasName(name)
	}
	return true, nil
}

// confirm answers the calls of Sync up to number asked, once all that was written is
// durable, and so is the mark.
func (w *writer) confirm(asked uint64) error {
	if err := w.check(); err != nil {
		return err
	}
	marked := w.l.marked // only this goroutine changes marked
	if w.ticks > marked {
		if err := w.mark.sync(w.ticks); err != nil {
			return err
		}
		marked = w.ticks
	}
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	w.l.confirmed, w.l.marked = asked, marked
	w.l.reply(nil)
	return nil
}

// truncateTail cuts the beginning of a tick that has no commit off the open segment.
func (w *writer) truncateTail() error {
	if w.file == nil || w.size == w.committedSize {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	if err != nil {
		return err
	}
	w.file, err = w.fs.Append(join(w.l.dir, segmentName(w.head.index)), w.committedSize)
	if err != nil {
		return err
	}
	return w.file.Sync()
}
