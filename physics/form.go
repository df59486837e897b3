package physics

import (
	"fmt"

	"github.com/evertick/evertick/native/rigid"
)

// Form is a shape without a body, for queries: that of CircleForm and so on. The zero value is
// none.
type Form struct{ shape rigid.Shape }

// CircleForm is a disc. Errors are those of World.CreateCircle.
func CircleForm(c Circle) (Form, error) {
	if err := c.validate(); err != nil {
		return Form{}, err
	}
	return formOf(rigid.MakeCircle(vecOf(c.Center), c.Radius))
}

// CapsuleForm is a segment with a radius. Errors are those of World.CreateCapsule.
func CapsuleForm(c Capsule) (Form, error) {
	if err := c.validate(); err != nil {
		return Form{}, err
	}
	return formOf(rigid.MakeCapsule(vecOf(c.P1), vecOf(c.P2), c.Radius))
}

// PolygonForm is a convex polygon, such as a Box. Errors are those of World.CreatePolygon.
func PolygonForm(p Polygon) (Form, error) {
	p, err := p.hull()
	if err != nil {
		return Form{}, err
	}
	return formOf(makePolygon(&p))
}

func formOf(s rigid.Shape, err error) (Form, error) {
	if err != nil {
		return Form{}, fmt.Errorf("physics: %w", err)
	}
	return Form{s}, nil
}
