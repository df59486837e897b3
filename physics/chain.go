package physics

import (
	"fmt"
	"strconv"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
	"github.com/zeebo/xxh3"
)

// Chain is a handle to a chain of one world. The zero value is no chain. A chain dies with
// its body.
type Chain struct{ index, generation uint32 }

// Index returns the number of the chain. It is meaningful while the chain lives.
func (c Chain) Index() int { return int(c.index) }

// String returns "chain_<index>.<generation>".
func (c Chain) String() string { return fmt.Sprintf("chain_%d.%d", c.index, c.generation) }

// ChainDef describes a chain to create: segments that know their neighbours, so that shapes slide
// over the vertices between them without catching.
//
// A chain has one side, to the right of the direction from point to point. A loop with counter-clockwise points is
// solid inside, like an island; one with clockwise points is solid outside, like a cave. The points of a floor go
// from right to left. A shape whose middle is behind a segment passes through it. UnionOutlines makes the
// loops for a ground of many boxes.
type ChainDef struct {
	// Points in body coordinates, in metres, each at least 5 mm from the next. An open
	// chain has 4 or more: the first and the last are ghosts, which define how the ground continues, and
	// the segments connect the others. A loop has 3 or more: a segment begins at each, and
	// the last one leads back to the first point. The chain should not cross itself.
	Points [][2]float32
	// Loop closes the chain.
	Loop bool
	// Shape holds the filter, the span and the material of all segments; SetShapeDef changes one segment's. It must
	// be neither a sensor nor one-way.
	Shape ShapeDef
	// Materials replace the material of Shape: one for all segments, or one for each, in the order of the points. Nil:
	// no replacement. SetChainMaterial changes them.
	Materials []SurfaceMaterial
}

const chainPoints = "physics: ChainDef.Points"

// Validate reports the first fault of d: of its Shape, the number of points, or a point that is
// not finite, out of range or too close to the next. Errors wrap ErrNotFinite or ErrRange.
func (d *ChainDef) Validate() error {
	_, err := d.edges()
	return err
}

// edges returns the segments between all points, the ghosts included.
func (d *ChainDef) edges() ([]rigid.Shape, error) {
	if err := d.Shape.Validate(); err != nil {
		return nil, err
	}
	if err := d.Shape.checkInChain("physics: ChainDef.Shape"); err != nil {
		return nil, err
	}
	least := 4
	if d.Loop {
		least = 3
	}
	if n := len(d.Points); n < least || n > maxShapes {
		return nil, fault.Field(ErrRange, "physics: number of ChainDef.Points", n)
	}
	points := make([]rigid.Vec, len(d.Points))
	for i, p := range d.Points {
		points[i] = vecOf(p)
	}
	edges, err := makeEdges(points, d.Loop)
	if err == nil {
		err = d.checkMaterials((&chainRow{loop: d.Loop}).segments(len(edges)))
	}
	return edges, err
}

// checkInChain returns an error for what a segment of a chain cannot be.
func (d *ShapeDef) checkInChain(field string) error {
	if d.Sensor {
		return check.Because(fault.Field(ErrRange, field+".Sensor", true), "a chain has no inside")
	}
	if d.OneWay != [2]float32{} {
		return check.Because(fault.Field(ErrRange, field+".OneWay", d.OneWay), "a chain already has only one side")
	}
	return nil
}

func (d *ChainDef) checkMaterials(segments int) error {
	if n := len(d.Materials); n > 1 && n != segments {
		return check.Because(fault.Field(ErrRange, "physics: number of ChainDef.Materials", n), "not that of the segments")
	}
	for i := range d.Materials {
		if err := d.Materials[i].validate("physics: ChainDef.Materials[" + strconv.Itoa(i) + "]"); err != nil {
			return err
		}
	}
	return nil
}

// segmentDef returns the definition of segment k.
func (d *ChainDef) segmentDef(k int) ShapeDef {
	switch len(d.Materials) {
	case 0:
		return d.Shape
	case 1:
		k = 0
	}
	return d.Materials[k].applyTo(d.Shape)
}

func makeEdges(points []rigid.Vec, loop bool) ([]rigid.Shape, error) {
	for i, p := range points {
		switch {
		case !fault.Finite(p.X) || !fault.Finite(p.Y):
			return nil, fault.Element(ErrNotFinite, chainPoints, i, p)
		case max(p.X, -p.X, p.Y, -p.Y) > rigid.MaxCoordinate:
			return nil, fault.Element(ErrRange, chainPoints, i, p)
		}
	}
	n := len(points)
	if !loop {
		n--
	}
	edges := make([]rigid.Shape, n)
	for i := range edges {
		r, err := rigid.MakeSegment(points[i], points[(i+1)%len(points)])
		if err != nil {
			return nil, check.Because(fault.Element(ErrRange, chainPoints, i, points[i]), "too close to the next")
		}
		edges[i] = r
	}
	return edges, nil
}

