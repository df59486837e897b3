//go:build !linux

package command

import "time"

func ThreadTime() (time.Duration, bool) { return 0, false }

func ProcessTime() (time.Duration, bool) { return 0, false }

func SystemTime() time.Duration { return -1 }
