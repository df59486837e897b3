package jetstream

import (
	"context"
	"errors"
	"time"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
)

// TakeOver makes the Sim of the Follower the master: it runs what the stream has, begins a new term, from which on no older
// master can write to the stream, and ships from there. The Recorder writes the log in FollowConfig.Dir. Name, Key and Claim of
// the ShipConfig are ignored. The Sim takes inputs from Push from now on; Step it like any other. The Follower must not
// be used any more. Like Ship it must be called on the goroutine that steps the Sim, and ctx bounds the Shipper too.
//
// If another follower takes over meanwhile, that is a *FencedError, and the Follower can go on. Without FollowConfig.Dir it is ErrRange.
// Other errors are those of Step and Ship.
func (f *Follower) TakeOver(ctx context.Context, c ShipConfig) (*replay.Recorder, *Shipper, error) {
	if f.c.Dir != "" {
		if err := f.catchUp(ctx); err != nil {
			return nil, nil, err
		}
	}
	before := f.term
	for {
		rec, s, err := f.takeOver(ctx, c)
		if err != errMoved {
			return rec, s, err
		}
		if err := f.catchUp(ctx); err != nil {
			return nil, nil, err
		}
		if f.term > before {
			return nil, nil, &FencedError{Term: before, By: f.term, From: 1}
		}
	}
}

// catchUp runs what the stream has now.
func (f *Follower) catchUp(ctx context.Context) error {
	if f.taken {
		return errTaken
	}
	e, err := f.end(ctx)
	if err != nil {
		return err
	}
	for {
		for len(f.queue) > 0 {
			if err := f.apply(); err != nil {
				return err
			}
		}
		if e.seq <= f.seq {
			return nil
		}
		if err := f.takeNext(ctx); err != nil {
			return err
		}
	}
}

// takeOver tries once. errMoved: the stream has more messages.
func (f *Follower) takeOver(ctx context.Context, c ShipConfig) (*replay.Recorder, *Shipper, error) {
	if f.c.Dir == "" {
		return nil, nil, fault.Field(ErrRange, "jetstream: TakeOver: FollowConfig.Dir", f.c.Dir)
	}
	if len(f.queue) > 0 || !f.placed || f.own() < f.next {
		return nil, nil, errMoved
	}
	c.Name, c.Key = f.name[len(streamPrefix):], f.c.Key
	s, err := newShipper(f.nc, f.f.Log(), c)
	if err != nil {
		return nil, nil, err
	}
	s.stream, s.next, s.sum = f.stream, f.next, f.sum
	if s.in, err = f.atStream(); err != nil {
		return nil, nil, err
	}
	if err := s.claim(ctx, f.seq, f.term+1); err != nil {
		s.in.reader.Close() // nothing was read that this could harm
		return nil, nil, err
	}
	rec, err := f.f.TakeOver()
	if err != nil {
		return nil, nil, err
	}
	f.taken = true
	s.start(ctx, rec.Sim())
	return rec, s, f.Close()
}

// atStream reads the own log from where the stream ends, which may have lost ticks that the Sim has run.
func (f *Follower) atStream() (*summer, error) {
	if f.own() == f.next {
		return summerAt(f.c.Dir, f.sums, f.next, f.sum)
	}
	in, err := newSummer(f.c.Dir, f.sums)
	if err != nil {
		return nil, err
	}
	switch err = in.seek(f.next); {
	case err == nil && in.next < f.next: // it is being written
		err = errMoved
	case err == nil && in.sum != f.sum:
		err = &BranchedError{Dir: f.c.Dir, Local: f.own(), Stream: f.next}
	}
	if err != nil {
		in.reader.Close()
		return nil, err
	}
	return in, nil
}

// defaultSilence is the silence of Standby.
const defaultSilence = 2 * time.Second

// Standby follows until the master has given no sign of life for the time silence, 0: 2 s, and then takes over: see
// TakeOver. Time during which the server gave no answer does not count. Of several one takes over, and the
// others go on following. Choose a silence of several ShipConfig.Beat. Errors are those of Step; ctx.Err() if ctx ends before; and those of TakeOver
// but FencedError.
func (f *Follower) Standby(ctx context.Context, silence time.Duration, c ShipConfig) (*replay.Recorder, *Shipper, error) {
	if silence < 0 {
		return nil, nil, fault.Field(ErrRange, "jetstream: Standby: silence", silence)
	}
	if silence == 0 {
		silence = defaultSilence
	}
	if f.c.Dir == "" {
		return nil, nil, fault.Field(ErrRange, "jetstream: Standby: FollowConfig.Dir", f.c.Dir)
	}
	f.touch()
	for {
		step, cancel := context.WithTimeout(ctx, askEvery+silence/4)
		err := f.Step(step)
		cancel()
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			return nil, nil, err
		}
		if !f.silent(silence) {
			continue
		}
		rec, s, err := f.takeOver(ctx, c)
		if err != errMoved {
			return rec, s, err
		}
		f.touch()
	}
}

// silent reports whether the Sim has run all that there is, and nobody has been heard for a time.
func (f *Follower) silent(d time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ran() && time.Since(f.life) > d
}
