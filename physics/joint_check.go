package physics

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native/rigid"
)

// validate checks what all kinds have in common.
func (d *JointDef) validate() error {
	return errors.Join(
		checkApart(d.BodyA, d.BodyB),
		d.FrameA.validate("physics: JointDef.FrameA.Point", "physics: JointDef.FrameA.Angle"),
		d.FrameB.validate("physics: JointDef.FrameB.Point", "physics: JointDef.FrameB.Angle"),
		checkStrength("physics: JointDef.BreakForce", d.BreakForce),
		checkStrength("physics: JointDef.BreakTorque", d.BreakTorque),
	)
}

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or ErrRange; whether
// bodies are stale is for the world to say.
func (d *DistanceJointDef) Validate() error {
	return errors.Join(d.JointDef.validate(),
		checkStrength("physics: DistanceJointDef.Length", d.Length),
		checkTuning("physics: DistanceJointDef.Hertz", d.Hertz),
		checkTuning("physics: DistanceJointDef.Damping", d.Damping),
		checkStrength("physics: DistanceJointDef.MaxSpringForce", d.MaxSpringForce),
		checkStrength("physics: DistanceJointDef.MinLength", d.MinLength),
		checkLimits("physics: DistanceJointDef.MaxLength", d.MinLength, d.MaxLength, huge),
		checkStrength("physics: DistanceJointDef.MaxMotorForce", d.MaxMotorForce),
		checkNumber("physics: DistanceJointDef.MotorSpeed", d.MotorSpeed),
	)
}

// Validate is as that of DistanceJointDef.
func (d *RevoluteJointDef) Validate() error {
	return errors.Join(d.JointDef.validate(),
		checkTuning("physics: RevoluteJointDef.Hertz", d.Hertz),
		checkTuning("physics: RevoluteJointDef.Damping", d.Damping),
		checkBelow("physics: RevoluteJointDef.TargetAngle", d.TargetAngle, math.Pi),
		checkBelow("physics: RevoluteJointDef.LowerAngle", d.LowerAngle, math.Pi),
		checkLimits("physics: RevoluteJointDef.UpperAngle", d.LowerAngle, d.UpperAngle, math.Pi),
		checkStrength("physics: RevoluteJointDef.MaxMotorTorque", d.MaxMotorTorque),
		checkNumber("physics: RevoluteJointDef.MotorSpeed", d.MotorSpeed),
	)
}

// Validate is as that of DistanceJointDef.
func (d *PrismaticJointDef) Validate() error {
	return errors.Join(d.JointDef.validate(),
		checkTuning("physics: PrismaticJointDef.Hertz", d.Hertz),
		checkTuning("physics: PrismaticJointDef.Damping", d.Damping),
		checkNumber("physics: PrismaticJointDef.TargetTranslation", d.TargetTranslation),
		checkNumber("physics: PrismaticJointDef.LowerTranslation", d.LowerTranslation),
		checkLimits("physics: PrismaticJointDef.UpperTranslation", d.LowerTranslation, d.UpperTranslation, huge),
		checkStrength("physics: PrismaticJointDef.MaxMotorForce", d.MaxMotorForce),
		checkNumber("physics: PrismaticJointDef.MotorSpeed", d.MotorSpeed),
	)
}

// Validate is as that of DistanceJointDef.
func (d *WeldJointDef) Validate() error {
	return errors.Join(d.JointDef.validate(),
		checkTuning("physics: WeldJointDef.LinearHertz", d.LinearHertz),
		checkTuning("physics: WeldJointDef.LinearDamping", d.LinearDamping),
		checkTuning("physics: WeldJointDef.AngularHertz", d.AngularHertz),
		checkTuning("physics: WeldJointDef.AngularDamping", d.AngularDamping),
	)
}

