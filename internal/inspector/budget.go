package inspector

import (
	"fmt"

	"github.com/evertick/evertick"
)

// What safe points read of a Sim is counted in bytes, not in time, so that it is the same on every machine: bytes that are copied,
// and for other work the bytes that could be copied in its time.
const (
	// copyRate bounds the bytes in a second: a twentieth of a core that copies 5 GB/s.
	copyRate = 256 << 20
	// copyBurst bounds those of one safe point, at 60 a second: a millisecond. The last piece of work may exceed it, once: later safe
	// points then do nothing until the rate has made up for it.
	copyBurst = copyRate / 60
	// jobBytes is what any job costs, and formatted what a byte of an answer costs that is written at a safe point.
	jobBytes, formatted = 16 << 10, 32
	// drawn is what a byte of a drawing costs, which is computed from bodies and shapes.
	drawn = 4
	// maxCopies bounds the copies that are made or read at a time: one is read while the next one is made.
	maxCopies = 2
)

// point is a safe point in which work is done.
type point struct {
	sim    *evertick.Sim
	hub    *hub
	copied *stateCopy // nil: nothing is copied yet
	cost   int64      // bytes, of the piece of work

	// What a job that copies sets besides its result:
	more    bool   // it goes on at the next safe point, by another call
	release func() // what it has copied for itself; nil: nothing
}

// copy returns the copy of this safe point, which its requests share.
func (p *point) copy() *stateCopy {
	if p.copied == nil {
		p.hub.hold()
		p.copied = newStateCopy(p.sim)
	}
	return p.copied
}

// bytes returns what the copy has taken so far.
func (p *point) bytes() int64 {
	if p.copied == nil {
		return 0
	}
	return int64(p.copied.bytes)
}

// left reports whether the piece of work is within the budget so far.
func (p *point) left() bool { return p.hub.unbounded || p.cost < p.hub.credit }

// hold counts a copy.
func (h *hub) hold() {
	h.mu.Lock()
	h.copies++
	h.mu.Unlock()
}

// drop ends one use of a copy.
func (h *hub) drop(c *stateCopy) {
	h.mu.Lock()
	c.users--
	last := c.users == 0
	h.mu.Unlock()
	if last {
		c.release()
		h.unhold()
	}
}

// unhold ends a copy, and wakes the goroutine of a subject for those that wait to copy.
func (h *hub) unhold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.copies--; h.waits() {
		h.signal()
	}
}

// work serves what waits, within the budget: in turns a job that reads little, one that copies, and a picture. It reports whether
// there was a picture.
func (h *hub) work(sim *evertick.Sim, now int64) (captured bool) {
	const longest = int64(10e9) // makes up for everything, and does not overflow
	h.credit += min(now-h.creditAt, longest) * copyRate / 1e9
	h.credit, h.creditAt = min(h.credit, copyBurst), now
	p := &point{sim: sim, hub: h}
	all := int64(0)
	for idle := 0; idle < 3 && (h.credit > 0 || h.unbounded); h.turn = (h.turn + 1) % 3 {
		p.cost = 0
		done := false
		if h.turn < 2 {
			done = h.serve(p, h.turn)
		} else if v := h.nextView(now); v != nil {
			p.cost = h.capture(sim, v)
			done, captured = true, true
		}
		if idle++; done {
			idle = 0
		}
		h.credit -= p.cost
		all += p.cost
	}
	h.mu.Lock()
	h.inspected += uint64(all)
	h.mu.Unlock()
	if c := p.copied; c != nil {
		c.sim = nil
		h.drop(c)
	}
	return captured
}

// serve runs the next job of a kind. It reports false if none can run.
func (h *hub) serve(p *point, kind int) bool {
	j := h.take(p, kind)
	if j == nil {
		return false
	}
	if kind == 0 {
		h.read(p, j)
	} else {
		h.copyFor(p, j)
	}
	p.cost += jobBytes
	return true
}

// take takes the next job of a kind, nil if none can run. A job that goes on is next: others of its kind wait for it.
func (h *hub) take(p *point, kind int) *job {
	h.mu.Lock()
	defer h.mu.Unlock()
	if kind == 1 && h.going != nil {
		h.going.taken = true
		return h.going
	}
	if kind == 1 && p.copied == nil && h.copies >= maxCopies {
		return nil
	}
	j, ok := h.waiting[kind].next()
	if !ok {
		return nil
	}
	j.taken = true
	h.waiting[kind].remove(j) // from the lines of other clients
	if h.byKey[j.key] == j {
		delete(h.byKey, j.key)
	}
	return j
}

// read runs a job that reads little.
func (h *hub) read(p *point, j *job) {
	body, err := guardedBody(j.key, func() (body []byte, err error) {
		h.scratch, err = j.f(p.sim, h.scratch[:0])
		return append([]byte(nil), h.scratch...), err
	})
	p.cost += formatted * int64(len(body))
	h.finish(j, body, err)
}

// copyFor lets a job copy, and leaves the rest to the reader.
func (h *hub) copyFor(p *point, j *job) {
	before := p.bytes()
	p.more, p.release = false, nil
	_, err := guardedBody(j.key, func() (_ []byte, err error) {
		j.finish, err = j.copy(p)
		return nil, err
	})
	p.cost += p.bytes() - before
	h.mu.Lock()
	defer h.mu.Unlock()
	if j.release == nil {
		j.release = p.release
	}
	if h.going = nil; p.more && err == nil && j.waiters > 0 {
		h.going, j.taken = j, false
		return
	}
	if err != nil || p.more {
		j.finish = func() ([]byte, error) { return nil, err }
	}
	if c := p.copied; c != nil && j.release == nil {
		c.users++
		j.release = func() { h.drop(c) }
	}
	for _, client := range j.clients {
		h.copied.add(client, j)
	}
	if !h.reading {
		h.reading = true
		go h.readCopies()
	}
}

// readCopies is the reader: a goroutine that answers from copies, one request after the other, so that however many look, the Sim
// loses at most one core. It ends when there is nothing to read.
func (h *hub) readCopies() {
	for {
		h.mu.Lock()
		j, ok := h.copied.next()
		if !ok {
			h.reading = false
			h.mu.Unlock()
			return
		}
		h.copied.remove(j) // from the lines of other clients
		wanted := j.waiters > 0 && !h.closed
		h.mu.Unlock()
		var body []byte
		err := errClosed
		if wanted {
			body, err = guardedBody(j.key, j.finish)
		}
		if j.release != nil {
			j.release()
		}
		h.finish(j, body, err)
	}
}

// finish ends a job.
func (h *hub) finish(j *job, body []byte, err error) {
	if err != nil {
		body = nil
	} else if j.key != "" {
		h.mu.Lock()
		h.answers.put(j.key, body)
		h.mu.Unlock()
	}
	j.body, j.err = body, err
	close(j.done)
}

// guardedBody makes a panic an error of the request: a fault of the Inspector must not end the Sim.
func guardedBody(key string, f func() ([]byte, error)) (body []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			body, err = nil, fmt.Errorf("inspector: request %q: panic: %v", key, v)
		}
	}()
	return f()
}
