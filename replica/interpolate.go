package replica

import (
	"cmp"
	"math"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
)

const (
	lateMessages = 64         // of which the lateness is kept
	slewShift    = 4          // the delay changes by at most 1/16 of the time that passes
	farNs        = int64(1e9) // beyond this it is set at once
)

// Playback computes the state between two received states, for drawing. Get it with Client.Playback.
//
// It shows the world as it was some time ago, so that the state after that moment has arrived in most
// cases. This delay is the interval between two updates and the lateness of messages that 95 % of the last 64
// do not exceed, compared with the soonest one; it is at least two intervals, and at most as many as fit
// into ClientConfig.States. When it changes, time goes faster or slower by at most a sixteenth, and it
// never goes back on one connection.
//
// The rows of a column are the entities of the later state, Playback.State, in its order. One that was in
// the earlier state too, by its id, and did not jump, is drawn between both; another is drawn as in
// the later one. Entities that left are not drawn. Positions are relative to the State.Origin of the later state, also
// those of the earlier one. A value that is NaN in one state is taken from the later
// one. Angles take the short way, half a turn the way down; rotations are interpolated linearly and
// normalised, on the short way. The results are for drawing: they are not the same bits everywhere.
type Playback struct {
	client   *Client
	late     [lateMessages]int64 // arrival less the time of the server, in ns
	messages int
	sorted   [lateMessages]int64
	offset   int64 // what to subtract from a time of the client to get the time that is shown
	set      bool  // offset is valid
	last     int64 // the last time of the client
	shown    int64 // the last time of the server that was to be shown
	drawn    int64 // the same, but not after the newest state of that moment

	from, to *State
	alpha    float32
	earlier  []int32 // for each place of to: that in from, or -1
	others   []earlierEntity
	pair     [2]uint64
}

// Playback returns the Playback of the client.
func (c *Client) Playback() *Playback { return &c.play }

// reset forgets everything but the memory.
func (p *Playback) reset() {
	p.messages, p.set, p.from, p.to, p.pair = 0, false, nil, nil, [2]uint64{}
	p.earlier = p.earlier[:0]
}

// arrived is for a message that was applied.
func (p *Playback) arrived(at uint64, now int64) {
	p.late[p.messages%lateMessages] = now - int64(at)*1000
	p.messages++
}

// soonest returns the least time of arrival, less the time of the server, of the last messages; 0 if there are none.
func (p *Playback) soonest() int64 {
	if p.messages == 0 {
		return 0
	}
	return slices.Min(p.late[:min(p.messages, lateMessages)])
}

// dropped is for a state whose memory is used again.
func (p *Playback) dropped(s *State) {
	if s == p.from || s == p.to {
		p.from, p.to, p.pair = nil, nil, [2]uint64{}
	}
}

// target returns the offset for the messages that have arrived, of which there is at least one.
func (p *Playback) target() int64 {
	n := min(p.messages, lateMessages)
	sorted := p.sorted[:n]
	copy(sorted, p.late[:n])
	slices.Sort(sorted)
	interval := p.interval()
	most := interval * int64(p.client.config.States-1)
	return sorted[0] + min(max(interval+sorted[(n-1)*95/100]-sorted[0], 2*interval), most)
}

// interval returns the ns between two updates.
func (p *Playback) interval() int64 {
	w := &p.client.welcome
	ns := float64(w.Every) * float64(w.RateDen) * 1e9 / float64(w.RateNum)
	if !(ns < float64(farNs)) {
		return farNs
	}
	return int64(ns)
}

// Advance moves to the time of ClientConfig.Clock, now. It returns false while there is no state.
func (p *Playback) Advance() bool {
	c := p.client
	if len(c.states) == 0 || p.messages == 0 {
		return false
	}
	now := c.clock.Now()
	target := p.target()
	if !p.set {
		p.drawn = math.MinInt64
	}
	if by := target - p.offset; !p.set || by > farNs || by < -farNs {
		p.offset, p.set, p.shown = target, true, p.drawn
	} else {
		most := max(now-p.last, 0) >> slewShift
		p.offset += min(max(by, -most), most)
	}
	p.last = now
	p.shown = max(p.shown, now-p.offset)
	p.drawn = min(p.shown, int64(c.states[len(c.states)-1].at)*1000)
	p.find(p.drawn)
	return true
}

// find sets the two states around a time of the server, in ns. Before the first and after the last one it
// is that one.
func (p *Playback) find(at int64) {
	states := p.client.states
	i := len(states) - 1
	for i > 0 && int64(states[i-1].at)*1000 >= at {
		i--
	}
	p.to, p.from, p.alpha = states[i], states[max(i-1, 0)], 1
	if a, b := int64(p.from.at)*1000, int64(p.to.at)*1000; a < b && at < b {
		p.alpha = float32(float64(max(at-a, 0)) / float64(b-a))
	}
	if pair := [2]uint64{p.from.tick, p.to.tick}; pair != p.pair || len(p.earlier) != len(p.to.slots) {
		p.pair = pair
		p.match()
	}
}

