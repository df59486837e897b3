package guide_test

import (
	"encoding/xml"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The pictures of terminals are drawn from what programs have printed, colours included.
func TestPictures(t *testing.T) {
	needExamples(t)
	for _, p := range []struct{ text, picture, title string }{
		{"../../examples/boids/testdata/flock.ansi", "../images/boids.svg", "A flock of 1,200 boids, drawn in half blocks of a terminal"},
	} {
		got := terminal(read(t, p.text), p.title)
		if err := xml.Unmarshal([]byte(got), new(struct{})); err != nil {
			t.Errorf("%s: %v", p.picture, err)
		}
		if *update {
			if err := os.WriteFile(p.picture, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if read(t, p.picture) != got {
			t.Errorf("%s is not a picture of %s; go test ./docs/guide -update draws it anew", p.picture, p.text)
		}
	}
}

// A character is 8 by 16 pixels, whatever font a viewer has: textLength sees to that.
const charWidth, charHeight, border = 8, 16, 12

// style is what escape sequences have set; empty: the terminal's own.
type style struct {
	fore, back string
	bold       bool
}

// palette are the eight colours of a terminal, and their bright forms, on a dark ground.
var palette = [16]string{"#1b1f27", "#e5484d", "#46a758", "#d9a62e", "#4a8fe7", "#b46fd6", "#2fa4a9", "#c8ccd4",
	"#6b7280", "#ff6b6f", "#63c174", "#f0c14b", "#6caeff", "#cf92ec", "#4fc3c8", "#ffffff"}

// terminal draws text with the escape sequences of SGR as an SVG.
func terminal(text, title string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	var body strings.Builder
	cols, now := 0, style{}
	for row, line := range lines {
		col := 0
		for line != "" {
			if strings.HasPrefix(line, "\x1b[") {
				end := strings.IndexByte(line, 'm')
				now.set(strings.Split(line[2:end], ";"))
				line = line[end+1:]
				continue
			}
			run := line
			if i := strings.IndexByte(line, '\x1b'); i >= 0 {
				run = line[:i]
			}
			line = line[len(run):]
			col += now.draw(&body, run, col, row)
		}
		cols = max(cols, col)
	}
	w, h := cols*charWidth+2*border, len(lines)*charHeight+2*border
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">
<title>%s</title>
<rect width="%d" height="%d" rx="8" fill="#0b0d10"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13" shape-rendering="crispEdges">
%s</g>
</svg>
`, w, h, w, h, escaped(title), w, h, body.String())
}

// draw draws a run of characters of one style and returns how many it has. Half blocks are
// rectangles, so that no font leaves gaps between them.
func (s style) draw(b *strings.Builder, run string, col, row int) int {
	x, y, chars := border+col*charWidth, border+row*charHeight, []rune(run)
	if s.back != "" {
		rect(b, x, y, len(chars)*charWidth, charHeight, s.back)
	}
	fore := s.fore
	if fore == "" {
		fore = palette[7]
	}
	for i := 0; i < len(chars); {
		n := 1
		for i+n < len(chars) && chars[i+n] == chars[i] {
			n++
		}
		if top, height, ok := blockOf(chars[i]); ok {
			rect(b, x+i*charWidth, y+top, n*charWidth, height, fore)
		} else if chars[i] != ' ' {
			for n = 1; i+n < len(chars) && chars[i+n] != ' '; n++ {
				if _, _, ok := blockOf(chars[i+n]); ok {
					break
				}
			}
			weight := ""
			if s.bold {
				weight = ` font-weight="bold"`
			}
			fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\" fill=\"%s\"%s>%s</text>\n",
				x+i*charWidth, y+charHeight-4, n*charWidth, fore, weight, escaped(string(chars[i:i+n])))
		}
		i += n
	}
	return len(chars)
}

// blockOf returns which part of its box a block element fills, in pixels from the top.
func blockOf(r rune) (top, height int, ok bool) {
	switch {
	case r == '▀':
		return 0, charHeight / 2, true
	case r >= '▁' && r <= '█': // eighths from below
		height = int(r-'▁'+1) * charHeight / 8
		return charHeight - height, height, true
	}
	return 0, 0, false
}

// rect leaves black out: it is the ground, more or less.
func rect(b *strings.Builder, x, y, w, h int, fill string) {
	if fill == "#000000" {
		return
	}
	fmt.Fprintf(b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", x, y, w, h, fill)
}

// set takes in the numbers of one escape sequence.
func (s *style) set(codes []string) {
	for i := 0; i < len(codes); i++ {
		n, _ := strconv.Atoi(codes[i])
		switch {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2: // faint
			s.fore = palette[8]
		case n == 22:
			s.bold, s.fore = false, ""
		case n >= 30 && n <= 37:
			s.fore = palette[n-30]
		case n >= 90 && n <= 97:
			s.fore = palette[n-82]
		case n >= 40 && n <= 47:
			s.back = palette[n-40]
		case n == 39:
			s.fore = ""
		case n == 49:
			s.back = ""
		case (n == 38 || n == 48) && i+4 < len(codes) && codes[i+1] == "2":
			var rgb [3]int
			for c := range rgb {
				rgb[c], _ = strconv.Atoi(codes[i+2+c])
			}
			colour := fmt.Sprintf("#%02x%02x%02x", rgb[0], rgb[1], rgb[2])
			if n == 38 {
				s.fore = colour
			} else {
				s.back = colour
			}
			i += 4
		}
	}
}

func escaped(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s))
	return b.String()
}
