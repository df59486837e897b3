package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress is a line that shows the state of a long run, on a terminal and after the first second.
type progress struct {
	w     io.Writer // nil: not a terminal
	start time.Time
	last  time.Time
	shown bool
}

func newProgress(w io.Writer) *progress {
	p := &progress{start: time.Now()}
	if file, ok := w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.w = w
		}
	}
	return p
}

// due reports whether show would write: its arguments take memory, which should not count for a
// step.
func (p *progress) due() bool {
	return p.w != nil && time.Since(p.start) >= time.Second && time.Since(p.last) >= 200*time.Millisecond
}

// show replaces the line, a few times a second at most.
func (p *progress) show(format string, args ...any) {
	if !p.due() {
		return
	}
	p.last, p.shown = time.Now(), true
	line := []rune(fmt.Sprintf(format, args...))
	fmt.Fprintf(p.w, "\r\x1b[K%s", string(line[:min(len(line), 79)]))
}

// clear removes the line.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
