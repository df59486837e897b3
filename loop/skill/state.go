package skill

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
)

// Rate is a token bucket in ticks: it holds up to Burst calls, and gets Calls more in every
// Ticks, evenly. An actor begins with a full one for each skill.
type Rate struct {
	Calls int // up to 1e6; -1: without limit
	Ticks int // 1 to 1e6
	Burst int // 1 to 1e6; 0: Calls
}

// Unlimited is the Rate without a limit.
var Unlimited = Rate{Calls: -1}

func (r Rate) validate(what string) error {
	const most = 1e6
	if r == (Rate{}) || r == Unlimited {
		return nil
	}
	if r.Calls < 1 || r.Calls > most || r.Ticks < 1 || r.Ticks > most || r.Burst < 0 || r.Burst > most {
		return fault.Field(ErrRange, what, r)
	}
	return nil
}

// bucket is the token bucket of an actor and a skill. A call costs Rate.Ticks tokens, so that a tick adds a
// whole number of them: Rate.Calls. A full bucket is not kept.
type bucket struct {
	actor, skill string
	level        int64
	tick         uint64 // of level
}

// state is the part of the registry that the state of the Sim contains.
type state struct {
	registry  *Registry
	calls     uint64 // that ran, refused or not
	refused   uint64
	trace     uint64 // folds the events of all of them
	input     uint64 // Seq of the last input that ran
	snapshots uint64 // handles that world.snapshot has given
	buckets   []bucket
	tags      []string // that skills have given, in that order
}

func (s *state) find(actor, skill string) (int, bool) {
	return slices.BinarySearchFunc(s.buckets, bucket{actor: actor, skill: skill}, compareBuckets)
}

func compareBuckets(a, b bucket) int {
	return cmp.Or(cmp.Compare(a.actor, b.actor), cmp.Compare(a.skill, b.skill))
}

// full is the level of a full bucket.
func (r Rate) full() int64 {
	burst := r.Burst
	if burst == 0 {
		burst = r.Calls
	}
	return int64(burst) * int64(r.Ticks)
}

// levelAt returns the level of a bucket at a later tick.
func (b *bucket) levelAt(r Rate, tick uint64) int64 {
	full := r.full()
	elapsed := min(tick-b.tick, uint64(full)) // by then the bucket is full at any rate
	return min(full, b.level+int64(elapsed)*int64(r.Calls))
}

// takeToken takes the tokens of a call out of the bucket of an actor and a skill.
func (s *state) takeToken(e *entry, actor string, tick uint64, room int) *Error {
	if e.Rate == Unlimited {
		return nil
	}
	i, ok := s.find(actor, e.full)
	if !ok {
		if len(s.buckets) >= room {
			return refuse(CapacityExceeded, "", "all %d rate limits are in use", room)
		}
		s.buckets = slices.Insert(s.buckets, i, bucket{actor: actor, skill: e.full, level: e.Rate.full(), tick: tick})
	}
	b := &s.buckets[i]
	level := b.levelAt(e.Rate, tick)
	cost := int64(e.Rate.Ticks)
	if level < cost {
		wait := (cost - level + int64(e.Rate.Calls) - 1) / int64(e.Rate.Calls)
		return refuse(RateLimited, "", "try again in %d ticks", wait)
	}
	b.level, b.tick = level-cost, tick
	return nil
}

// prune removes the buckets that are full again.
func (s *state) prune(tick uint64) {
	s.buckets = slices.DeleteFunc(s.buckets, func(b bucket) bool {
		e, ok := s.registry.skills[b.skill]
		return !ok || b.levelAt(e.Rate, tick) == e.Rate.full()
	})
}

// addEvent adds an event to the hash of all events.
func (s *state) addEvent(encoded []byte, code Code) {
	s.trace = statehash.Add(s.trace, "", statehash.Bytes(encoded, 1, false))
	if code != OK {
		s.refused++
	}
}

// maxLevel is the level of a full bucket of the largest Rate.
const maxLevel = 1e12

// stateVersion begins the bytes of a state.
const stateVersion = 1

// AppendState implements evertick.State.
func (s *state) AppendState(dst []byte) []byte {
	le := binary.LittleEndian
	dst = append(dst, stateVersion)
	for _, v := range [...]uint64{s.calls, s.refused, s.trace, s.input, s.snapshots} {
		dst = le.AppendUint64(dst, v)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.buckets)))
	for i := range s.buckets {
		b := &s.buckets[i]
		dst = appendString(dst, b.actor)
		dst = appendString(dst, b.skill)
		dst = binary.AppendVarint(dst, b.level)
		dst = binary.AppendUvarint(dst, b.tick)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.tags)))
	for _, tag := range s.tags {
		dst = appendString(dst, tag)
	}
	return dst
}

// RestoreState implements evertick.State.
func (s *state) RestoreState(src []byte) error {
	p := parser{b: src}
	if v := p.byte(); v != stateVersion {
		return fault.Field(ErrCorrupt, "skill: state: version", v)
	}
	n := state{registry: s.registry}
	for _, v := range [...]*uint64{&n.calls, &n.refused, &n.trace, &n.input, &n.snapshots} {
		*v = p.uint64()
	}
	c := &s.registry.config
	for range p.count(c.Buckets) {
		b := bucket{actor: p.string(maxActor), skill: p.string(maxCalled), level: p.varint(), tick: p.uvarint()}
		if last := len(n.buckets) - 1; last >= 0 && compareBuckets(n.buckets[last], b) >= 0 || b.level < 0 || b.level > maxLevel {
			p.bad = true
		}
		n.buckets = append(n.buckets, b)
	}
	for range p.count(c.Tags) {
		n.tags = append(n.tags, p.string(maxTag))
	}
	if !p.end() {
		return fault.Field(ErrCorrupt, "skill: state: bytes", len(src))
	}
	*s = n
	s.registry.restored()
	return nil
}

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// parser takes values off the front of b; after the first fault it gives zeros.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) take(n uint64) []byte {
	if p.bad || n > uint64(len(p.b)) {
		p.bad, p.b = true, nil
		return nil
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *parser) byte() byte {
	if b := p.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (p *parser) uint64() uint64 {
	if b := p.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (p *parser) uvarint() uint64 {
	v, n := binary.Uvarint(p.b)
	if p.bad || n <= 0 {
		p.bad, p.b = true, nil
		return 0
	}
	p.b = p.b[n:]
	return v
}

func (p *parser) varint() int64 {
	v, n := binary.Varint(p.b)
	if p.bad || n <= 0 {
		p.bad, p.b = true, nil
		return 0
	}
	p.b = p.b[n:]
	return v
}

// count is a number of things, each of which takes a byte at least.
func (p *parser) count(most int) int {
	n := p.uvarint()
	if n > uint64(most) || n > uint64(len(p.b)) {
		p.bad, p.b = true, nil
		return 0
	}
	return int(n)
}

func (p *parser) string(most int) string {
	n := p.uvarint()
	if n > uint64(most) {
		p.bad, p.b = true, nil
		return ""
	}
	return string(p.take(n))
}

// end reports whether all went well and nothing is left.
func (p *parser) end() bool { return !p.bad && len(p.b) == 0 }
