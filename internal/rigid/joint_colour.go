package rigid

// numJointClasses is the number of classes of joints: two for each kind, joints with unusual parts and the others.
// Each class has its own blocks, so no joint is solved with parts that its class does not have.
const numJointClasses = 2 * (int(numJointKinds) - 1)

const noClass = ^uint16(0)

func (j *Joint) class() uint16 {
	c := 2 * uint16(j.Kind-1)
	if j.usedParts()&^usualParts[j.Kind] != 0 {
		c++
	}
	return c
}

// JointColours assigns joints to the lanes of blocks as Colours does with contacts: no two joints of one
// colour, other than Overflow, share a dynamic body, joints with a body that is not dynamic have the later
// colours, and a block has joints of one kind. The zero JointColours is ready for use.
type JointColours struct {
	// Start has the first block of each colour: colour c has blocks Start[c] to Start[c+1]-1.
	Start [NumColours + 1]int

	// Joint has the joint of each lane, Lanes per block, or NoContact after the last one.
	Joint []uint32

	bodyColours bodyColours
	runOf       []uint16 // of each joint: its colour times numJointClasses, and its class
	overflow    overflowRounds

	version        uint64
	joints, bodies int
}

// Blocks is the number of blocks of all colours.
func (c *JointColours) Blocks() int { return c.Start[NumColours] }

// update is Assign; it does nothing if version is that of the last call and not 0.
func (c *JointColours) update(version uint64, joints []Joint, invMass []float32) {
	if version == 0 || version != c.version || len(joints) != c.joints || len(invMass) != c.bodies {
		c.Assign(joints, invMass)
		c.version, c.joints, c.bodies = version, len(joints), len(invMass)
	}
}

// Assign gives a colour to each joint with a kind and a dynamic body: the lowest that neither dynamic body has
// yet, in the order of the joints. Its time is proportional to the number of joints and bodies. invMass has the
// inverse mass of each body, 0 for those that are not dynamic; it panics if a joint names a body that does not
// exist.
func (c *JointColours) Assign(joints []Joint, invMass []float32) {
	c.bodyColours.reset(invMass)
	c.runOf = resized(c.runOf, len(joints))
	var count [NumColours * numJointClasses]int
	for i := range joints {
		run := noClass
		if j := &joints[i]; j.Kind != NoJoint {
			run = c.assignRun(j)
		}
		c.runOf[i] = run
		if run != noClass {
			count[run]++
		}
	}
	c.assignOverflow(joints, invMass)
	next := c.layOut(&count)
	for i, run := range c.runOf {
		if run < Overflow*uint16(numJointClasses) {
			c.Joint[next[run]] = uint32(i)
			next[run]++
		}
	}
	c.overflow.fill(c.Joint[c.Start[Overflow]*Lanes:])
}

// assignRun chooses the run of a joint.
func (c *JointColours) assignRun(j *Joint) uint16 {
	colour, ok := c.bodyColours.assign(j.A, j.B)
	if !ok {
		return noClass
	}
	return uint16(colour*numJointClasses) + j.class()
}

// layOut sets Start, makes room for the lanes, and returns the first lane of each run.
func (c *JointColours) layOut(count *[NumColours * numJointClasses]int) (next [Overflow * numJointClasses]int) {
	blocks := 0
	for run := range next {
		if run%numJointClasses == 0 {
			c.Start[run/numJointClasses] = blocks
		}
		next[run] = blocks * Lanes
		blocks += (count[run] + Lanes - 1) / Lanes
	}
	c.Start[Overflow] = blocks
	blocks += c.overflow.blocks()
	c.Start[NumColours] = blocks
	c.Joint = resized(c.Joint, blocks*Lanes)
	for i := range c.Joint {
		c.Joint[i] = NoContact
	}
	return next
}

// assignOverflow assigns rounds to the joints in the runs of Overflow.
func (c *JointColours) assignOverflow(joints []Joint, invMass []float32) {
	overflow, rounds := &c.overflow, uint32(0)
	overflow.clear()
	for i, run := range c.runOf {
		if run == noClass || run < Overflow*uint16(numJointClasses) {
			continue
		}
		if rounds == 0 {
			overflow.reset(len(invMass))
		}
		round, _ := overflow.assignRound(0, joints[i].A, joints[i].B, invMass)
		rounds = max(rounds, round+1)
		class := uint32(run) - Overflow*uint32(numJointClasses)
		overflow.entries = append(overflow.entries, overflowEntry{uint32(i), round*uint32(numJointClasses) + class})
	}
	overflow.count(int(rounds) * numJointClasses)
}
