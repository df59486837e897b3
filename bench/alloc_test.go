package main

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/paritytest"
	"github.com/evertick/evertick/physics"
)

// fakeEngine moves bodies by their velocity, knows no contacts and allocates
// nothing. It embeds the interface for the methods that no scene calls.
type fakeEngine struct {
	physics.Engine
	cols *physics.Columns
	rows int
}

func (f *fakeEngine) Open(_ physics.Config, cols *physics.Columns) error {
	f.cols = cols
	return nil
}

func (f *fakeEngine) CreateBody(i int, d *physics.BodyDef) error {
	f.rows = max(f.rows, i+1)
	f.cols.X[i], f.cols.Y[i], f.cols.Cos[i] = d.Position[0], d.Position[1], 1
	return nil
}

func (f *fakeEngine) CreateCircle(_, _ int, _ *physics.ShapeDef, _ physics.Circle) error { return nil }

func (f *fakeEngine) CreatePolygon(_, _ int, _ *physics.ShapeDef, _ physics.Polygon) error {
	return nil
}

func (f *fakeEngine) CreateSegment(_, _ int, _ *physics.ShapeDef, _ physics.Segment) error {
	return nil
}

func (f *fakeEngine) ApplyLinearImpulseToCenter(i int, impulse [2]float32) error {
	f.cols.VX[i] += impulse[0]
	f.cols.VY[i] += impulse[1]
	return nil
}

func (f *fakeEngine) Step(dt float32) error {
	for i := range f.rows {
		f.cols.X[i] += float32(f.cols.VX[i] * dt)
		f.cols.Y[i] += float32(f.cols.VY[i] * dt)
	}
	return nil
}

// A step of the capstone allocates nothing.
func TestStepAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("level=%s/workers=%d", level, workers), func(t *testing.T) {
				s := configuredScene(t, "capstone", evertick.Config{Seed: 1, Level: level, Workers: workers})
				advance(t, s, 300) // until the buffers have their size
				if n := testing.AllocsPerRun(100, func() { advance(t, s, 1) }); n != 0 {
					t.Errorf("%g allocations a step", n)
				}
			})
		}
	}
}
