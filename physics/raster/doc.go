// Package raster draws pictures of physics worlds, and of whatever else is a physics.Drawing, in
// pixels.
//
//	c, err := raster.New(400, 300)
//	err = world.AppendDraw(&d, physics.DrawOptions{Joints: true})
//	c.Clear(0xffffff)
//	err = c.Draw(&d, physics.DrawnBox{}) // all that moves
//	err = png.Encode(file, c.Image())
//
// # What a picture has
//
// The second axis of the plane points up. A view is in the middle of the picture, as large as
// fits. Polygons come first, then circles, then lines, each in the order of the Drawing, as in package
// physics/svg. Shapes are filled with half of their colour, and have an outline of 1.5 pixels, as wide as
// lines are. Labels are left out. So is an element with a coordinate that is not finite, and what is beyond
// the picture is cut off.
//
// A pixel has 4 by 4 samples, at the centres of its 16 cells. The part of a pixel that a shape covers is the number of
// samples in it; an outline is the points within 0.75 pixels of the edge of its shape.
//
// # Guarantees
//
// Equal drawings give equal bytes on every machine. Drawing allocates nothing after warm-up.
package raster
