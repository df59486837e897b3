package rigid

import "github.com/evertick/evertick/native"

// must is native.Resolve for kernel calls, which have no error to return.
func must(l native.Level) native.Level {
	l, err := native.Resolve(l)
	if err != nil {
		panic("rigid: the level cannot run here; see native.Resolve")
	}
	return l
}
