package rigid

// numJointClasses is how many classes of joints there are: of each kind those with
// seldom parts, and the others. The blocks of a class are apart, so that they are solved without
// what the class does not have.
const numJointClasses = 2 * (int(numJointKinds) - 1)

const noClass = ^uint16(0)

func (j *Joint) class() uint16 {
	c := 2 * uint16(j.Kind-1)
	if j.parts()&^jointUsual[j.Kind] != 0 {
		c++
	}
	return c
}

// JointColours deals joints out to the lanes of blocks as Colours does with contacts: no two joints
// of one colour, other than Overflow, share a dynamic body, joints with a body that is not
// dynamic have the later colours, and a block has joints of one kind. The zero
// JointColours is ready for use.
type JointColours struct {
	// Start has the blocks of each colour: colour c has blocks Start[c] to
	// Start[c+1]-1.
	Start [NumColours + 1]int

	// Joint has the index of the joint of each lane of each block, Lanes a block, or
	// NoContact behind the last one.
	Joint []uint32

	used  palette
	runOf []uint16 // of each joint: its colour times numJointClasses, and its class
	late  turns

	version        uint64
	joints, bodies int
}

// Blocks is the number of blocks of all colours.
func (c *JointColours) Blocks() int { return c.Start[NumColours] }

// keep is Deal, unless joints are as they were at a version that is not 0.
func (c *JointColours) keep(version uint64, joints []Joint, invMass []float32) {
	if version == 0 || version != c.version || len(joints) != c.joints || len(invMass) != c.bodies {
		c.Assign(joints, invMass)
		c.version, c.joints, c.bodies = version, len(joints), len(invMass)
	}
}

// Deal gives a colour to each joint with a kind and a dynamic body: the lowest that neither
// dynamic body has yet, in the order of the joints. It takes time in proportion to the number of
// joints and bodies. invMass has the inverse mass of each body, 0 for those that are not
// dynamic; it panics if a joint names a body beyond.
func (c *JointColours) Assign(joints []Joint, invMass []float32) {
	c.used.begin(invMass)
	c.runOf = resized(c.runOf, len(joints))
	var count [NumColours * numJointClasses]int
	for i := range joints {
		run := noClass
		if j := &joints[i]; j.Kind != NoJoint {
			run = c.run(j)
		}
		c.runOf[i] = run
		if run != noClass {
			count[run]++
		}
	}
	c.takeLate(joints, invMass)
	next := c.lay(&count)
	for i, run := range c.runOf {
		if run < Overflow*uint16(numJointClasses) {
			c.Joint[next[run]] = uint32(i)
			next[run]++
		}
	}
	c.late.deal(c.Joint[c.Start[Overflow]*Lanes:])
}

// run chooses the run of a joint.
func (c *JointColours) run(j *Joint) uint16 {
	colour, ok := c.used.choose(j.A, j.B)
	if !ok {
		return noClass
	}
	return uint16(colour*numJointClasses) + j.class()
}

// lay sets Start, makes room for the lanes, and returns the first lane of each run.
func (c *JointColours) lay(count *[NumColours * numJointClasses]int) (next [Overflow * numJointClasses]int) {
	blocks := 0
	for run := range next {
		if run%numJointClasses == 0 {
			c.Start[run/numJointClasses] = blocks
		}
		next[run] = blocks * Lanes
		blocks += (count[run] + Lanes - 1) / Lanes
	}
	c.Start[Overflow] = blocks
	blocks += c.late.blocks()
	c.Start[NumColours] = blocks
	c.Joint = resized(c.Joint, blocks*Lanes)
	for i := range c.Joint {
		c.Joint[i] = NoContact
	}
	return next
}

// takeLate gives turns to the joints that are in the runs of Overflow.
func (c *JointColours) takeLate(joints []Joint, invMass []float32) {
	t, turns := &c.late, uint32(0)
	t.clear()
	for i, run := range c.runOf {
		if run == noClass || run < Overflow*uint16(numJointClasses) {
			continue
		}
		if turns == 0 {
			t.begin(len(invMass))
		}
		turn, _ := t.next(0, joints[i].A, joints[i].B, invMass)
		turns = max(turns, turn+1)
		class := uint32(run) - Overflow*uint32(numJointClasses)
		t.late = append(t.late, late{uint32(i), turn*uint32(numJointClasses) + class})
	}
	t.count(int(turns) * numJointClasses)
}
