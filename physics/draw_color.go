package physics

// Color is a colour as 0xRRGGBB.
type Color uint32

// The colours of an AppendDraw. They are neither light nor dark: each can be told from a
// white and from a black ground.
const (
	ColorStatic    Color = 0x4f8f5f
	ColorKinematic Color = 0x9a6ad8
	ColorDynamic   Color = 0x2f80e0
	ColorBullet    Color = 0xd9641c
	ColorAsleep    Color = 0x7d8590
	ColorSensor    Color = 0xa8800f
	ColorDisabled  Color = 0xc0504d

	ColorBox      Color = 0x8f7f6f
	ColorContact  Color = 0xd23f7f
	ColorImpulse  Color = 0xe0482f
	ColorFriction Color = 0xb07a00
	ColorCenter   Color = 0x00958c
	ColorVelocity Color = 0x1d93a8
	ColorLabel    Color = 0x7a7a7a
	ColorJoint    Color = 0xc05ad0
)
