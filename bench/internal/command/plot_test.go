package command

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func plainLabel(x float64) string { return fmt.Sprintf("%g", x) }

// Powers lie on a straight line, from corner to corner.
func TestPlot(t *testing.T) {
	p := plot{title: "squares", label: plainLabel, curves: []curve{
		{'s', "square", []float64{1, 10, 100}, []float64{1, 100, 10000}},
		{'c', "constant", []float64{1, 10, 100}, []float64{100, 100, 100}},
	}}
	lines := strings.Split(p.String(), "\n")
	const first = 2 // line of the area
	mark := func(line string, column int) string {
		if runes := []rune(line); column < len(runes) {
			return string(runes[column])
		}
		return ""
	}
	left, right := plotMargin+plotInset, plotWidth-plotInset-1
	for _, c := range []struct {
		line, column int
		want         string
	}{
		{plotHeight - 1, left, "s"}, {0, right, "s"},
		{7, left, "c"}, {7, (left + right) / 2, "*"}, {7, right, "c"},
		{7, left + 5, "·"}, {0, left, " "},
	} {
		if got := mark(lines[first+c.line], c.column); got != c.want {
			t.Errorf("line %d, column %d: %q, want %q", c.line, c.column, got, c.want)
		}
	}
	for line, want := range map[int]string{0: "10000 ┤", plotHeight - 1: "1 ┤", plotHeight: "└──┬───", plotHeight + 1: " 100"} {
		if !strings.Contains(lines[first+line], want) {
			t.Errorf("line %q lacks %q", lines[first+line], want)
		}
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > plotWidth || strings.HasSuffix(line, " ") {
			t.Errorf("line %q: %d columns", line, n)
		}
	}
	if t.Failed() {
		t.Log("\n" + p.String())
	}
}

// Whatever the numbers, every point is inside and the labels fit.
func TestPlotOfAnything(t *testing.T) {
	for _, y := range [][]float64{
		{5}, {0.003, 7}, {1e-9, 1e9}, {99.99, 100.01, 100}, {1000, 1000}, {999.9999999999999, 2}, {3, 30, 300, 20, 1},
	} {
		c := curve{mark: 'x', name: "curve", y: y}
		for i := range y {
			c.x = append(c.x, float64(int(1)<<(2*i)))
		}
		p := plot{title: "anything", label: plainLabel, curves: []curve{c}}
		text := p.String()
		if got := strings.Count(strings.Split(text, "└")[0], "x"); got != len(y) {
			t.Errorf("%v: %d marks\n%s", y, got, text)
		}
		for _, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > plotWidth {
				t.Errorf("%v: %d columns\n%s", y, n, text)
			}
		}
	}
	if text := (&plot{title: "nothing", curves: []curve{{mark: 'x', name: "curve"}}}).String(); !strings.Contains(text, "nothing") {
		t.Errorf("no points: %q", text)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   []float64
	}{
		{1, 1, []float64{1}},
		{3, 3, []float64{2, 5}},
		{1.9, 5, []float64{1, 2, 5}},
		{9.99, 10.01, []float64{5, 10, 20}},
		{0.07, 999, []float64{0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}},
	} {
		if got := ticks(c.lo, c.hi); fmt.Sprintf("%.6g", got) != fmt.Sprintf("%.6g", c.want) {
			t.Errorf("from %g to %g: %v, want %v", c.lo, c.hi, got, c.want)
		}
	}
}
