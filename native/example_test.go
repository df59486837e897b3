package native_test

import (
	"fmt"

	"github.com/evertick/evertick/native"
)

func ExampleIntegrate() {
	pos := []float32{0, 10, -2}
	vel := []float32{1, -4, 0.5}
	native.Integrate(native.Auto, pos, vel, 0.25)
	fmt.Println(pos)
	// Output: [0.25 9 -1.875]
}

func ExampleResolve() {
	level, err := native.ParseLevel("avx3")
	if err != nil {
		fmt.Println(err)
	}
	level, err = native.Resolve(native.Go)
	fmt.Println(level, err)
	// Output:
	// native: level "avx3": unsupported; levels are auto, go, c, avx2, avx512, neon
	// go <nil>
}
