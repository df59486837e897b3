package physics3_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// A spring whose target is beyond a limit brings the coordinate to the limit, and does not press against it, however stiff it is. It still holds
// against a load that pushes it from the limit.
func TestSpringsYieldToLimits(t *testing.T) {
	for _, hertz := range []float32{1, 5, 30, 100} {
		for _, damping := range []float32{0.5, 1} {
			w, arm, hinge := hingedArm(t, 0, physics3.RevoluteJointDef{
				EnableLimit: true, LowerAngle: -0.5, UpperAngle: 0.3, EnableSpring: true, TargetAngle: 1.5, Hertz: hertz, Damping: damping,
			})
			what := fmt.Sprintf("hinge with %v Hz, damping %v", hertz, damping)
			most := 0.
			for range 300 {
				steps(t, w, 1)
				most = max(most, float64(stateOf(t, w, hinge).Angle))
			}
			near(t, what+": the angle", float64(stateOf(t, w, hinge).Angle), 0.3, 1e-3)
			near(t, what+": the greatest angle", most, 0.3, 2e-3)
			for range 120 { // the spring would need 1.2·I·(2πf)² to let go
				no(t, w.ApplyTorque(arm, vec{0, 0, -2}))
				steps(t, w, 1)
			}
			near(t, what+": the angle under a load", float64(stateOf(t, w, hinge).Angle), 0.3, 1e-3)

			slider := weightlessWorld(t, physics3.Config{})
			rail, box := bodyAt(t, slider, physics3.StaticBody, 0, 0, 0), addBoxOf(t, slider, dynamicAt(0, 0, 0), vec{0.5, 0.5, 0.5}, plain)
			j := joined(t, slider, &physics3.PrismaticJointDef{JointDef: commonDef(rail, box, vec{}, vec{}), EnableSpring: true, EnableLimit: true,
				Hertz: hertz, Damping: damping, TargetTranslation: -2, LowerTranslation: -0.5, UpperTranslation: 0.5})
			steps(t, slider, 300)
			near(t, "slider: "+what, float64(stateOf(t, slider, j).Translation[0]), -0.5, 1e-3)
		}
	}
}