// Validate is as that of DistanceJointDef.
func (d *WheelJointDef) Validate() error {
	return errors.Join(d.JointDef.validate(),
		checkTuning("physics: WheelJointDef.Hertz", d.Hertz),
		checkTuning("physics: WheelJointDef.Damping", d.Damping),
		checkNumber("physics: WheelJointDef.LowerTranslation", d.LowerTranslation),
		checkLimits("physics: WheelJointDef.UpperTranslation", d.LowerTranslation, d.UpperTranslation, huge),
		checkStrength("physics: WheelJointDef.MaxMotorTorque", d.MaxMotorTorque),
		checkNumber("physics: WheelJointDef.MotorSpeed", d.MotorSpeed),
	)
}

// Validate is as that of DistanceJointDef.
func (d *MotorJointDef) Validate() error {
	return errors.Join(d.JointDef.validate(),
		checkTuning("physics: MotorJointDef.LinearHertz", d.LinearHertz),
		checkTuning("physics: MotorJointDef.LinearDamping", d.LinearDamping),
		checkStrength("physics: MotorJointDef.MaxSpringForce", d.MaxSpringForce),
		checkTuning("physics: MotorJointDef.AngularHertz", d.AngularHertz),
		checkTuning("physics: MotorJointDef.AngularDamping", d.AngularDamping),
		checkStrength("physics: MotorJointDef.MaxSpringTorque", d.MaxSpringTorque),
		checkStrength("physics: MotorJointDef.MaxVelocityForce", d.MaxVelocityForce),
		checkEither("physics: MotorJointDef.MaxVelocityForce", d.MaxVelocityForce, d.MaxSpringForce),
		checkNumber("physics: MotorJointDef.AngularVelocity", d.AngularVelocity),
		checkStrength("physics: MotorJointDef.MaxVelocityTorque", d.MaxVelocityTorque),
	)
}

// Validate is as that of DistanceJointDef.
func (d *MouseJointDef) Validate() error {
	return errors.Join(d.JointDef.validate(),
		checkTarget("physics: MouseJointDef.Target", d.Target),
		checkTuning("physics: MouseJointDef.Hertz", d.Hertz),
		checkTuning("physics: MouseJointDef.Damping", d.Damping),
		checkStrength("physics: MouseJointDef.MaxForce", d.MaxForce),
	)
}

// Validate is as that of DistanceJointDef.
func (d *FilterJointDef) Validate() error { return d.JointDef.validate() }

func (f *JointFrame) validate(pointField, angleField string) error {
	return errors.Join(checkPoint(pointField, f.Point), checkFinite(angleField, f.Angle), checkAngle(angleField, f.Angle))
}

func checkPoint(field string, p [2]float32) error {
	if err := checkFinite2(field, p); err != nil {
		return err
	}
	for i, v := range p {
		if v > rigid.MaxCoordinate || v < -rigid.MaxCoordinate {
			return fault.Element(ErrRange, field, i, v)
		}
	}
	return nil
}

func checkApart(a, b Body) error {
	if a == b {
		return because(fault.Field(ErrRange, "physics: JointDef.BodyB", b), "equals BodyA")
	}
	return nil
}

func checkNumber(field string, v float32) error { return checkBelow(field, v, huge) }

// checkBelow asks for a finite value within ±most; huge itself is too much.
func checkBelow(field string, v, most float32) error {
	if err := checkFinite(field, v); err != nil {
		return err
	}
	if !usable(v) || v > most || v < -most {
		return fault.Field(ErrRange, field, v)
	}
	return nil
}

func checkStrength(field string, v float32) error {
	if err := checkNotNegative(field, v); err != nil {
		return err
	}
	return checkNumber(field, v)
}

// checkLimits checks the upper limit, and that it is not below the lower one.
func checkLimits(field string, lower, upper, most float32) error {
	if err := checkBelow(field, upper, most); err != nil {
		return err
	}
	if upper < lower {
		return because(fault.Field(ErrRange, field, upper), "below the lower limit")
	}
	return nil
}

func checkEither(field string, v, other float32) error {
	if v > 0 && other > 0 {
		return because(fault.Field(ErrRange, field, v), "MaxSpringForce is set")
	}
	return nil
}

func checkTarget(field string, target [2]float32) error {
	if err := checkFinite2(field, target); err != nil {
		return err
	}
	return checkUsable(field, target[:]...)
}
