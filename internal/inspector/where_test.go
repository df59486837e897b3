package inspector

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
)

// exactOrder compares a number of a column with a decimal one: -1, 0, 1, or 2 if v is NaN. For float32 the decimal
// number is rounded to float32 first.
func exactOrder(v any, bound string) int {
	b, err := strconv.ParseFloat(bound, 64)
	if err != nil {
		panic(err)
	}
	if f, ok := v.(float32); ok {
		if near := float64(float32(b)); !math.IsInf(near, 0) {
			b = near
		}
		return floatOrder(float64(f), b)
	}
	if f, ok := v.(float64); ok {
		return floatOrder(f, b)
	}
	n, _ := new(big.Float).SetPrec(2000).SetString(fmt.Sprint(v))
	if math.IsInf(b, 0) {
		return n.Cmp(new(big.Float).SetInf(b < 0))
	}
	exact, _ := new(big.Float).SetPrec(2000).SetString(bound)
	return n.Cmp(exact)
}

func floatOrder(v, b float64) int {
	if v != v {
		return 2
	}
	return new(big.Float).SetFloat64(v).Cmp(new(big.Float).SetFloat64(b))
}

func TestParseClause(t *testing.T) {
	for _, c := range []struct{ text, name, op string }{
		{"hp>3", "hp", ">"}, {" hp >= -3.5e2 ", "hp", ">="}, {"a<b==1", "a<b", "=="}, {"a<b<2", "a<b", "<"}, {"x===2", "x=", "=="},
		{"vel[1]!=0", "vel[1]", "!="}, {"hp is nan", "hp", "nan"}, {" my hp IS NaN ", "my hp", "nan"}, {"a<b is nan", "a<b", "nan"},
		{"hp<+Inf", "hp", "<"}, {`"rock and roll" > 3`, "rock and roll", ">"}, {` " hp"[1] is nan`, " hp[1]", "nan"}, {`"a\"b\u00e9\n"==0`, "a\"bé\n", "=="}, {`""<1`, "", "<"}, {`"vel[1]">0`, "vel[1]", ">"},
		{"\n >= 5", "\n", ">="}, {"5\" gun > 3", "5\" gun", ">"}, {"\u00a0hp > 3", "\u00a0hp", ">"},
	} {
		got, err := parseClause(0, c.text)
		if err != nil || got.name.String() != c.name || got.op != c.op {
			t.Errorf("%q is %q %q, %v", c.text, got.name, got.op, err)
		}
	}
	for text, why := range map[string]string{
		"": "no operator", "hp": "no operator", "hp=3": "no operator", "hp>": "no number after >", ">3": "no column before >",
		"hp>x": `"x" is no number`, "hp>nan": `"nan" is no number`, "hp>1e999": `"1e999" is no number`, " is nan": "no column", "hp>3 and": `"3 and" is no number`,
		`"hp > 3`: "in quotes does not end", `"a"b > 3`: "neither an index", `"a"[x] > 3`: "neither an index", `"a"[01] > 3`: "neither an index", `"\ud800" > 3`: "in quotes", `"a"`: "no operator", "\"\n\" > 3": "in quotes",
		"hp!3": "no operator", "==": "no column before ==",
	} {
		_, err := parseClause(7, text)
		if !errors.Is(err, fault.ErrRange) || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), fmt.Sprintf("where[7] = %q", text)) {
			t.Errorf("%q: %v, want %s", text, err, why)
		}
	}
}

func FuzzWhere(f *testing.F) {
	for _, s := range []string{"hp>3", "a<b<=-0", "x is nan", "big==18446744073709551615", "!!!=1e19", "hp>\xff", "é!=0x1p-2"} {
		f.Add(s, uint64(1<<63), true)
	}
	f.Fuzz(func(t *testing.T, text string, magnitude uint64, negative bool) {
		c, err := parseClause(0, text)
		if err != nil {
			if !errors.Is(err, fault.ErrRange) {
				t.Fatal(err)
			}
			return
		}
		quoted := strings.HasPrefix(strings.TrimLeft(text, " "), `"`)
		if name := c.name.String(); !quoted && (name == "" || !strings.Contains(text, name)) {
			t.Fatalf("%q: name %q", text, name)
		}
		if c.op == "nan" {
			return
		}
		number := strings.TrimSpace(text[strings.LastIndexAny(text, "<>=!")+1:])
		n := new(big.Int).SetUint64(magnitude)
		if negative {
			n.Neg(n)
		}
		if strings.ContainsAny(number, "xXpP") || len(number) > 25 { // a decimal number in a form that both parsers read alike
			return
		}
		if whole, ok := new(big.Int).SetString(number, 10); ok && whole.CmpAbs(new(big.Int).SetUint64(math.MaxUint64)) <= 0 {
			if got, want := c.bound.compareInt(negative, magnitude), n.Cmp(whole); got != want {
				t.Fatalf("%v and %v: order %d, want %d", n, whole, got, want)
			}
		} else if got, want := c.bound.compareInt(negative, magnitude), floatOrderOfInt(n, c.bound.f); got != want {
			t.Fatalf("%v and %v: order %d, want %d", n, c.bound.f, got, want)
		}
	})
}

func floatOrderOfInt(n *big.Int, b float64) int {
	return new(big.Float).SetPrec(2000).SetInt(n).Cmp(new(big.Float).SetFloat64(b))
}
