package profile

import (
	"io"
	"os"
	"strings"
	"unicode"
)

// Text configures a report as text.
type Text struct {
	// Width is the length of the longest line, in columns of a terminal. 0 means 80; the minimum is 72.
	Width int
	// Color adds colours by the escape sequences of terminals.
	Color bool
}

const (
	textWidth  = 80
	leastWidth = 72
)

// TextFor returns the configuration for w: in colour only if w is a terminal with colours and
// NO_COLOR (no-color.org) is not set, and no wider than it.
func TextFor(w io.Writer) Text {
	t := Text{Width: textWidth}
	file, ok := w.(*os.File)
	if !ok {
		return t
	}
	columns, color := terminal(file)
	if columns > 0 {
		t.Width = max(leastWidth, min(columns, textWidth))
	}
	t.Color = color && allowsColor(os.Getenv)
	return t
}

func allowsColor(getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// style is how a piece of a line looks in colour.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

// piece is a part of a line.
type piece struct {
	text  string
	style style
}

func span(text string) piece                { return piece{text: text} }
func styled(style style, text string) piece { return piece{text, style} }
func (p piece) painted(color bool) string {
	if !color || p.style == plain || p.text == "" {
		return p.text
	}
	return "\x1b[" + string(p.style) + "m" + p.text + "\x1b[0m"
}

// page collects lines, none of which is wider than width. Text from outside, such as names, must
// pass through clean.
type page struct {
	strings.Builder
	width int
	color bool
}

// line writes a line of pieces, and cuts it at the width.
func (p *page) line(pieces ...piece) {
	free := p.width
	var last int
	for i, piece := range pieces {
		if strings.TrimRight(piece.text, " ") != "" {
			last = i
		}
	}
	for i, piece := range pieces {
		if i > last {
			break
		}
		if i == last {
			piece.text = strings.TrimRight(piece.text, " ")
		}
		piece.text = cut(piece.text, free)
		free -= cells(piece.text)
		p.WriteString(piece.painted(p.color))
	}
	p.WriteByte('\n')
}

// items writes parts with dots between them, on as many lines as they need.
func (p *page) items(style style, indent int, parts ...string) {
	const dot = " · "
	line, at := "", 0
	flush := func() {
		p.line(styled(style, line))
		line, at = strings.Repeat(" ", indent), indent
	}
	for _, part := range parts {
		if part == "" {
			continue
		}
		if line == "" || at == indent && strings.TrimSpace(line) == "" {
			line += part
		} else if at+cells(dot)+cells(part) <= p.width {
			line += dot + part
		} else {
			flush()
			line += part
		}
		at = cells(line)
	}
	if strings.TrimSpace(line) != "" {
		flush()
	}
}

// prose wraps a text at its spaces; a word that is too long is broken.
func (p *page) prose(style style, head, text string) {
	indent := cells(head)
	line, at := head, indent
	for _, word := range strings.Fields(text) {
		for {
			if gap := min(1, at-indent); at+gap+cells(word) <= p.width {
				line += strings.Repeat(" ", gap) + word
				at += gap + cells(word)
				break
			}
			if at == indent { // the word does not fit on any line
				first := prefix(word, p.width-indent)
				p.line(styled(style, line+first))
				word = word[len(first):]
			} else {
				p.line(styled(style, line))
			}
			line, at = strings.Repeat(" ", indent), indent
		}
	}
	if at > indent || text == "" {
		p.line(styled(style, line))
	}
}

// command wraps a command so that a shell reads it as one.
func (p *page) command(head, text string) {
	const more = ` \`
	line := head
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line += word
		case cells(line)+1+cells(word)+len(more) <= p.width:
			line += " " + word
		default:
			p.line(span(line + more))
			line = strings.Repeat(" ", cells(head)) + word
		}
	}
	p.line(span(line))
}

// clean replaces control and invisible characters, and bytes that are not UTF-8.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// wide are the blocks whose characters take two columns: East Asian Width W and F of
// Unicode Standard Annex 11, with whole blocks of pictographs.
var wide = [...][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23f3}, {0x25fd, 0x25fe}, {0x2600, 0x27bf}, {0x2b1b, 0x2b1c},
	{0x2b50, 0x2b55}, {0x2e80, 0x303e}, {0x3041, 0x4dbf}, {0x4e00, 0xa4cf}, {0xa960, 0xa97c}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
	{0xfe10, 0xfe19}, {0xfe30, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18df2}, {0x1aff0, 0x1b2fb}, {0x1f000, 0x1fbff}, {0x20000, 0x3fffd},
}

func cell(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	for _, block := range wide {
		if block[0] <= r && r <= block[1] {
			return 2
		}
	}
	return 1
}

func cells(s string) (n int) {
	for _, r := range s {
		n += cell(r)
	}
	return n
}

func prefix(s string, columns int) string {
	for i, r := range s {
		if columns -= cell(r); columns < 0 {
			return s[:i]
		}
	}
	return s
}

func cut(s string, columns int) string {
	if cells(s) <= columns {
		return s
	}
	if columns < 1 {
		return ""
	}
	return prefix(s, columns-1) + "…"
}

// left and right fill a cell of a table, and cut a text that is wider.
func left(s string, columns int) string {
	s = cut(s, columns)
	return s + strings.Repeat(" ", columns-cells(s))
}

func right(s string, columns int) string {
	s = cut(s, columns)
	return strings.Repeat(" ", columns-cells(s)) + s
}

// meter returns a bar that fills the share of the columns, in eighths of a column.
func meter(share float64, columns int) string {
	if !(share > 0) || columns < 1 { // not a number either
		return ""
	}
	eighths := int(min(1, share)*float64(8*columns) + 0.5)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return bar
}
