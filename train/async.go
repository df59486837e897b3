package train

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

// asyncStep is a step that runs beside the caller.
type asyncStep struct {
	pending bool          // from StepAsync to StepWait
	done    chan struct{} // the step has ended
	run     func()        // b.runAsync, bound once
	buf     *Buffers
	err     error
	panic   any
}

// StepAsync begins what Step does on a goroutine of its own, and returns at once. StepWait waits for it and returns
// its error. The results have the same bits as with Step. Until StepWait returns, the caller must neither
// read nor write the content of buf, and the batch refuses other calls with ErrStale; only Len, Config and Definition
// work, and Hash, AppendHashes and Episode, which return no error, panic. A second StepAsync is ErrStale. It
// allocates nothing after warm-up.
//
// With two batches the worlds of one are stepped while the caller reads the results of the other.
func (b *Batch) StepAsync(buf *Buffers) error {
	if err := b.idle("StepAsync"); err != nil {
		return err
	}
	a := &b.async
	if a.done == nil {
		a.done, a.run = make(chan struct{}, 1), b.runAsync
	}
	a.pending, a.buf = true, buf
	go a.run()
	return nil
}

// StepWait waits for the step that StepAsync has begun, and returns the error that Step would have returned; a panic of
// a world continues here. Without StepAsync before it, it is ErrStale.
func (b *Batch) StepWait() error {
	a := &b.async
	if !a.pending {
		return fmt.Errorf("train: StepWait without StepAsync before it: %w", fault.ErrStale)
	}
	<-a.done
	err, v := a.err, a.panic
	a.pending, a.buf, a.err, a.panic = false, nil, nil, nil
	if v != nil {
		panic(v)
	}
	return err
}

// StepDone reports whether StepWait would return at once: the step of StepAsync has ended.
func (b *Batch) StepDone() bool { return len(b.async.done) > 0 }

func (b *Batch) runAsync() {
	a := &b.async
	a.err = errInterrupted // stays if a world ends the goroutine
	defer func() {
		a.panic = recover()
		a.done <- struct{}{}
	}()
	a.err = b.step(a.buf)
}

// idle returns ErrStale while a step of StepAsync runs.
func (b *Batch) idle(call string) error {
	if b.async.pending {
		return fmt.Errorf("train: %s between StepAsync and StepWait: %w", call, fault.ErrStale)
	}
	return nil
}
