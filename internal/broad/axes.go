package broad

// ThirdAxis returns the axis, of three, along which boxes spread least: that of their intervals in Filters, while Boxes get
// the other two. Pairs do not depend on this choice, but where boxes lie above one another along the third axis, the search
// compares all of them. least and most have the bounds of each box by axis.
//
// The spread is the mean distance of lower bounds from their mean, which a few boxes far away change little. Boxes that
// overlap nothing do not count. Of axes that spread equally it is the last.
func ThirdAxis(least, most *[3][]float32) (axis int) {
	narrowest := 0.
	for k := range least {
		if s := spread(least, most, k); k == 0 || s <= narrowest {
			axis, narrowest = k, s
		}
	}
	return axis
}

// spread is the sum of the distances of lower bounds along axis k from their mean.
func spread(least, most *[3][]float32, k int) (sum float64) {
	mean, n := 0., 0
	for i := range least[k] {
		if isBox(least, most, i) {
			mean += float64(least[k][i])
			n++
		}
	}
	mean /= float64(max(n, 1))
	for i, v := range least[k] {
		if isBox(least, most, i) {
			sum += max(float64(v)-mean, mean-float64(v))
		}
	}
	return sum
}

// isBox reports whether box i is finite and not inverted.
func isBox(least, most *[3][]float32, i int) bool {
	for k := range least {
		if a, b := least[k][i], most[k][i]; !(-maxFinite <= a && a <= b && b <= maxFinite) {
			return false
		}
	}
	return true
}