// chainRow is a chain.
type chainRow struct {
	body   uint32
	loop   bool
	points []rigid.Vec
	shapes []uint32 // in the order of the points
}

// segment returns the edge of segment k, and the data about its neighbours.
func (r *chainRow) segment(chain, k int, edges []rigid.Shape) (edge int, sm rigid.ChainSegment) {
	n := len(edges)
	edge = k + 1
	if r.loop {
		edge = k
	}
	sm = rigid.ChainSegment{
		Before: edges[(edge+n-1)%n].Normals[0], After: edges[(edge+1)%n].Normals[0],
		Chain: uint32(chain) + 1, Last: !r.loop && edge == n-2,
	}
	return edge, sm
}

// segments returns how many segments a chain of so many edges has.
func (r *chainRow) segments(edges int) int {
	if r.loop {
		return edges
	}
	return edges - 2
}

func (r *chainRow) digest() uint64 { return xxh3.Hash(r.appendDigested(nil)) }

func (r *chainRow) appendDigested(buf []byte) []byte {
	buf = wire.AppendU32s(buf, r.body, r.pointsAndLoop())
	for _, p := range r.points {
		buf = wire.AppendF32s(buf, p.X, p.Y)
	}
	return wire.AppendU32s(buf, r.shapes...)
}

const loopFlag = 1 << 31

func (r *chainRow) pointsAndLoop() uint32 {
	n := uint32(len(r.points))
	if r.loop {
		n |= loopFlag
	}
	return n
}

// chainTable holds the chains and their segments.
type chainTable struct {
	ids    handle.Pool
	rows   []chainRow
	digest []uint64 // 0: free
}

func newChainTable() chainTable { return chainTable{ids: handle.NewPool(maxShapes, 0)} }

// reach makes room for n rows.
func (t *chainTable) reach(n int) {
	for len(t.rows) < n {
		t.rows, t.digest = append(t.rows, chainRow{}), append(t.digest, 0)
	}
}

func (t *chainTable) release(i int) {
	r := &t.rows[i]
	r.points, r.shapes, t.digest[i] = r.points[:0], r.shapes[:0], 0
	t.ids.Release(i)
}

// releaseAll releases the chains of a body.
func (t *chainTable) releaseAll(body int) {
	if t.ids.Live() == 0 {
		return
	}
	for i := range t.rows {
		if t.digest[i] != 0 && int(t.rows[i].body) == body {
			t.release(i)
		}
	}
}

// CreateChain attaches a chain to b, which is usually static: chains have no mass. They do not collide with segments
// or other chains. Errors: ErrStale; those of ChainDef.Validate; ErrCapacity; and ErrUnsupported from another engine.
func (w *World) CreateChain(b Body, def ChainDef) (Chain, error) {
	body, err := w.solverRow(b)
	if err != nil {
		return Chain{}, err
	}
	edges, err := def.edges()
	if err != nil {
		return Chain{}, err
	}
	r := chainRow{body: uint32(body), loop: def.Loop}
	i, ok := w.chains.ids.Next()
	n := r.segments(len(edges))
	if !ok || n > w.shapes.IDs.Room() {
		return Chain{}, fault.Field(ErrCapacity, "physics: ShapeCount", w.ShapeCount())
	}
	for _, p := range def.Points {
		r.points = append(r.points, vecOf(p))
	}
	for k := range n {
		edge, sm := r.segment(i, k, edges)
		shape, _ := w.shapes.IDs.Next()
		w.shapeDef = def.segmentDef(k)
		w.solver.createSegment(shape, body, &w.shapeDef, &edges[edge], &sm)
		w.shapes.Add(shape, body, w.solver.shapes.digest(shape))
		r.shapes = append(r.shapes, uint32(shape))
	}
	w.solver.updateExtents(body, w.solver.bodyShapes(body))
	w.chains.reach(i + 1)
	w.chains.rows[i], w.chains.digest[i] = r, r.digest()
	return Chain{uint32(i), w.chains.ids.Claim(i)}, nil
}

// createSegment cannot fail: a segment has no mass, so the mass of its body does not change.
func (s *solver) createSegment(shape, body int, def *ShapeDef, r *rigid.Shape, sm *rigid.ChainSegment) {
	t := &s.shapes
	t.put(shape, body, def, r)
	t.filters.Moves[shape] = s.cols.Type[body] != StaticBody
	t.setSmooth(shape, *sm)
	s.addToScene(body, shape)
	s.sleep.WakeUnlessNew(body)
}

