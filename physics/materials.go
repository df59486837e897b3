package physics

import (
	"cmp"
	"errors"
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// MaterialPair is the friction and the restitution of contacts between shapes of two user materials, in place of what
// Config.FrictionMix and RestitutionMix make of the coefficients of the shapes.
type MaterialPair struct {
	// A and B are the ShapeDef.UserMaterial of the two shapes, in any order: 0 for shapes without one. They may be equal.
	A, B uint64
	// Friction and Restitution are as in ShapeDef.
	Friction, Restitution float32
}

// Validate reports every fault of p at once. Errors wrap ErrNotFinite or ErrRange.
func (p *MaterialPair) Validate() error {
	return errors.Join(
		checkTuning("physics: MaterialPair.Friction", p.Friction),
		checkTuning("physics: MaterialPair.Restitution", p.Restitution),
	)
}

// sorted returns p with the lower material first.
func (p MaterialPair) sorted() MaterialPair {
	p.A, p.B = min(p.A, p.B), max(p.A, p.B)
	return p
}

func compareMaterials(p, q MaterialPair) int {
	return cmp.Or(cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B))
}

// SetMaterialPair replaces the friction and the restitution between two user materials from the next step on, and wakes
// the bodies with shapes of either. Errors: those of MaterialPair.Validate, and ErrUnsupported from another engine.
func (w *World) SetMaterialPair(p MaterialPair) error {
	if err := w.requireRunning(); err != nil {
		return err
	}
	if err := p.Validate(); err != nil {
		return err
	}
	s, p := w.solver, p.sorted()
	if at, ok := slices.BinarySearchFunc(s.materialPairs, p, compareMaterials); ok {
		s.materialPairs[at] = p
	} else {
		s.materialPairs = slices.Insert(s.materialPairs, at, p)
	}
	s.wakeMaterials(p)
	return nil
}

// RemoveMaterialPair lets contacts between two user materials mix their coefficients again, and wakes as SetMaterialPair
// does. It has no effect on a pair that was not set. ErrUnsupported from another engine.
func (w *World) RemoveMaterialPair(a, b uint64) error {
	if err := w.requireRunning(); err != nil {
		return err
	}
	s, p := w.solver, MaterialPair{A: a, B: b}.sorted()
	if at, ok := slices.BinarySearchFunc(s.materialPairs, p, compareMaterials); ok {
		s.materialPairs = slices.Delete(s.materialPairs, at, at+1)
		s.wakeMaterials(p)
	}
	return nil
}

// AppendMaterialPairs appends the pairs that SetMaterialPair has set to dst, ascending by A, then B. A is the lower
// material of each.
func (w *World) AppendMaterialPairs(dst []MaterialPair) []MaterialPair {
	return append(dst, w.solver.materialPairs...)
}

func (s *solver) wakeMaterials(p MaterialPair) {
	s.pairsKnown = false // blocks hold the old friction
	if s.sleep.Count == 0 {
		return
	}
	t := &s.shapes
	for i := range t.local {
		m, body := t.userMaterial(i), t.filters.Body[i]
		if t.local[i].Count > 0 && (m == p.A || m == p.B) && !s.sleep.CreatedAsleep(int(body)) {
			s.sleep.Wake(int(body))
		}
	}
}

// applyMaterialPairs puts the friction and the restitution of material pairs into prepared blocks [lo, hi).
func (s *solver) applyMaterialPairs(lo, hi int) {
	if len(s.materialPairs) == 0 {
		return
	}
	sys, t := &s.sys, &s.shapes
	for i := lo; i < hi; i++ {
		for lane, c := range sys.Colours.Edge[i*rigid.Lanes:][:rigid.Lanes] {
			if c == rigid.NoContact {
				continue
			}
			a, b := t.userMaterial(int(sys.Contacts[c].A)), t.userMaterial(int(sys.Contacts[c].B))
			p := MaterialPair{A: a, B: b}.sorted()
			if at, ok := slices.BinarySearchFunc(s.materialPairs, p, compareMaterials); ok {
				sys.Blocks[i].SetMaterial(lane, s.materialPairs[at].Friction, s.materialPairs[at].Restitution)
			}
		}
	}
}

// userMaterial returns ShapeDef.UserMaterial of a shape.
func (t *shapeColumns) userMaterial(shape int) uint64 {
	if shape >= len(t.user) {
		return 0
	}
	return t.user[shape]
}

func (t *shapeColumns) setUserMaterial(shape int, v uint64) {
	if shape >= len(t.user) {
		if v == 0 {
			return
		}
		t.user = append(t.user, make([]uint64, shape+1-len(t.user))...)
	}
	t.user[shape] = v
}

func (t *shapeColumns) userMaterials() (n int) {
	for _, v := range t.user {
		if v != 0 {
			n++
		}
	}
	return n
}

// The frame "materials": a uint32 number of shapes with a user material; for each, ascending, its uint32 number and the
// uint64 material; and for each pair, ascending, its uint64 materials and its float32 friction and restitution.

const (
	userMaterialBytes = 4 + 8
	materialPairBytes = 3 * 8
)

