package space

import (
	"github.com/evertick/evertick/internal/forces"
	"github.com/evertick/evertick/physics3"
)

// Watch implements bodyview.View.
func (v view) Watch() { forces.Space(v.world).Kept.Watch() }

// Forces implements bodyview.View. No call has an error: the body lives.
func (v view) Forces(bits uint64, dst *forces.Forces) {
	w, b := v.world, physics3.BodyOfBits(bits)
	src, c, row := forces.Space(w), w.Columns(), b.Index()
	dst.Centre, _ = w.WorldCenter(b)
	dst.Size, dst.Known = src.Extent[row], true
	if c.Type[row] == physics3.DynamicBody && c.Flags[row]&physics3.FlagDisabled == 0 {
		mass, _ := w.MassData(b)
		dst.AddGravity(mass.Mass, c.GravityScale[row], w.Config().Gravity)
		dst.AddApplied(src.Kept.Of(row, uint32(bits>>32)))
	}
	contacts, _ := w.AppendContactData(nil, b)
	for i := range contacts {
		d := &contacts[i]
		rate := src.Rate
		if of, _ := w.ShapeBody(d.B); of != b {
			rate = -rate
		}
		var middle, twist [3]float32
		for k := range d.Points[:d.Count] {
			p := &d.Points[k]
			dst.Add(forces.Contact, p.Point, times(d.Normal, p.NormalImpulse*rate), [3]float32{})
			for axis := range middle {
				middle[axis] += p.Point[axis] / float32(d.Count)
			}
		}
		for axis := range twist {
			twist[axis] = (d.RollingImpulse[axis] + float32(d.TwistImpulse*d.Normal[axis])) * rate
		}
		if d.Count > 0 {
			dst.Add(forces.Contact, middle, times(d.TangentImpulse, rate), twist)
		}
	}
	joints, _ := w.AppendJoints(nil, b)
	for _, j := range joints {
		s, _ := w.JointState(j)
		sign := float32(1)
		if _, second, _ := w.JointBodies(j); second != b {
			sign = -1
		}
		dst.Add(forces.Joint, s.PointB, times(s.Force, sign), times(s.Torque, sign))
	}
}

func times(v [3]float32, by float32) [3]float32 { return [3]float32{v[0] * by, v[1] * by, v[2] * by} }