// setSmooth makes a shape a segment of a chain, or of no chain if sm is zero.
func (t *shapeColumns) setSmooth(shape int, sm rigid.ChainSegment) {
	if shape >= len(t.smooth) {
		if sm.Chain == 0 {
			return
		}
		t.smooth = append(t.smooth, make([]rigid.ChainSegment, shape+1-len(t.smooth))...)
	}
	if t.smooth[shape].Chain != 0 {
		t.chained--
	}
	if t.smooth[shape] = sm; sm.Chain != 0 {
		t.chained++
	}
}

// chainOf returns the number of the chain of a shape.
func (t *shapeColumns) chainOf(shape int) (int, bool) {
	if shape >= len(t.smooth) || t.smooth[shape].Chain == 0 {
		return 0, false
	}
	return int(t.smooth[shape].Chain) - 1, true
}

// DestroyChain removes c and its segments. Errors: ErrStale.
func (w *World) DestroyChain(c Chain) error {
	if w.failed != nil {
		return w.failed
	}
	if !w.ValidChain(c) {
		return fault.Field(ErrStale, "physics: Chain", c)
	}
	for _, shape := range w.chains.rows[c.index].shapes {
		w.solver.shapes.clear(int(shape))
		w.solver.sleep.WakeWithNeighbours(int(w.shapes.Owner[shape]))
		w.shapes.Release(int(shape))
	}
	body := int(w.chains.rows[c.index].body)
	w.solver.updateExtents(body, w.solver.bodyShapes(body))
	w.chains.release(int(c.index))
	return nil
}

// ValidChain reports whether c is a live chain of this world.
func (w *World) ValidChain(c Chain) bool { return w.chains.ids.Holds(c.index, c.generation) }

// ChainCount returns the number of live chains.
func (w *World) ChainCount() int { return w.chains.ids.Live() }

// AppendChainShapes appends the segments of c to dst, in the order of the points. Events name these
// shapes, and SetShapeDef accepts them. They can only be destroyed with their chain. Errors:
// ErrStale.
func (w *World) AppendChainShapes(dst []Shape, c Chain) ([]Shape, error) {
	if !w.ValidChain(c) {
		return dst, fault.Field(ErrStale, "physics: Chain", c)
	}
	for _, shape := range w.chains.rows[c.index].shapes {
		dst = append(dst, Shape{shape, w.shapes.IDs.Generation[shape]})
	}
	return dst, nil
}

// ShapeChain returns the chain of which s is a segment, or the zero Chain. Errors: ErrStale.
func (w *World) ShapeChain(s Shape) (Chain, error) {
	if !w.ValidShape(s) {
		return Chain{}, fault.Field(ErrStale, "physics: Shape", s)
	}
	i, ok := w.solver.shapes.chainOf(int(s.index))
	if !ok {
		return Chain{}, nil
	}
	return Chain{uint32(i), w.chains.ids.Generation[i]}, nil
}

// requireNotInChain returns an error if a shape is part of a chain.
func (w *World) requireNotInChain(field string, s Shape) error {
	if c, _ := w.ShapeChain(s); c != (Chain{}) {
		return check.Because(fault.Field(ErrUnsupported, field, s), "it belongs to "+c.String())
	}
	return nil
}

// The frame "chains": for each row its uint32 generation, body, and number of points, with loopFlag;
// 0 points: no chain. Then two float32 for each point and a uint32 for each segment.

func (w *World) encodeChains(e *frame.Encoder) {
	t := &w.chains
	for i := range t.rows {
		r := &t.rows[i]
		e.U32(int(t.ids.Generation[i]))
		if len(r.points) == 0 {
			e.U32(0)
			e.U32(0)
			continue
		}
		e.U32(int(r.body))
		e.U32(int(r.pointsAndLoop()))
		e.Rows(buffer.Bytes(r.points), 4)
		e.Rows(buffer.Bytes(r.shapes), 4)
	}
}

