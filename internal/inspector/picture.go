package inspector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
)

const (
	// pictureWait is how long a request waits for a new picture.
	pictureWait = 250 * time.Millisecond
	// picturePeriod is the least time between two pictures of one Sim, in ns: a page shows no more.
	picturePeriod = int64(time.Second) / 60
	// pictureShare bounds the time of the Sim that pictures take: at most one part in so many.
	pictureShare = 4
	// maxViews is the number of different pictureOptions that are kept.
	maxViews = 16
	// maxFree is the number of captures whose memory is kept for the next pictures.
	maxFree = 4
)

// pictureOptions is what a picture shows. Pages with the same options share pictures.
type pictureOptions struct {
	by, tag                                      string // at most one is not ""
	contacts, joints, velocities, boxes, noShape bool
	space, hasSelected                           bool
	selected                                     ecs.Slot
}

// pictures are the pictures of one Sim. A number, seq, belongs to a state of the Sim, so pictures of the same
// seq differ only in their options. Guarded by hub.mu.
type pictures struct {
	views map[pictureOptions]*view

	seq     uint64
	at      stateVersion // of the state of seq
	nextAt  int64        // earliest time of the next seq
	slots   slotsState
	version uint64     // of slots
	waiters int        // of all views
	free    []*capture // memory of pictures that nobody reads any more

	geometries geometries
}

// slotsState changes with the set of live slots.
type slotsState struct {
	world         *ecs.World
	version, copy uint64
}

// view is the last picture with some options, and those that wait for the next.
type view struct {
	options pictureOptions
	latest  *picture // nil: there is none
	takenAt int64
	waiters int
	askedAt int64
	next    chan struct{} // closed when latest or err is set
	err     error         // of the options; the view is then no longer kept

	tag      ecs.Tag // of options.tag; of the goroutine of the Sim, as is tagWorld
	tagWorld *ecs.World
}

// picture is one picture. It is made from the capture by the first request that gets it.
type picture struct {
	pictureHead
	at      stateVersion
	capture *capture // nil when refs is 0
	refs    int      // requests that read the capture, and the view; guarded by hub.mu
	encoded [2]struct {
		once sync.Once
		body []byte
	} // without and with slots
}

// pictureHead is the JSON at the beginning of a picture.
type pictureHead struct {
	Seq          uint64      `json:"seq"`
	Run          string      `json:"run"`
	Tick         uint64      `json:"tick"`
	Hash         string      `json:"hash"`
	State        string      `json:"state"`
	Entities     int         `json:"entities"`
	SlotsVersion uint64      `json:"slots_version"`
	Space        *spaceHead  `json:"space,omitempty"`
	Forces       []forceHead `json:"forces,omitempty"`
	Sections     []section   `json:"sections"`
}

// section is the place of an array in the body.
type section struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Count int    `json:"count"`
	At    int    `json:"at"`
}

// picture answers GET frame: see the package comment.
func (in *Inspector) picture(ctx context.Context, r *Request, s subject) Answer {
	o := pictureOptions{by: r.Query.Get("by"), tag: r.Query.Get("tag")}
	var errs []error
	if o.by != "" && o.tag != "" {
		errs = append(errs, fault.Field(fault.ErrRange, "inspector: tag beside by", fmt.Sprintf("%.80q", o.tag)))
	}
	for _, f := range []struct {
		name string
		on   *bool
	}{{"contacts", &o.contacts}, {"joints", &o.joints}, {"velocities", &o.velocities}, {"boxes", &o.boxes}, {"space", &o.space}} {
		var err error
		*f.on, err = flag(r.Query, f.name, false)
		errs = append(errs, err)
	}
	if text := r.Query.Get("selected"); text != "" {
		slot, err := wholeNumber(r.Query, "selected", 0)
		if err == nil && slot >= math.MaxUint32 {
			err = fault.Field(fault.ErrRange, "inspector: selected", slot)
		}
		o.selected, o.hasSelected = ecs.Slot(slot), true
		errs = append(errs, err)
	}
	shapes, err := flag(r.Query, "shapes", true)
	o.noShape = !shapes
	after, err1 := wholeNumber(r.Query, "after", 0)
	have, err2 := wholeNumber(r.Query, "have", 0)
	if err := errors.Join(append(errs, err, err1, err2)...); err != nil {
		return errorAnswer(err)
	}
	d := s.records()
	f, err := d.nextPicture(ctx, o, after)
	switch {
	case err != nil:
		return errorAnswer(err)
	case f == nil:
		return Answer{Status: 204}
	}
	defer d.release(f)
	return Answer{200, typeBinary, f.encode(in.run, f.SlotsVersion != have)}
}

