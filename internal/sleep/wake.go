package sleep

// UpdateActive collects the active bodies when a step begins.
func (z *State) UpdateActive() {
	if !z.On {
		z.All = true
		z.spanAll(z.rows(), 0)
		return
	}
	z.All = false
	z.detectWrites()
	z.wakeChanged(false)
}

// wakeChanged wakes the islands of changed bodies and collects the active ones. If it is known which shapes touch in this
// step, touching shapes also join new sleepers.
func (z *State) wakeChanged(touched bool) {
	if !z.dirty {
		return
	}
	if z.Count > 0 {
		z.wakeIslands(touched)
	}
	z.collectActive()
}

// detectWrites marks bodies at rest whose columns a program has written to: those whose pose differs from the stored one by
// any bit, and those with a velocity or a force. Where all rows of a word of Active are at rest, it compares whole
// columns, at the speed of memory.
func (z *State) detectWrites() {
	rows := z.rows()
	words := (rows + 63) / 64
	for w := 0; w < words; {
		end := w + 1
		for z.Active[w] == 0 && end < words && z.Active[end] == 0 && end-w < ComparedRows/64 {
			end++
		}
		lo, hi := w*64, min(end*64, rows)
		if z.Active[w] != 0 && ^z.Active[w] != 0 || z.Active[w] == 0 && !z.engine.Unwritten(lo, hi) {
			z.detectWritesIn(lo, hi)
		}
		w = end
	}
}

func (z *State) detectWritesIn(lo, hi int) {
	for i := lo; i < hi; i++ {
		if !z.Awake(i) && z.changes[i]&^(onceActive|newAsleep|createdAsleep) == 0 && z.engine.Written(i) {
			z.mark(i, written)
		}
	}
}

// wakeIslands wakes the islands of changed bodies, and of sleepers that touch, or are joined to, a body that was changed or
// destroyed.
func (z *State) wakeIslands(touched bool) {
	z.resetIslands()
	for _, i := range z.changed {
		if z.changes[i]&^(newAsleep|createdAsleep) != 0 {
			z.restless.Add(int(i))
		}
	}
	z.edges = z.engine.AppendContacts(z.edges[:0], true)
	z.edges = z.engine.AppendContacts(z.edges, false) // for bodies that fell asleep in the last step
	z.joinContacts()
	z.edges = z.engine.AppendJoints(z.edges[:0])
	for _, e := range z.edges {
		z.joinSleepers(e)
	}
	if touched {
		z.joinNewSleepers() // joints
		z.edges = z.engine.AppendTouched(z.edges[:0])
		z.joinNewSleepers()
	}
	for i := range z.rows() {
		if z.restless.Has(i) {
			z.restlessNames.Add(int(z.islands.Find(uint32(i))))
		}
	}
	for i := range z.rows() {
		if z.flags[i]&Asleep != 0 && z.restlessNames.Has(int(z.islands.Find(uint32(i)))) {
			z.wakeSleeper(i)
		}
	}
}

func (z *State) resetIslands() {
	rows := z.rows()
	z.islands.Reset(rows)
	z.restless.Reset(rows)
	z.restlessNames.Reset(rows)
}

// joinContacts joins the sleepers of contacts, and marks as restless those that touched a destroyed shape.
func (z *State) joinContacts() {
	for _, e := range z.edges {
		switch {
		case e.A == Gone:
			z.lostContact(e.B)
		case e.B == Gone:
			z.lostContact(e.A)
		case (z.flags[e.A]|z.flags[e.B])&Asleep != 0:
			z.joinSleepers(e)
		}
	}
}

func (z *State) lostContact(row uint32) {
	if z.changes[row]&newAsleep == 0 {
		z.restless.Add(int(row))
	}
}

// joinSleepers joins bodies that may belong to one island. A changed body that is not dynamic belongs to no island, and wakes
// the other body. A new sleeper belongs to no island until the step knows which shapes touch it: see joinNewSleepers.
func (z *State) joinSleepers(e Edge) {
	if (z.changes[e.A]|z.changes[e.B])&newAsleep != 0 {
		return
	}
	dynamicA, dynamicB := z.types[e.A] == Dynamic, z.types[e.B] == Dynamic
	if dynamicA && dynamicB {
		z.islands.Union(e.A, e.B)
		return
	}
	if z.changes[e.A] != 0 && dynamicB {
		z.restless.Add(int(e.B))
	}
	if z.changes[e.B] != 0 && dynamicA {
		z.restless.Add(int(e.A))
	}
}

