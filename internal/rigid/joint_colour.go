package rigid

import "github.com/evertick/evertick/internal/graph"

// numJointClasses is the number of classes of joints: two for each kind, joints with unusual parts and the others.
// Each class has its own blocks, so no joint is solved with parts that its class does not have.
const numJointClasses = 2 * (int(numJointKinds) - 1)

// class is at least 1, or 0 for no joint.
func (j *Joint) class() uint8 {
	if j.Kind == NoJoint {
		return 0
	}
	c := 2*uint8(j.Kind) - 1
	if j.usedParts()&^usualParts[j.Kind] != 0 {
		c++
	}
	return c
}

// JointColours assigns joints to the lanes of blocks. The zero JointColours is ready for use.
type JointColours struct {
	graph.Colours

	version        uint64
	joints, bodies int
}

// update is Assign; it does nothing if version is that of the last call and not 0.
func (c *JointColours) update(version uint64, joints []Joint, invMass []float32) {
	if version == 0 || version != c.version || len(joints) != c.joints || len(invMass) != c.bodies {
		c.Assign(joints, invMass)
		c.version, c.joints, c.bodies = version, len(joints), len(invMass)
	}
}

// Assign gives a colour to each joint with a kind and a dynamic body, as graph.Colours does. It panics if such a joint
// names a body that does not exist.
func (c *JointColours) Assign(joints []Joint, invMass []float32) {
	c.InOrder = true
	c.Reset(len(joints), numJointClasses, invMass)
	for i := range joints {
		j := &joints[i]
		c.Edges.A[i], c.Edges.B[i], c.Edges.Class[i] = j.A, j.B, j.class()
	}
	c.Colours.Assign()
}
