package main

import "os"

func Example() {
	if err := run(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// courier 0: shops [279 137 208], the first 183 m² away
	// courier 1: shops [264 284 61], the first 45590 m² away
	// courier 2: shops [67 26 299], the first 44754 m² away
	// 143 pairs of 20000 couriers are within 2 m
	// 3187 and 10494: 0.030 m² apart
}