func (w *World) encodeMaterials(e *frame.Encoder) {
	s := w.solver
	e.U32(s.shapes.userMaterials())
	for i, v := range s.shapes.user {
		if v != 0 {
			e.U32(i)
			e.U64(v)
		}
	}
	for _, p := range s.materialPairs {
		e.U64(p.A)
		e.U64(p.B)
		e.F32(p.Friction)
		e.F32(p.Restitution)
	}
}

func (im *snapshotImage) readMaterials(b []byte) error {
	r := wire.NewReader(b)
	n := uint64(r.U32())
	pairs := r.Len() - int(userMaterialBytes*min(n, maxShapes))
	if r.Err() != nil || n > maxShapes || pairs < 0 || pairs%materialPairBytes != 0 {
		return im.Corrupt("length of the materials", len(b))
	}
	next := uint32(0)
	for i := range int(n) {
		shape, v := r.U32(), r.U64()
		if shape < next || uint64(shape) >= uint64(len(im.made)) || im.made[shape].Count == 0 || v == 0 {
			return im.element("user material", i, shape)
		}
		im.made[shape].def.UserMaterial = v
		next = shape + 1
	}
	for i := range pairs / materialPairBytes {
		p := MaterialPair{r.U64(), r.U64(), r.F32(), r.F32()}
		if p.A > p.B || i > 0 && compareMaterials(im.materialPairs[i-1], p) >= 0 || p.Validate() != nil {
			return im.element("material pair", i, p)
		}
		im.materialPairs = append(im.materialPairs, p)
	}
	return nil
}

func (w *World) restoreMaterials(im *snapshotImage) {
	w.solver.materialPairs = append(w.solver.materialPairs[:0], im.materialPairs...)
}

func (w *World) copyMaterials(src *World) {
	w.solver.materialPairs = append(w.solver.materialPairs[:0], src.solver.materialPairs...)
}

// hashMaterials appends the pairs. User materials are in the digests of shapes.
func (w *World) hashMaterials(dst []ColumnHash) []ColumnHash {
	if len(w.solver.materialPairs) == 0 {
		return dst
	}
	return append(dst, ColumnHash{Name: "MaterialPair", Hash: statehash.Rows(buffer.Words[uint32](w.solver.materialPairs))})
}

// SurfaceMaterial is the part of a ShapeDef that can differ between the segments of a chain. The fields are those of
// ShapeDef.
type SurfaceMaterial struct {
	Friction, Restitution, RollingResistance, TangentSpeed float32
	UserMaterial                                           uint64
}

// applyTo returns def with this material.
func (m *SurfaceMaterial) applyTo(def ShapeDef) ShapeDef {
	def.Friction, def.Restitution, def.RollingResistance = m.Friction, m.Restitution, m.RollingResistance
	def.TangentSpeed, def.UserMaterial = m.TangentSpeed, m.UserMaterial
	return def
}

// validate names its fields by a prefix.
func (m *SurfaceMaterial) validate(prefix string) error {
	return errors.Join(
		checkTuning(prefix+".Friction", m.Friction),
		checkTuning(prefix+".Restitution", m.Restitution),
		checkTuning(prefix+".RollingResistance", m.RollingResistance),
		checkBetween(prefix+".TangentSpeed", m.TangentSpeed, -maxTuning, maxTuning),
	)
}

// ChainMaterial returns the material of a segment of c. segment is its number in the order of the points, from 0.
// Errors: ErrStale, and ErrRange for segment.
func (w *World) ChainMaterial(c Chain, segment int) (SurfaceMaterial, error) {
	s, err := w.chainSegment("physics: ChainMaterial: segment", c, segment)
	if err != nil {
		return SurfaceMaterial{}, err
	}
	d := w.solver.shapes.def(int(s.index))
	return SurfaceMaterial{d.Friction, d.Restitution, d.RollingResistance, d.TangentSpeed, d.UserMaterial}, nil
}

// SetChainMaterial replaces the material of a segment of c, like SetShapeDef. Errors: ErrStale; ErrRange for the number
// of the segment; and ErrNotFinite or ErrRange for a field of m.
func (w *World) SetChainMaterial(c Chain, segment int, m SurfaceMaterial) error {
	s, err := w.chainSegment("physics: SetChainMaterial: segment", c, segment)
	if err == nil {
		err = m.validate("physics: SurfaceMaterial")
	}
	if err != nil {
		return err
	}
	return w.SetShapeDef(s, m.applyTo(w.solver.shapes.def(int(s.index))))
}

// chainSegment returns the shape of a segment.
func (w *World) chainSegment(field string, c Chain, segment int) (Shape, error) {
	if !w.ValidChain(c) {
		return Shape{}, fault.Field(ErrStale, "physics: Chain", c)
	}
	shapes := w.chains.rows[c.index].shapes
	if err := fault.Between(field, segment, 0, len(shapes)-1); err != nil {
		return Shape{}, err
	}
	return Shape{shapes[segment], w.shapes.IDs.Generation[shapes[segment]]}, nil
}
