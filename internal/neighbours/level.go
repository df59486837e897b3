package neighbours

import "github.com/evertick/evertick/native"

// must is native.Resolve for kernel calls, which have no error to return.
func must(l native.Level) native.Level {
	if l == native.Go { // which runs everywhere
		return l
	}
	l, err := native.Resolve(l)
	if err != nil {
		panic("neighbours: the level cannot run here; see native.Resolve")
	}
	return l
}
