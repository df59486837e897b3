package rigid3

// Rescale multiplies all impulses.
func (c *Contact) Rescale(ratio float32) {
	for k := range c.Normal {
		c.Normal[k].Impulse = float32(c.Normal[k].Impulse * ratio)
	}
	c.Tangent, c.Twist, c.Rolling = c.Tangent.Times(ratio), float32(c.Twist*ratio), c.Rolling.Times(ratio)
}

// ClearImpulses makes all impulses zero.
func (c *Contact) ClearImpulses() {
	for k := range c.Normal {
		c.Normal[k].Impulse = 0
	}
	c.Tangent, c.Twist, c.Rolling = Vec{}, 0, Vec{}
}
