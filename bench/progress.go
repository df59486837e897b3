package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress is a line that tells what a long run is at, on a terminal and from
// its second second on.
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

// show replaces the line, a few times a second at most.
func (p *progress) show(format string, args ...any) {
	now := time.Now()
	if p.w == nil || now.Sub(p.start) < time.Second || now.Sub(p.last) < 200*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	line := []rune(fmt.Sprintf(format, args...))
	fmt.Fprintf(p.w, "\r\x1b[K%s", string(line[:min(len(line), 79)]))
}

// clear takes the line away.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