// joinNewSleepers joins new sleepers with the sleepers that they touch, or to which a joint connects them.
func (z *State) joinNewSleepers() {
	for _, e := range z.edges {
		if z.Sleeper(e.A) && z.Sleeper(e.B) && (z.changes[e.A]|z.changes[e.B])&newAsleep != 0 {
			z.islands.Union(e.A, e.B)
		}
	}
}

// wakeSleeper wakes a sleeping body in a step.
func (z *State) wakeSleeper(row int) {
	z.flags[row] &^= Asleep
	z.Count--
	z.Times[row] = 0
	z.changes[row] &^= newAsleep | createdAsleep
	*z.woke = append(*z.woke, uint32(row))
}

// collectActive lists the active bodies, and lets the engine update the data of the others.
func (z *State) collectActive() {
	z.dirty, z.All = false, true
	z.Version++
	z.processChanged()
	clear(z.Active)
	for _, i := range z.ActiveOnce {
		z.Active.Add(int(i))
	}
	rows := z.rows()
	for i := range rows {
		if z.Awake(i) {
			z.Active.Add(i)
		}
	}
	z.Spans = appendSpans(z.Spans[:0], z.Active, rows)
	z.engine.ActiveChanged()
}

// SetShapes lists the shapes of active bodies, for which moves is true.
func (z *State) SetShapes(moves []bool) {
	z.activeShapes.Reset(len(moves))
	for k, active := range moves {
		if active {
			z.activeShapes.Add(k)
		}
	}
	z.Shapes = appendSpans(z.Shapes[:0], z.activeShapes, len(moves))
}

// processChanged processes the changed bodies. Awake bodies are active anyway. The others rest again after this step, or at
// once if they are static and nothing is asleep. New sleepers are active for this step, so that it finds the shapes that
// touch them.
func (z *State) processChanged() {
	for _, m := range z.changed {
		i, why := int(m), z.changes[m]&^onceActive
		z.changes[i] &= onceActive | newAsleep | createdAsleep
		switch {
		case why == 0:
			continue
		case !z.bodies.Occupied(i):
			z.engine.Clear(i) // a program has written to a row without a body
			z.engine.Store(i)
			continue
		case z.Awake(i) && why&woken != 0:
			*z.woke = append(*z.woke, m)
		}
		if z.types[i] == Dynamic && z.Awake(i) {
			continue
		}
		if z.flags[i]&Disabled != 0 {
			z.engine.Stop(i)
		}
		z.engine.Store(i)
		if (why&written != 0 || z.Count > 0 || z.types[i] != Static || !z.engine.InRange(i)) && z.changes[i]&onceActive == 0 {
			z.changes[i] |= onceActive
			z.ActiveOnce = append(z.ActiveOnce, m)
		}
	}
	z.changed = z.changed[:0]
}

// WakeTouched wakes the islands that an awake and moving body touches in this step, and reports whether there are any. Then
// the contacts must be found again.
func (z *State) WakeTouched() bool {
	if z.Count == 0 {
		return false
	}
	any := false
	z.edges = z.engine.AppendTouched(z.edges[:0])
	if len(z.Spans) > 0 {
		z.edges = z.engine.AppendJoints(z.edges)
	}
	for _, e := range z.edges {
		if z.Sleeper(e.A) && z.canWake(e.B, e.A) {
			z.mark(int(e.A), written)
			any = true
		}
		if z.Sleeper(e.B) && z.canWake(e.A, e.B) {
			z.mark(int(e.B), written)
			any = true
		}
	}
	if any {
		z.wakeChanged(true)
	}
	return any
}

// canWake reports whether a body wakes a sleeper that it touches. Every body that is active for one step does, unless one of
// the two is a new sleeper: a world that is created asleep stays asleep.
func (z *State) canWake(row, sleeper uint32) bool {
	if z.changes[row]&onceActive != 0 && (z.changes[row]|z.changes[sleeper])&newAsleep == 0 {
		return true
	}
	return z.Awake(int(row)) && (z.types[row] == Dynamic || z.engine.Moving(int(row)))
}

// Separated makes the next step wake a sleeper of a contact that ended, as what touched it is gone. A new sleeper stays
// asleep: it has moved away itself.
func (z *State) Separated(row uint32) {
	if z.Sleeper(row) && z.changes[row]&newAsleep == 0 {
		z.mark(int(row), written)
	}
}
