package valley

import (
	"math"

	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

const (
	road = 27 // radius of the circle on which cars drive

	cell    = 2  // between two heights
	half    = 48 // of the edge of the land
	samples = 2*half/cell + 1
	hillsAt = 34 // from where the land rises, from the middle
	hills   = 7  // how high

	stairsX, stairs   = -11, 12 // where the lowest step begins, and how many there are
	rise, tread, wide = 0.3, 0.5, 3
	landing           = 2.5 // of the top

	planks               = 14
	bridgeFrom, bridgeTo = 22, 32 // along x
	bridgeHeight         = 4.2
)

// heights of the land: samples along x, then along z.
type heights []float32

// bumps on the road: x, z and height.
var bumps = [...][3]float32{{0, road, 0.9}, {-19, 19, 1.1}, {-road, 0, 0.8}, {-19, -19, 1.2}, {0, -road, 0.7}, {19, -19, 1}, {19, 19, 0.8}}

const bumpRadius = 8

// smooth goes from 0 to 1 as t does, with level ends.
func smooth(t float32) float32 {
	t = min(max(t, 0), 1)
	return t * t * (3 - float32(2*t))
}

func length(x, z float32) float32 {
	return float32(math.Sqrt(float64(float32(x*x) + float32(z*z))))
}

// newHeights returns level land with bumps within hills.
func newHeights() heights {
	h := make(heights, samples*samples)
	for i := range h {
		x, z := float32(i%samples*cell-half), float32(i/samples*cell-half)
		h[i] = float32(hills * smooth((length(x, z)-hillsAt)/(half-hillsAt)))
		for _, b := range bumps {
			h[i] += float32(b[2] * smooth(1-length(x-b[0], z-b[1])/bumpRadius))
		}
	}
	return h
}

// at is the height of the land at a point of it: between the four samples around it.
func (h heights) at(x, z float32) float32 {
	// Both are within the samples, so the conversions are exact.
	u := min(max((x+half)/cell, 0), samples-1.001)
	w := min(max((z+half)/cell, 0), samples-1.001)
	i, k := int(u), int(w)
	u, w = u-float32(i), w-float32(k)
	a := h[k*samples+i:]
	b := a[samples:]
	near, far := a[0]+float32(u*(a[1]-a[0])), b[0]+float32(u*(b[1]-b[0]))
	return near + float32(w*(far-near))
}

// buildGround makes the land, the stairs and the pillars of the bridge.
func (v *valley) buildGround() error {
	v.ground = newHeights()
	field, err := physics3.NewHeightField(physics3.HeightFieldDef{Width: samples, Depth: samples, Cell: [2]float32{cell, cell}, Heights: v.ground})
	if err != nil {
		return err
	}
	land, err := v.world.CreateBody(physics3.DefaultBodyDef())
	if err == nil {
		_, err = v.world.CreateHeightField(land, physics3.DefaultShapeDef(), field, physics3.Placement{Position: [3]float32{-half, 0, -half}})
	}
	if err != nil {
		return err
	}
	body, err := v.world.CreateBody(physics3.DefaultBodyDef())
	if err != nil {
		return err
	}
	for i := range stairs {
		height := float32((float32(i) + 1) * rise)
		box := physics3.Box{Half: [3]float32{tread / 2, height / 2, wide}, Center: [3]float32{stairsX - float32((float32(i)+0.5)*tread), height / 2, 0}}
		if i == stairs-1 {
			box.Half[0], box.Center[0] = landing/2, box.Center[0]-(landing-tread)/2
		}
		if _, err := v.world.CreateBox(body, physics3.DefaultShapeDef(), box); err != nil {
			return err
		}
	}
	return nil
}

// buildBridge makes two pillars, and a bridge between them.
func (v *valley) buildBridge() error {
	def := rig.BridgeDef{
		From: [3]float32{bridgeFrom, bridgeHeight - 0.1, 0}, To: [3]float32{bridgeTo, bridgeHeight - 0.1, 0},
		Planks: planks, Width: 3, Thickness: 0.2, Shape: physics3.DefaultShapeDef(), Friction: 300,
	}
	def.Shape.Density = 500
	for i, end := range []*physics3.Body{&def.BodyA, &def.BodyB} {
		at := physics3.DefaultBodyDef()
		at.Position = [3]float32{bridgeFrom - 1 + float32(i)*(bridgeTo-bridgeFrom+2), bridgeHeight / 2, 0}
		pillar, err := v.world.CreateBody(at)
		if err == nil {
			_, err = v.world.CreateBox(pillar, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{1, bridgeHeight / 2, 2}})
		}
		if err != nil {
			return err
		}
		*end = pillar
	}
	_, err := rig.NewBridge(v.world, def)
	return err
}
