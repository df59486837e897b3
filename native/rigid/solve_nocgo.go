//go:build !cgo

package rigid

import "github.com/evertick/evertick/native"

const withoutC = "rigid: built without cgo"

func anglesC(native.Level, []float32, []float32, []float32) { panic(withoutC) }

func updateCentresC(native.Level, *Origins, *Poses, int, int) { panic(withoutC) }

func updateOriginsC(native.Level, *Origins, []State, *Poses, int, int, []uint32) int { panic(withoutC) }

func allInRangeC(native.Level, []float32, int, int, int) bool { panic(withoutC) }

func (*System) startC(native.Level, int, int)                    { panic(withoutC) }
func (*System) prepareC(native.Level, []ContactBlock, []uint32)  { panic(withoutC) }
func (*System) integrateVelocitiesC(native.Level, int, int, int) { panic(withoutC) }
func (*System) warmStartC(native.Level, []ContactBlock)          { panic(withoutC) }
func (*System) subStepsC(native.Level)                           { panic(withoutC) }
func (*System) solveC(native.Level, bool, []ContactBlock)        { panic(withoutC) }
func (*System) integratePositionsC(native.Level, int, int)       { panic(withoutC) }
func (*System) restitutionC(native.Level, []ContactBlock)        { panic(withoutC) }
func (*System) storeC([]ContactBlock, []uint32)                  { panic(withoutC) }
func (*System) finishC(native.Level, int, int)                   { panic(withoutC) }

func (*System) prepareJointsC(native.Level, []JointBlock, []uint32) { panic(withoutC) }
func (*System) warmStartJointsC(native.Level, []JointBlock)         { panic(withoutC) }
func (*System) solveJointsC(native.Level, bool, []JointBlock)       { panic(withoutC) }
func (*System) storeJointsC([]JointBlock, []uint32)                 { panic(withoutC) }
