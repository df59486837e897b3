package rigid

// SetMaterial replaces the friction and the restitution of a lane of a prepared block.
func (b *ContactBlock) SetMaterial(lane int, friction, restitution float32) {
	b.Friction[lane], b.Restitution[lane] = friction, restitution
	b.Flags &^= flagRestitution
	for _, v := range b.Restitution {
		if v > 0 {
			b.Flags |= flagRestitution
		}
	}
}
