package inspector

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
)

// clause is one condition on a number of each entity: NAME OP NUMBER or NAME is nan. A NAME stands as it is, without the spaces
// around it, or in quotes with escapes as in Go and JSON: "rock and roll" > 3, " hp" is nan, "vel"[1] < 2. Quotes are needed for a name
// that begins with a quote or a space, or ends with a space.
type clause struct {
	text  string
	name  numberName
	op    string // one of operators, or "nan"
	bound bound
}

// operators are in the order in which they are looked for: one that contains another comes first.
var operators = [...]string{"<=", ">=", "==", "!=", "<", ">"}

// bound is the number in a clause. The numbers of a column are compared with it exactly, with one exception: a column of
// float32 is compared with the nearest float32, so that "hp == 0.1" finds what the page shows as 0.1.
type bound struct {
	f         float64
	magnitude uint64 // of a whole number below 2^64
	negative  bool
	whole     bool
}

// parseClause parses the i-th clause. NUMBER comes after the last operator, so NAME may contain any.
func parseClause(i int, text string) (c clause, err error) {
	c.text = text
	refuse := func(why string) (clause, error) {
		return c, fmt.Errorf("%w: %s", fault.Element(fault.ErrRange, "inspector: where", i, fmt.Sprintf("%.200q", text)), why)
	}
	quoted, rest, ok := cutQuoted(text)
	if !ok {
		return refuse("the name in quotes does not end, or has an unknown escape")
	}
	name, number := "", ""
	if before, found := cutSuffixFold(strings.TrimRight(rest, " "), " is nan"); found {
		name, c.op = before, "nan"
	} else {
		end := strings.LastIndexAny(rest, "<>=!") + 1
		for _, op := range operators {
			if before, ok := strings.CutSuffix(rest[:end], op); ok {
				name, c.op = before, op
				break
			}
		}
		number = strings.TrimSpace(rest[end:])
		c.bound, err = parseBound(number)
	}
	name = strings.Trim(name, " ")
	switch {
	case c.op == "":
		return refuse("no operator; write NAME OP NUMBER, OP one of < <= > >= == !=, or NAME is nan")
	case quoted != nil:
		if c.name = parseNumberName(name); name != "" && (c.name.index < 0 || c.name.column != "") {
			return refuse("after the name in quotes comes neither an index nor an operator")
		}
		c.name.column, c.name.exact = *quoted, true
	case name == "" && c.op == "nan":
		return refuse("no column before is nan")
	case name == "":
		return refuse("no column before " + c.op)
	default:
		c.name = parseNumberName(name)
	}
	switch {
	case c.op == "nan":
		return c, nil
	case number == "":
		return refuse("no number after " + c.op)
	case err != nil:
		return refuse(fmt.Sprintf("%.80q is no number", number))
	}
	return c, nil
}

// cutQuoted returns the name in quotes with which a text begins, nil if with none, and the rest.
func cutQuoted(text string) (name *string, rest string, ok bool) {
	trimmed := strings.TrimLeft(text, " ")
	if !strings.HasPrefix(trimmed, `"`) {
		return nil, text, true
	}
	quoted, err := strconv.QuotedPrefix(trimmed)
	if err != nil {
		return nil, text, false
	}
	unquoted, err := strconv.Unquote(quoted)
	return &unquoted, trimmed[len(quoted):], err == nil
}

// cutSuffixFold is strings.CutSuffix for a suffix in ASCII, in upper or lower case.
func cutSuffixFold(s, suffix string) (string, bool) {
	at := len(s) - len(suffix)
	if at < 0 || !strings.EqualFold(s[at:], suffix) {
		return s, false
	}
	return s[:at], true
}

func parseBound(s string) (b bound, err error) {
	if b.f, err = strconv.ParseFloat(s, 64); err != nil {
		return b, err
	}
	if b.f != b.f {
		return b, fault.Field(fault.ErrNotFinite, "inspector: NaN; write NAME is nan instead of", s)
	}
	b.negative = math.Signbit(b.f)
	if m, err := strconv.ParseUint(strings.TrimLeft(s, "+-"), 10, 64); err == nil {
		b.magnitude, b.whole = m, true
	} else if f := math.Abs(b.f); f < 1<<64 && f == math.Trunc(f) {
		b.magnitude, b.whole = uint64(f), true
	}
	return b, nil
}

// compareFloat compares v with b: -1, 0, 1, or unordered for NaN.
func (b *bound) compareFloat(v float64) int {
	switch {
	case v < b.f:
		return -1
	case v > b.f:
		return 1
	case v == b.f:
		return 0
	}
	return unordered
}

const unordered = 2

// compareInt compares an integer, given by its sign and magnitude, with b.
func (b *bound) compareInt(negative bool, magnitude uint64) int {
	switch {
	case !b.whole && math.Abs(b.f) >= 1<<64: // float64 rounds the greatest integers up to 2^64
		return b.compareFloat(0)
	case !b.whole: // a fraction, so below 2^53: the rounding of greater integers does not change the order
		f := float64(magnitude)
		if negative {
			f = -f
		}
		return b.compareFloat(f)
	case negative != b.negative && magnitude|b.magnitude != 0:
		return ifNegative(negative, 1)
	}
	return ifNegative(negative, cmp.Compare(magnitude, b.magnitude))
}

// ifNegative returns -v if the condition holds, else v.
func ifNegative(negative bool, v int) int {
	if negative {
		return -v
	}
	return v
}

// holds reports whether the order of a value and the bound satisfies the operator. NaN satisfies != and "is nan" only.
func (c *clause) holds(order int) bool {
	switch c.op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order == 1
	case ">=":
		return order == 0 || order == 1
	case "==":
		return order == 0
	case "!=":
		return order != 0
	}
	return order == unordered
}

// filter removes from mask the rows of a column that do not satisfy the clause.
func (c *clause) filter(of component, mask []uint64) {
	k, mem := of.kind, of.mem
	floats := float32s(k, mem)
	var holds [4]bool
	for order := -1; order <= unordered; order++ {
		holds[order+1] = c.holds(order)
	}
	b := c.bound
	if near := float64(float32(b.f)); k == ecs.KindFloat32 && !math.IsInf(near, 0) {
		b.f = near
	}
	for at, word := range mask {
		for rest := word; rest != 0; rest &= rest - 1 {
			bit := bits.TrailingZeros64(rest)
			order, i := 0, of.at(at<<6+bit)
			if floats != nil {
				order = b.compareFloat(float64(floats[i]))
			} else {
				order = b.compareNumber(k, k.Bits(mem, i))
			}
			if !holds[1+order] {
				word &^= 1 << bit
			}
		}
		mask[at] = word
	}
}

// compareNumber compares the number of kind k that has these bits with b.
func (b *bound) compareNumber(k columns.Kind, v uint64) int {
	switch {
	case k == ecs.KindFloat32:
		return b.compareFloat(float64(math.Float32frombits(uint32(v))))
	case k == ecs.KindFloat64:
		return b.compareFloat(math.Float64frombits(v))
	case k.IsSigned():
		s := signed(k, v)
		if s < 0 {
			return b.compareInt(true, -uint64(s))
		}
		return b.compareInt(false, uint64(s))
	}
	return b.compareInt(false, v)
}

// signed extends the sign of the bits of an integer.
func signed(k columns.Kind, v uint64) int64 {
	unused := 64 - 8*k.Size()
	return int64(v<<unused) >> unused
}
