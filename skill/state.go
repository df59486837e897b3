package skill

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
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
		return fault.Field(fault.ErrRange, what, r)
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
	tags      []string   // that skills have given, in that order
	held      []heldCall // by seq
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
	if code != OK && code != PendingApproval {
		s.refused++
	}
}

// maxLevel is the level of a full bucket of the largest Rate.
const maxLevel = 1e12

// A state begins with its version. It is heldVersion if calls are held, which then come last.
const (
	stateVersion = 1
	heldVersion  = 2
)

// AppendState implements evertick.State.
func (s *state) AppendState(dst []byte) []byte {
	version := byte(stateVersion)
	if len(s.held) > 0 {
		version = heldVersion
	}
	dst = append(dst, version)
	dst = wire.AppendU64s(dst, s.calls, s.refused, s.trace, s.input, s.snapshots)
	dst = binary.AppendUvarint(dst, uint64(len(s.buckets)))
	for i := range s.buckets {
		b := &s.buckets[i]
		dst = wire.AppendPrefixed(dst, b.actor)
		dst = wire.AppendPrefixed(dst, b.skill)
		dst = binary.AppendVarint(dst, b.level)
		dst = binary.AppendUvarint(dst, b.tick)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.tags)))
	for _, tag := range s.tags {
		dst = wire.AppendPrefixed(dst, tag)
	}
	if version == heldVersion {
		dst = s.appendHeld(dst)
	}
	return dst
}

// RestoreState implements evertick.State.
func (s *state) RestoreState(src []byte) error {
	r := wire.NewReader(src)
	version := r.U8()
	if version != stateVersion && version != heldVersion {
		return fault.Field(fault.ErrCorrupt, "skill: state: version", version)
	}
	n := state{registry: s.registry}
	n.calls, n.refused, n.trace, n.input, n.snapshots = r.U64(), r.U64(), r.U64(), r.U64(), r.U64()
	c := &s.registry.config
	for range r.Count(r.Uvarint(), c.Buckets, 1) {
		b := bucket{actor: r.String(maxActor), skill: r.String(maxCalled), level: r.Varint(), tick: r.Uvarint()}
		if last := len(n.buckets) - 1; last >= 0 && compareBuckets(n.buckets[last], b) >= 0 || b.level < 0 || b.level > maxLevel {
			r.Fail("level of a rate", b.level)
		}
		n.buckets = append(n.buckets, b)
	}
	for range r.Count(r.Uvarint(), c.Tags, 1) {
		n.tags = append(n.tags, r.String(maxTag))
	}
	if version == heldVersion {
		n.readHeld(&r)
	}
	if r.Done() != nil {
		return fault.Field(fault.ErrCorrupt, "skill: state: bytes", len(src))
	}
	*s = n
	s.registry.restored()
	return nil
}
