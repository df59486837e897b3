package rigid

import (
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/graph"
)

// Placed is a copy of a System in which bodies have places in place of rows: those of a region are next to each other, and no cache line has
// bodies of two regions. Where the bodies of a region have rows all over the world, a worker would otherwise fetch nearly every body anew
// from the cache of another worker, colour by colour. Blocks that were prepared in it name bodies by their places.
//
// Place gives the bodies places, PlaceShapes follows for all shapes after any change of shapes or places, and Begin makes the copy. In each
// step Load, then the stages of blocks and integration, then Store are done for all places. Contacts, Hits and Bases are those of the System.
type Placed struct {
	System

	// Of has the region of each body, and Rows the places of each region.
	Of   []uint8
	Rows [graph.MaxRegions]graph.Span

	row    []uint32 // by place
	place  []uint32 // by row
	bodyOf []uint32 // by shape: a place
	memory []float32
	states []State
}

// regionPlaces is what the number of places of a region is a multiple of: so many states, and elements of a column, fill whole pairs of cache
// lines.
const regionPlaces = 32

// columnGap is the number of unused elements after each column, so that elements of a body in several columns do not compete for the same lines
// of a cache.
const columnGap = 5 * regionPlaces

// placedColumns is the number of columns of bodies that stages after LoadStates read or write: of Bodies 10, of Poses 2.
const placedColumns = 12

// Place gives the bodies the places of as many regions as Of names.
func (p *Placed) Place(regions int) {
	var count [graph.MaxRegions]int
	for _, region := range p.Of {
		count[region]++
	}
	at := 0
	var next [graph.MaxRegions]int
	for region := range regions {
		p.Rows[region] = graph.Span{Lo: at, Hi: at + count[region]}
		next[region] = at
		at += (count[region] + regionPlaces - 1) &^ (regionPlaces - 1)
	}
	p.row, p.place = buffer.Resized(p.row, at), buffer.Resized(p.place, len(p.Of))
	for i, region := range p.Of {
		k := next[region]
		next[region]++
		p.place[i], p.row[k] = uint32(k), uint32(i)
	}
	p.states = buffer.Resized(p.states, at)
	p.memory = buffer.Resized(p.memory, (at+columnGap)*placedColumns)
}

// Begin copies s for a step.
func (p *Placed) Begin(s *System) {
	p.System = *s
	n := len(p.row)
	p.States, p.Angle = p.states, nil
	b := &p.Bodies
	*b = Bodies{}
	for i, c := range [placedColumns]*[]float32{&b.InvInertia, &b.ForceX, &b.ForceY, &b.Torque, &b.GravityScale, &b.LinearDamping, &b.AngularDamping,
		&b.FreeX, &b.FreeY, &b.FreeW, &p.Poses.Cos, &p.Poses.Sin} {
		*c = p.memory[i*(n+columnGap):][:n:n]
	}
	p.Poses.X, p.Poses.Y = nil, nil
	p.bodyOf = buffer.Resized(p.bodyOf, len(s.BodyOf))
	p.BodyOf = p.bodyOf
}

// PlaceShapes gives shapes [lo, hi) of s the places of their bodies, after Begin.
func (p *Placed) PlaceShapes(s *System, lo, hi int) {
	to := p.bodyOf[lo:hi]
	for i, body := range s.BodyOf[lo:hi] {
		to[i] = p.place[body]
	}
}

// Load is LoadStates of s for places [lo, hi).
func (p *Placed) Load(s *System, lo, hi int) {
	from, to, rows := &s.Bodies, &p.Bodies, p.row[lo:hi]
	vx, vy, w, invMass, states := from.VX, from.VY, from.W, from.InvMass, p.States[lo:hi]
	for k, i := range rows {
		st := &states[k] // field by field: a literal would be made on the stack and copied from there, in wider pieces, which stalls
		st.VX, st.VY, st.W, st.InvMass = vx[i], vy[i], w[i], invMass[i]
		st.DX, st.DY, st.C, st.S = 0, 0, 1, 0
	}
	gather(to.InvInertia[lo:hi], from.InvInertia, rows)
	gather(to.ForceX[lo:hi], from.ForceX, rows)
	gather(to.ForceY[lo:hi], from.ForceY, rows)
	gather(to.Torque[lo:hi], from.Torque, rows)
	gather(to.GravityScale[lo:hi], from.GravityScale, rows)
	gather(to.LinearDamping[lo:hi], from.LinearDamping, rows)
	gather(to.AngularDamping[lo:hi], from.AngularDamping, rows)
	if len(s.Bases) > 0 {
		gather(p.Poses.Cos[lo:hi], s.Poses.Cos, rows)
		gather(p.Poses.Sin[lo:hi], s.Poses.Sin, rows)
	}
}

func gather(to, from []float32, rows []uint32) {
	to = to[:len(rows)]
	for k, i := range rows {
		to[k] = from[i]
	}
}

// Store copies the states of places [lo, hi) to those of s.
func (p *Placed) Store(s *System, lo, hi int) {
	for k, i := range p.row[lo:hi] {
		s.States[i] = p.States[lo+k]
	}
}
