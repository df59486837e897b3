package broad

// ThirdAxis returns the axis, of three, along which boxes spread least: that of their intervals in Filters, while Boxes get
// the other two. Pairs do not depend on this choice, but the search compares all boxes that lie above one another along the third
// axis. least and most have the bounds of each box by axis.
//
// The spread is the mean distance of lower bounds from their mean, which a few boxes far away change little, among at most
// 256 boxes: more cost time and choose hardly better. Boxes that overlap nothing do not count. Of axes that spread equally it is
// the last. current is the axis of the last call, and remains unless another spreads clearly less: with another axis, what
// does not move is sorted again.
func ThirdAxis(least, most *[3][]float32, current int) (axis int) {
	var sample [sampledBoxes]uint32
	n := sampleBoxes(least, most, &sample)
	var spreads [3]float64
	for k := range spreads {
		if spreads[k] = spread(least[k], sample[:n]); spreads[k] <= spreads[axis] {
			axis = k
		}
	}
	if spreads[axis] >= clearlyLess*spreads[current] && n > 0 {
		return current
	}
	return axis
}

const (
	sampledBoxes = 256

	// clearlyLess is the part of the spread along the current axis from which another one takes its place. The search along it
	// takes about this part of the time.
	clearlyLess = 0.75
)

// sampleBoxes lists some boxes, finite and not inverted, and returns their number.
func sampleBoxes(least, most *[3][]float32, to *[sampledBoxes]uint32) (n int) {
	all := uint32(len(least[0]))
	for k := range min(all, sampledBoxes) {
		i := k
		if all > sampledBoxes {
			i = k * 0x9e3779b9 % all // as in trimOutliers
		}
		if isBox(least, most, i) {
			to[n] = i
			n++
		}
	}
	return n
}

// spread is the sum of the distances of lower bounds from their mean.
func spread(least []float32, sample []uint32) (sum float64) {
	mean := 0.
	for _, i := range sample {
		mean += float64(least[i])
	}
	mean /= float64(max(len(sample), 1))
	for _, i := range sample {
		sum += max(float64(least[i])-mean, mean-float64(least[i]))
	}
	return sum
}

// isBox reports whether box i is finite and not inverted.
func isBox(least, most *[3][]float32, i uint32) bool {
	for k := range least {
		if a, b := least[k][i], most[k][i]; !(-maxFinite <= a && a <= b && b <= maxFinite) {
			return false
		}
	}
	return true
}