// readChains makes the chains, and checks that their segments match their shapes.
func (im *snapshotImage) readChains(b []byte) error {
	in := wire.NewReader(b)
	for i := 0; in.Len() > 0; i++ {
		left := in.Len()
		generation, body, points := in.U32(), in.U32(), in.U32()
		if in.Err() != nil {
			return im.CorruptElement("length of chain", i, left)
		}
		n, r := int(points&^loopFlag), chainRow{body: body, loop: points&loopFlag != 0}
		im.chainGenerations = append(im.chainGenerations, generation)
		if n == 0 && !r.loop && body == 0 {
			im.chains = append(im.chains, chainRow{})
			continue
		}
		edges := n
		if !r.loop {
			edges--
		}
		segments := r.segments(edges)
		if segments < 1 || n < 3 || uint64(in.Len()) < 8*uint64(n)+4*uint64(segments) {
			return im.CorruptElement("points of chain", i, n)
		}
		if generation == 0 || !im.alive(uint64(body)) {
			return im.CorruptElement("generation and body of chain", i, [2]uint32{generation, body})
		}
		vertices, shapes := in.Bytes(8*n), in.Bytes(4*segments)
		if im.sameChain(i, vertices, shapes, &r) {
			im.chains = append(im.chains, r)
			continue
		}
		for k := range n {
			r.points = append(r.points, rigid.Vec{X: wire.F32At(vertices, 2*k), Y: wire.F32At(vertices, 2*k+1)})
		}
		for k := range segments {
			r.shapes = append(r.shapes, wire.U32At(shapes, k))
		}
		if err := im.linkChain(i, &r); err != nil {
			return err
		}
		im.chains = append(im.chains, r)
	}
	return nil
}

// sameChain reports whether a chain and its segments equal those of the world. Then it
// shares its points and shapes, which never change.
func (im *snapshotImage) sameChain(i int, points, shapes []byte, r *chainRow) bool {
	if i >= len(im.w.chains.rows) {
		return false
	}
	now := &im.w.chains.rows[i]
	if now.body != r.body || now.loop != r.loop || 8*len(now.points) != len(points) || 4*len(now.shapes) != len(shapes) {
		return false
	}
	for k, p := range now.points {
		if bitsDiffer(p.X, wire.F32At(points, 2*k)) || bitsDiffer(p.Y, wire.F32At(points, 2*k+1)) {
			return false
		}
	}
	t := &im.w.solver.shapes
	for k, shape := range now.shapes {
		if shape != wire.U32At(shapes, k) || uint64(shape) >= uint64(len(im.made)) {
			return false
		}
		m := &im.made[shape]
		if m.smooth.Chain != 0 || m.body != r.body || m.def.checkInChain("") != nil || m.Shape != t.local[shape] {
			return false
		}
	}
	for _, shape := range now.shapes {
		im.made[shape].smooth = t.smooth[shape]
	}
	r.points, r.shapes = now.points, now.shapes
	return true
}

// linkChain makes shapes segments of a chain.
func (im *snapshotImage) linkChain(i int, r *chainRow) error {
	edges, err := makeEdges(r.points, r.loop)
	if err != nil {
		return fmt.Errorf("%w: %v", im.CorruptElement("points of chain", i, len(r.points)), err)
	}
	for k, shape := range r.shapes {
		edge, sm := r.segment(i, k, edges)
		if uint64(shape) >= uint64(len(im.made)) {
			return im.CorruptElement("segment of chain", i, shape)
		}
		m := &im.made[shape]
		if m.smooth.Chain != 0 || m.body != r.body || m.def.checkInChain("") != nil || m.Shape != edges[edge] {
			return im.CorruptElement("segment of chain", i, shape)
		}
		m.smooth = sm
	}
	return nil
}

func (w *World) restoreChains(im *snapshotImage) {
	t := &w.chains
	t.rows, t.digest = append(t.rows[:0], im.chains...), t.digest[:0]
	t.ids.Reset(len(im.chains))
	copy(t.ids.Generation, im.chainGenerations)
	for i := range t.rows {
		live, digest := len(t.rows[i].points) > 0, uint64(0)
		if live {
			im.digested = t.rows[i].appendDigested(im.digested[:0])
			digest = xxh3.Hash(im.digested)
		}
		t.digest = append(t.digest, digest)
		t.ids.SetLive(i, live)
	}
}

func (w *World) copyChains(src *World) {
	t, from := &w.chains, &src.chains
	t.ids.CopyFrom(&from.ids)
	t.reach(len(from.rows))
	t.rows = t.rows[:len(from.rows)]
	t.digest = append(t.digest[:0], from.digest...)
	for i := range t.rows {
		r, row := &t.rows[i], &from.rows[i]
		r.body, r.loop = row.body, row.loop
		r.points, r.shapes = append(r.points[:0], row.points...), append(r.shapes[:0], row.shapes...)
	}
}

func (w *World) hashChains(dst []ColumnHash) []ColumnHash {
	if w.chains.ids.Used() == 0 {
		return dst
	}
	return append(dst,
		ColumnHash{Name: "ChainGeneration", Hash: statehash.Rows(w.chains.ids.Generation)},
		ColumnHash{Name: "Chain", Hash: statehash.Rows(w.chains.digest)},
	)
}
