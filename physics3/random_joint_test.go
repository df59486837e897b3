package physics3_test

import (
	"reflect"
	"strings"

	"github.com/evertick/evertick/physics3"
)

// jointDef returns a definition of a random kind, with random values in all of its fields.
func (w *randomWorld) jointDef(kind physics3.JointKind, a, b physics3.Body) physics3.AnyJointDef {
	def := emptyDef(kind)
	v := reflect.ValueOf(def).Elem()
	w.fill(v, "")
	common := v.FieldByName("JointDef")
	if kind == 0 {
		common = v
	}
	d := common.Addr().Interface().(*physics3.JointDef)
	d.BodyA, d.BodyB = a, b
	if !w.one(4) {
		d.BreakForce, d.BreakTorque = 0, 0
	}
	if m, ok := def.(*physics3.MotorJointDef); ok {
		if w.one(2) {
			m.MaxSpringForce = 0
		} else {
			m.MaxVelocityForce = 0
		}
		if w.one(2) {
			m.MaxSpringTorque = 0
		} else {
			m.MaxVelocityTorque = 0
		}
	}
	if s, ok := def.(*physics3.SphericalJointDef); ok && w.one(2) {
		s.EnableMotor = false
	} else if ok {
		s.EnableSpring = false
	}
	return def
}

// fill gives random values to a field and those within it.
func (w *randomWorld) fill(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Type != reflect.TypeFor[physics3.Body]() {
				w.fill(v.Field(i), f.Name)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			w.fill(v.Index(i), name)
		}
	case reflect.Bool:
		v.SetBool(w.one(2))
	case reflect.Uint8:
		v.SetUint(uint64(w.pick(3)))
	case reflect.Float32:
		low, high := float32(0), float32(3)
		has := func(part string) bool { return strings.Contains(name, part) }
		switch {
		case has("Lower"):
			low, high = -2, 0
		case has("Upper"), has("MinLength"):
			high = 0.5
		case has("Point"), has("Rotation"):
			low, high = -1, 1
		case has("Speed"), has("Velocity"), has("Target"):
			low = -3
		case has("Threshold"), has("Break"):
			high = 100
		case has("Force"), has("Torque"):
			high = 60
		case has("Hertz"):
			high = 15
		}
		v.SetFloat(float64(w.any(low, high)))
	}
}

func (w *randomWorld) joint() physics3.Joint {
	if len(w.joints) == 0 {
		return physics3.Joint{}
	}
	return w.joints[w.pick(len(w.joints))]
}

func (w *randomWorld) anyKind() physics3.JointKind { return physics3.JointKind(1 + w.pick(10)) }

func (w *randomWorld) join() error {
	j, err := w.CreateJoint(w.jointDef(w.anyKind(), w.body(), w.body()))
	if err == nil {
		keep(w, &w.joints, j)
	}
	return err
}

// redefine gives a joint another definition of its kind, or other fields that all kinds have.
func (w *randomWorld) redefine() error {
	j := w.joint()
	kind, _ := w.JointKind(j)
	if w.one(4) {
		kind = 0
	}
	def := w.jointDef(kind, physics3.Body{}, physics3.Body{})
	return w.SetJointDef(j, def)
}