// match finds the entities of both states. Nearly all have the same slot in both, so it sorts only the ids of the others.
func (p *Playback) match() {
	p.earlier = sized(p.earlier, len(p.to.slots))
	p.others = p.others[:0]
	i, jumped, missing := 0, 0, false
	for k, slot := range p.to.slots {
		for i < len(p.from.slots) && p.from.slots[i] < slot {
			p.others = append(p.others, earlierEntity{p.from.ids[i], int32(i)})
			i++
		}
		same := i < len(p.from.slots) && p.from.slots[i] == slot && p.from.ids[i] == p.to.ids[k]
		p.earlier[k] = unknownPlace
		if jumped < len(p.to.jumped) && p.to.jumped[jumped] == uint32(k) {
			jumped++
			p.earlier[k] = -1
		} else if same {
			p.earlier[k] = int32(i)
		} else {
			missing = true
		}
		if same {
			i++
		}
	}
	if missing {
		p.matchIDs(i)
	}
}

// earlierEntity is an entity of the earlier state that is not in its slot in the later state.
type earlierEntity struct {
	id    ecs.ID
	place int32
}

// unknownPlace marks an entity that was not in its slot in the earlier state, until matchIDs looks it up.
const unknownPlace = -2

// matchIDs finds the entities that were in other slots: among others, and among those of the earlier state from place
// from on.
func (p *Playback) matchIDs(from int) {
	for i, id := range p.from.ids[from:] {
		p.others = append(p.others, earlierEntity{id, int32(from + i)})
	}
	slices.SortFunc(p.others, func(a, b earlierEntity) int { return cmp.Compare(a.id, b.id) })
	for k, at := range p.earlier {
		if at != unknownPlace {
			continue
		}
		p.earlier[k] = -1
		if i, found := slices.BinarySearchFunc(p.others, p.to.ids[k], func(e earlierEntity, id ecs.ID) int { return cmp.Compare(e.id, id) }); found {
			p.earlier[k] = p.others[i].place
		}
	}
}

// State returns the later of the two states, whose entities are drawn; all that is not interpolated is
// read from it. It is nil before Advance has returned true, and after a message for which the client has used
// the memory of one of the two states again.
func (p *Playback) State() *State { return p.to }

// Append appends one component of a column of float32 with the codec Quantised, Angle, Planar or Quat, as
// AppendValues does for State, but interpolated. The error is that of AppendValues; the other codecs are
// evertick.ErrUnsupported, and so are columns of owners alone. Where State is nil it appends nothing.
func (p *Playback) Append(dst []float32, name string, component int) ([]float32, error) {
	if p.to == nil {
		return dst, nil
	}
	f, ok := p.to.find(name)
	switch {
	case !ok:
		return dst, fault.Field(fault.ErrRange, "replica: Playback.Append: name", name)
	case component < 0 || component >= f.values():
		return dst, fault.Field(fault.ErrRange, "replica: Playback.Append: component of "+name, component)
	case f.owner || f.Codec == KindExact || f.Codec == KindTags:
		return dst, fault.Field(fault.ErrUnsupported, "replica: Playback.Append: codec of "+name, f.Codec)
	}
	n := f.laneCount()
	from, to := p.from.lanes[f.lane:][:n], p.to.lanes[f.lane:][:n]
	dst = slices.Grow(dst, len(p.earlier))
	for k, i := range p.earlier {
		v := f.float(to, component, k)
		if i >= 0 && p.alpha < 1 {
			v = p.between(f, from, to, component, int(i), k, v)
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// between returns a component between places i and k of two states; v is its value in the later one.
func (p *Playback) between(f found, from, to [][]int32, component, i, k int, v float32) float32 {
	switch f.Codec {
	case KindQuat:
		a, b := f.quat(from, i), f.quat(to, k)
		return nlerp(a, b, p.alpha)[component]
	case KindAngle, KindPlanar:
		turn := float32(2 * math.Pi)
		by := sx(f.Bits, to[component][k]-from[component][i])
		step := float32(float64(by) * (2 * math.Pi / float64(uint32(1)<<f.Bits)))
		a := f.float(from, component, i) + float32(step*p.alpha)
		if a >= math.Pi {
			a -= turn
		} else if a < -math.Pi {
			a += turn
		}
		return a
	}
	a := f.float(from, component, i)
	if axis, ok := axisOf(f.Name); ok && p.from.origin != p.to.origin {
		a = float32(float64(a) + (p.from.origin[axis] - p.to.origin[axis]))
	}
	if a == a && v == v {
		return a + float32((v-a)*p.alpha)
	}
	return v
}

// nlerp interpolates two rotations of length 1 on the short way.
func nlerp(a, b [4]float32, alpha float32) (q [4]float32) {
	dot := float32(0)
	for c := range a {
		dot += float32(a[c] * b[c])
	}
	sign := float32(1)
	if dot < 0 {
		sign = -1
	}
	sum := float32(0)
	for c := range q {
		q[c] = a[c] + float32((float32(sign*b[c])-a[c])*alpha)
		sum += float32(q[c] * q[c])
	}
	length := float32(math.Sqrt(float64(sum)))
	for c := range q {
		q[c] /= length
	}
	return q
}
