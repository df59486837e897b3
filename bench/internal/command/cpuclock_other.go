//go:build !linux

package command

import "time"

func threadTime() (time.Duration, bool) { return 0, false }

func processTime() (time.Duration, bool) { return 0, false }

func systemTime() time.Duration { return -1 }
