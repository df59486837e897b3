//go:build !linux

package pace

import "time"

// SleepUntil sleeps until Now returns about that.
func SleepUntil(at time.Duration) { time.Sleep(at - Now()) }

// CPU returns the number of the CPU that runs the caller; -1: unknown.
func CPU() int { return -1 }

// LeaveCPU moves the thread of the caller to another CPU if it is on that one, and the system allows that.
func LeaveCPU(int) {}
