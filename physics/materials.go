package physics

import (
	"errors"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/material"
	"github.com/evertick/evertick/internal/rigid"
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
	m := material.Pair(*p)
	return m.Check("physics: MaterialPair.")
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
	s := w.solver
	s.materialPairs.Set(material.Pair(p))
	s.wakeMaterials(p.A, p.B)
	return nil
}

// RemoveMaterialPair lets contacts between two user materials mix their coefficients again, and wakes as SetMaterialPair
// does. It has no effect on a pair that was not set. ErrUnsupported from another engine.
func (w *World) RemoveMaterialPair(a, b uint64) error {
	if err := w.requireRunning(); err != nil {
		return err
	}
	if s := w.solver; s.materialPairs.Remove(a, b) {
		s.wakeMaterials(a, b)
	}
	return nil
}

// AppendMaterialPairs appends the pairs that SetMaterialPair has set to dst, ascending by A, then B. A is the lower
// material of each.
func (w *World) AppendMaterialPairs(dst []MaterialPair) []MaterialPair {
	for _, p := range w.solver.materialPairs {
		dst = append(dst, MaterialPair(p))
	}
	return dst
}

// wakeMaterials wakes the bodies with shapes of either material.
func (s *solver) wakeMaterials(a, b uint64) {
	s.pairsKnown = false // blocks hold the old friction
	if s.sleep.Count == 0 {
		return
	}
	t := &s.shapes
	for i := range t.local {
		m, body := t.user.Of(i), t.filters.Body[i]
		if t.local[i].Count > 0 && (m == a || m == b) && !s.sleep.CreatedAsleep(int(body)) {
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
			a, b := t.user.Of(int(sys.Contacts[c].A)), t.user.Of(int(sys.Contacts[c].B))
			if friction, restitution, ok := s.materialPairs.Of(a, b); ok {
				sys.Blocks[i].SetMaterial(lane, friction, restitution)
			}
		}
	}
}

// The frame "materials" is that of material.Encode.

func (w *World) encodeMaterials(e *frame.Encoder) {
	material.Encode(e, w.solver.shapes.user, w.solver.materialPairs)
}

func (im *snapshotImage) readMaterials(b []byte) (err error) {
	im.materialPairs, err = material.Decode(&im.Decoder, b, maxShapes, im.materialPairs, func(shape uint32, v uint64) bool {
		live := uint64(shape) < uint64(len(im.made)) && im.made[shape].Count > 0
		if live {
			im.made[shape].def.UserMaterial = v
		}
		return live
	})
	return err
}

func (w *World) restoreMaterials(im *snapshotImage) {
	w.solver.materialPairs = append(w.solver.materialPairs[:0], im.materialPairs...)
}

func (w *World) copyMaterials(src *World) {
	w.solver.materialPairs = append(w.solver.materialPairs[:0], src.solver.materialPairs...)
}

// hashMaterials appends the pairs. User materials are in the digests of shapes.
func (w *World) hashMaterials(dst []ColumnHash) []ColumnHash { return w.solver.materialPairs.Hash(dst) }

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
		check.Coefficient(prefix+".Friction", m.Friction),
		check.Coefficient(prefix+".Restitution", m.Restitution),
		check.Coefficient(prefix+".RollingResistance", m.RollingResistance),
		check.Between(prefix+".TangentSpeed", m.TangentSpeed, -check.MaxCoefficient, check.MaxCoefficient),
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
