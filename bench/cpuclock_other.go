//go:build !linux

package main

import "time"

func threadTime() (time.Duration, bool) { return 0, false }

func processTime() (time.Duration, bool) { return 0, false }

func systemTime() time.Duration { return -1 }
