package twin

// comparedTicks is the number of ticks whose hashes a page can ask for.
const comparedTicks = 4096

// comparison counts the ticks after which the hash agreed with the server's.
type comparison struct {
	ring             [comparedTicks]compared
	next             uint64 // number of all that were compared
	equal, different uint64
	last             compared // that differed
}

// compared are the hashes of a tick.
type compared struct{ tick, own, server uint64 }

// add is replica.SimulatorConfig.Compared.
func (c *comparison) add(tick, own, server uint64) {
	at := compared{tick, own, server}
	c.ring[c.next%comparedTicks] = at
	c.next++
	if own == server {
		c.equal++
		return
	}
	c.different++
	c.last = at
}

// newest returns the last comparison.
func (c *comparison) newest() compared {
	if c.next == 0 {
		return compared{}
	}
	return c.ring[(c.next-1)%comparedTicks]
}

// after returns what was compared after a tick, oldest first: from the end of the ring back to that tick, or to
// where the server has gone back.
func (c *comparison) after(tick uint64) []compared {
	n := min(c.next, comparedTicks)
	list := make([]compared, 0, n)
	first, above := c.next, ^uint64(0)
	for first > c.next-n {
		at := &c.ring[(first-1)%comparedTicks]
		if at.tick <= tick || at.tick > above {
			break
		}
		first, above = first-1, at.tick
	}
	for i := first; i < c.next; i++ {
		list = append(list, c.ring[i%comparedTicks])
	}
	return list
}
