package rigid3

// The operations of Vec for other packages.

// Add returns a + b.
func (a Vec) Add(b Vec) Vec { return a.add(b) }

// Sub returns a - b.
func (a Vec) Sub(b Vec) Vec { return a.sub(b) }

// Times returns a·s.
func (a Vec) Times(s float32) Vec { return a.times(s) }

// Cross returns a×b.
func (a Vec) Cross(b Vec) Vec { return a.cross(b) }

// Dot returns a·b.
func (a Vec) Dot(b Vec) float32 { return a.dot(b) }

// Transform returns a point of the body in the world.
func (t *Pose) Transform(v Vec) Vec { return t.transform(v) }
