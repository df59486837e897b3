package profile

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminal returns the width of a console, and whether it supports escape sequences. A file that is
// not a console has neither.
func terminal(file *os.File) (columns int, color bool) {
	handle := windows.Handle(file.Fd())
	var mode uint32
	if windows.GetConsoleMode(handle, &mode) != nil {
		return 0, false
	}
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(handle, &info) == nil {
		columns = int(info.Window.Right-info.Window.Left) + 1
	}
	return columns, mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0
}