// nextPicture returns a picture after seq, nil if none came in time. The caller releases it.
func (h *hub) nextPicture(ctx context.Context, o pictureOptions, after uint64) (*picture, error) {
	h.mu.Lock()
	if after > h.pictures.seq { // from another run
		after = 0
	}
	h.mu.Unlock()
	f, v, next, err := h.wantPicture(o, after)
	if f != nil || err != nil {
		return f, err
	}
	timer := time.NewTimer(pictureWait)
	defer timer.Stop()
	select {
	case <-next:
	case <-timer.C:
	case <-h.closing:
		return nil, errClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	v.waiters--
	h.pictures.waiters--
	if err := errors.Join(err, v.err); err != nil {
		return nil, err
	}
	return v.after(after), nil
}

// wantPicture returns a picture after seq, if there is one and no newer one can be made now. Otherwise it
// returns the view, with one more waiter, and the channel that is closed when it has another picture.
func (h *hub) wantPicture(o pictureOptions, after uint64) (*picture, *view, chan struct{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, nil, errClosed
	}
	v, err := h.pictures.view(o)
	if err != nil {
		return nil, nil, nil, err
	}
	now := h.now()
	v.askedAt = now
	if v.latest != nil && (v.latest.at == h.summary.at || now-v.takenAt < picturePeriod) {
		if f := v.after(after); f != nil {
			return f, v, nil, nil
		}
	}
	v.waiters++
	h.pictures.waiters++
	h.signal()
	return nil, v, v.next, nil
}

// after returns the last picture, for one more reader, if it is later than seq.
func (v *view) after(seq uint64) *picture {
	if v.latest == nil || v.latest.Seq <= seq {
		return nil
	}
	v.latest.refs++
	return v.latest
}

// view returns the view with these options. A new one replaces the one that was asked for the longest
// ago, if there are too many.
func (fs *pictures) view(o pictureOptions) (*view, error) {
	if v := fs.views[o]; v != nil {
		return v, nil
	}
	if len(fs.views) >= maxViews {
		var oldest *view
		for _, v := range fs.views { // order-free: times differ, and any choice is right
			if v.waiters == 0 && (oldest == nil || v.askedAt < oldest.askedAt) {
				oldest = v
			}
		}
		if oldest == nil {
			return nil, fault.Field(fault.ErrCapacity, "inspector: frames with other options that pages wait for", maxViews)
		}
		fs.drop(oldest)
	}
	v := &view{options: o, next: make(chan struct{})}
	fs.views[o] = v
	return v, nil
}

// drop removes a view.
func (fs *pictures) drop(v *view) {
	delete(fs.views, v.options)
	fs.release(v.latest)
	v.latest = nil
}

// release takes back one reading of a picture, which may be nil, and keeps its memory after the last.
func (fs *pictures) release(f *picture) {
	if f == nil {
		return
	}
	if f.refs--; f.refs == 0 && len(fs.free) < maxFree {
		fs.free = append(fs.free, f.capture)
	}
}

func (h *hub) release(f *picture) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pictures.release(f)
}

// due reports whether a view gets a picture at this safe point.
func (fs *pictures) due(at stateVersion, now int64) bool { return fs.next(at, now) != nil }

// next returns the view that gets a picture at this safe point: of those that wait for this state, the one whose last picture is the
// oldest. Pictures of one state have one seq, so a new state comes only when its time has.
func (fs *pictures) next(at stateVersion, now int64) (next *view) {
	if fs.waiters == 0 || (fs.seq == 0 || fs.at != at) && now < fs.nextAt {
		return nil
	}
	for _, v := range fs.views { // order-free: of equally old ones any will do
		if v.waiters > 0 && (v.latest == nil || v.latest.at != at) && (next == nil || v.takenAt < next.takenAt) {
			next = v
		}
	}
	return next
}

// nextView returns the view that gets a picture at this safe point, and counts the state if it is a new one.
func (h *hub) nextView(now int64) *view {
	h.mu.Lock()
	defer h.mu.Unlock()
	fs, at := &h.pictures, h.summary.at
	v := fs.next(at, now)
	if v != nil && (fs.seq == 0 || fs.at != at) {
		fs.seq++
		fs.at = at
		fs.nextAt = now + picturePeriod
		if s := (slotsState{at.world, at.version, at.copy}); s != fs.slots {
			fs.slots = s
			fs.version++
		}
	}
	return v
}

// spent delays the next picture if this one took long.
func (fs *pictures) spent(now, cost int64) { fs.nextAt = max(fs.nextAt, now+pictureShare*cost) }

// capture makes a picture for a view, on the goroutine of the Sim, and returns what it costs.
func (h *hub) capture(sim *evertick.Sim, v *view) int64 {
	h.mu.Lock()
	c := new(capture)
	if n := len(h.pictures.free); n > 0 {
		c, h.pictures.free = h.pictures.free[n-1], h.pictures.free[:n-1]
	}
	f := &picture{at: h.summary.at, capture: c, refs: 1, pictureHead: pictureHead{
		Seq: h.pictures.seq, Tick: h.summary.at.tick, Hash: HashText(h.summary.hash), State: h.summary.state(),
		SlotsVersion: h.pictures.version,
	}}
	now := h.now()
	h.mu.Unlock()
	err := c.take(sim, v)
	f.Entities = c.entities
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.options.space {
		h.pictures.geometries.contents = append(h.pictures.geometries.contents[:0], c.space.Contents...)
	}
	old := v.latest
	v.latest, v.takenAt, v.err = f, now, err
	h.pictures.release(old)
	close(v.next)
	v.next = make(chan struct{})
	if err != nil {
		h.pictures.drop(v)
	}
	return jobBytes + c.cost()
}
