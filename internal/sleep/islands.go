package sleep

import (
	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/buffer"
)

// EndStep deactivates the bodies that were active for one step of dt seconds. It reports whether Rest must be called for
// the awake bodies, and then SleepIslands.
func (z *State) EndStep(dt float32) bool {
	if !z.On {
		return false
	}
	for _, i := range z.ActiveOnce {
		z.changes[i] &^= onceActive | newAsleep | createdAsleep
		z.Active.Remove(int(i))
		z.engine.Store(int(i))
		z.dirty = true
	}
	z.ActiveOnce = z.ActiveOnce[:0]
	z.ready, z.dt = buffer.Resized(z.ready, len(z.Spans)), dt
	return z.Enabled
}

// Rest updates how long an awake body has been at rest: not at all if it moves. It reports whether that is long enough.
// Several goroutines may call it, for different bodies.
func (z *State) Rest(row int, moves bool) bool {
	if moves || z.flags[row]&Never != 0 {
		z.Times[row] = 0
		return false
	}
	z.Times[row] += z.dt
	return z.Times[row] >= Time
}

// SetReady sets for how many bodies of a span Rest was true.
func (z *State) SetReady(span, bodies int) { z.ready[span] = bodies }

// SleepIslands puts islands to sleep in which every body has been at rest long enough, and kinematic bodies that have been at
// rest long enough. It does so in some steps only.
func (z *State) SleepIslands(step uint64) {
	ready := 0
	for _, n := range z.ready {
		ready += n
	}
	if ready == 0 || step%searchEvery != 0 {
		return
	}
	z.buildIslands()
	for i := range z.rows() {
		if z.Awake(i) && z.types[i] == Dynamic && (z.Times[i] < Time || z.restless.Has(i)) {
			z.restlessNames.Add(int(z.islands.Find(uint32(i))))
		}
	}
	for i := range z.rows() {
		if !z.Awake(i) {
			continue
		}
		dynamic := z.types[i] == Dynamic
		if dynamic && !z.restlessNames.Has(int(z.islands.Find(uint32(i)))) || !dynamic && z.Times[i] >= Time {
			z.putToSleep(i)
		}
	}
}

// buildIslands builds the islands of awake bodies, and marks as restless the bodies that a moving kinematic body touches, or
// that something carries.
func (z *State) buildIslands() {
	z.resetIslands()
	z.edges = z.engine.AppendJoints(z.engine.AppendContacts(z.edges[:0], false))
	for _, e := range z.edges {
		if e.A == Gone || e.B == Gone {
			continue
		}
		dynamicA, dynamicB := z.types[e.A] == Dynamic, z.types[e.B] == Dynamic
		switch {
		case dynamicA && dynamicB:
			z.islands.Union(e.A, e.B)
		case dynamicA && z.engine.Moving(int(e.B)):
			z.restless.Add(int(e.A))
		case dynamicB && z.engine.Moving(int(e.A)):
			z.restless.Add(int(e.B))
		}
	}
	z.carried = z.engine.AppendCarried(z.carried[:0])
	for _, i := range z.carried {
		z.restless.Add(int(i))
	}
}

// putToSleep puts an awake body to sleep.
func (z *State) putToSleep(row int) {
	z.flags[row] |= Asleep
	z.engine.ClearMotion(row)
	z.Times[row] = 0
	z.Count++
	z.Active.Remove(row)
	z.dirty = true
	z.engine.Store(row)
	*z.slept = append(*z.slept, uint32(row))
}

// PutToSleep puts an awake body to sleep by a call, with its island, unless one of them never sleeps or is kept moving.
func (z *State) PutToSleep(row int) {
	if z.types[row] != Dynamic {
		if z.flags[row]&Never == 0 {
			z.restless.Reset(z.rows())
			z.clearChanges(row)
			z.wakeNeighbours(z.restless)
			z.putToSleep(row)
		}
		return
	}
	z.buildIslands()
	island, members := z.islands.Find(uint32(row)), z.restlessNames
	for k := range z.rows() {
		if z.types[k] == Dynamic && z.Awake(k) && z.islands.Find(uint32(k)) == island {
			if z.flags[k]&Never != 0 || z.restless.Has(k) {
				return
			}
			members.Add(k)
		}
	}
	z.restless.Reset(z.rows())
	each := func(do func(*State, int)) {
		for k := range z.rows() {
			if members.Has(k) {
				do(z, k)
			}
		}
	}
	each((*State).clearChanges)
	z.wakeNeighbours(z.restless)
	each((*State).putToSleep)
}

// clearChanges discards the changes to a body since the last step, so that they do not wake it again after it has been put
// to sleep. If it was more than woken, its neighbours must wake: it is marked as restless.
func (z *State) clearChanges(row int) {
	why := z.changes[row]
	z.changes[row] = 0
	z.mark(row, newAsleep)
	if why&^woken != 0 || why != 0 && z.engine.PoseWritten(row) {
		z.restless.Add(row)
	}
}

// wakeNeighbours wakes the sleepers that touch some bodies, or that a joint connects to them, except new sleepers.
func (z *State) wakeNeighbours(bodies bitset.Set) {
	if z.Count == 0 {
		return
	}
	z.edges = z.engine.AppendContacts(z.edges[:0], true)
	z.edges = z.engine.AppendContacts(z.edges, false)
	z.edges = z.engine.AppendJoints(z.edges)
	for _, e := range z.edges {
		if e.A == Gone || e.B == Gone {
			continue
		}
		if bodies.Has(int(e.A)) {
			e.A, e.B = e.B, e.A
		}
		if bodies.Has(int(e.B)) && z.Sleeper(e.A) && z.changes[e.A]&newAsleep == 0 {
			z.Wake(int(e.A))
		}
	}
}
