package command

import (
	"fmt"
	"math"
	"strings"
)

// A plot is drawn as text, with logarithmic axes.
const (
	plotWidth  = 80 // columns, with the labels
	plotHeight = 16 // lines, without the axis along x
	plotMargin = 9  // columns of the labels of y
	plotInset  = 2  // columns between the axis and the first point
)

// curve is a line of a plot. Its numbers are positive, x ascends.
type curve struct {
	mark rune
	name string
	x, y []float64
}

// plot has ticks along x where the points of its first curve are.
type plot struct {
	title  string
	label  func(x float64) string
	curves []curve
}

// axis maps a range of numbers to places, by their logarithms.
type axis struct {
	lo, hi float64
	places int
}

func (a axis) at(v float64) int {
	if a.hi <= a.lo {
		return 0
	}
	return int(math.Round(math.Log(v/a.lo) / math.Log(a.hi/a.lo) * float64(a.places-1)))
}

// include widens the axis by a number.
func (a *axis) include(v float64) {
	if a.lo == 0 {
		a.lo, a.hi = v, v
	}
	a.lo, a.hi = min(a.lo, v), max(a.hi, v)
}

// ticks returns 1, 2 and 5 times powers of ten, from the last that is not above lo to the first
// that is not below hi.
func ticks(lo, hi float64) []float64 {
	at := func(i int) float64 { // i is not negative; the first is 10^-12
		return [...]float64{1, 2, 5}[i%3] * math.Pow10(i/3-12)
	}
	i := 0
	for at(i+1) <= lo {
		i++
	}
	all := []float64{at(i)}
	for at(i) < hi {
		i++
		all = append(all, at(i))
	}
	return all
}

func (p *plot) String() string {
	x := axis{places: plotWidth - plotMargin - 2*plotInset}
	y := axis{places: plotHeight}
	for _, c := range p.curves {
		for i := range c.x {
			x.include(c.x[i])
			y.include(c.y[i])
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", p.title)
	if y.lo > 0 {
		p.write(&b, x, y)
	}
	for _, c := range p.curves {
		fmt.Fprintf(&b, "%*c  %s\n", plotMargin, c.mark, c.name)
	}
	return b.String()
}

func (p *plot) write(b *strings.Builder, x, y axis) {
	labels := make([]string, plotHeight)
	marks := ticks(y.lo, y.hi)
	y.lo, y.hi = marks[0], marks[len(marks)-1]
	for _, tick := range marks {
		labels[y.at(tick)] = fmt.Sprintf("%.6g", tick)
	}
	area := p.draw(x, y)
	for i := plotHeight - 1; i >= 0; i-- {
		edge := '│'
		if labels[i] != "" {
			edge = '┤'
		}
		fmt.Fprintf(b, "%*s %c%s\n", plotMargin-2, labels[i], edge, strings.TrimRight(string(area[i]), " "))
	}
	edge := []rune(strings.Repeat("─", plotWidth-plotMargin))
	under := []rune(strings.Repeat(" ", plotWidth))
	free := 0 // first column of under without a label
	for _, v := range p.curves[0].x {
		at := plotInset + x.at(v)
		edge[at] = '┬'
		label := []rune(p.label(v))
		if from := min(plotMargin+at-len(label)/2, plotWidth-len(label)); from >= free {
			copy(under[from:], label)
			free = from + len(label) + 1
		}
	}
	fmt.Fprintf(b, "%*s└%s\n%s\n", plotMargin-1, "", string(edge), strings.TrimRight(string(under), " "))
}

// draw returns the lines of the area, the lowest first: dots along the curves, the marks on top of
// them, and * where marks of two curves coincide.
func (p *plot) draw(x, y axis) [][]rune {
	area := make([][]rune, plotHeight)
	for i := range area {
		area[i] = []rune(strings.Repeat(" ", plotWidth-plotMargin))
	}
	for _, c := range p.curves {
		for i := 1; i < len(c.x); i++ {
			from, to := x.at(c.x[i-1]), x.at(c.x[i])
			for at := from + 1; at < to; at++ {
				share := float64(at-from) / float64(to-from)
				v := math.Exp(float64(math.Log(c.y[i-1])*(1-share)) + float64(math.Log(c.y[i])*share))
				area[y.at(v)][plotInset+at] = '·'
			}
		}
	}
	for _, c := range p.curves {
		for i := range c.x {
			place := &area[y.at(c.y[i])][plotInset+x.at(c.x[i])]
			if *place == ' ' || *place == '·' || *place == c.mark {
				*place = c.mark
			} else {
				*place = '*'
			}
		}
	}
	return area
}
