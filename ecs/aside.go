package ecs

// What a driver needs that lets several systems work on one world side by side.

// Append moves what other has recorded behind what c has recorded, as if it had been
// recorded in c, and leaves other empty. Ids that other has given out for spawns
// resolve there as before, once c was applied, and until other is appended or
// applied again. It panics on a list of another world, and on c itself.
func (c *Commands) Append(other *Commands) {
	if c.world == nil || other == nil || other.world != c.world || other == c {
		panic("ecs: Commands.Append of a list of another world, or of itself")
	}
	from, to := &other.recorded, &c.recorded
	first := c.firstProvisional() + ID(to.spawns)
	for _, o := range from.commands {
		if o.id >= provisional {
			o.id = first + (o.id - other.firstProvisional())
		}
		to.commands = append(to.commands, o)
	}
	to.values = append(to.values, from.values...)
	to.spawns += from.spawns
	other.born, other.bornAs = from.spawns, other.firstProvisional()
	other.taker, other.takenAs = c, first
	other.Reset()
}

// HoldTouches makes Touch, SetPosition and their like only note which columns were
// touched, until ReleaseTouches. In between, several goroutines may touch at once, no
// two of them the same column; Position, Rotation and Scale are one column each here.
// Versions stay as they are meanwhile.
func (w *World) HoldTouches() { w.holding = true }

// ReleaseTouches gives the columns touched since HoldTouches a new Version each, in the
// order of their registration: whoever was first, and however often it was touched.
func (w *World) ReleaseTouches() {
	w.holding = false
	for _, c := range w.lanes.known {
		if c.mark.held {
			c.mark.held = false
			c.mark.touch()
		}
	}
}
