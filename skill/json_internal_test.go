package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// oracleJSON is checkJSON written plainly, by the tokens of encoding/json.
func oracleJSON(data []byte) bool {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return true
	}
	if !utf8.Valid(data) || data[0] != '{' || !json.Valid(data) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	_, err := d.Token()
	return err == nil && oracleInside(d, data, true, 1)
}

func oracleInside(d *json.Decoder, data []byte, object bool, depth int) bool {
	if depth > maxDepth {
		return false
	}
	names := map[string]bool{}
	for d.More() {
		if object {
			from := d.InputOffset()
			name, err := d.Token()
			raw := data[from:d.InputOffset()]
			if err == io.EOF || err != nil || names[name.(string)] || bytes.IndexByte(raw, '\\') >= 0 || len(names) == maxNames {
				return false
			}
			names[name.(string)] = true
		}
		v, err := d.Token()
		if err != nil || v == json.Delim('{') && !oracleInside(d, data, true, depth+1) || v == json.Delim('[') && !oracleInside(d, data, false, depth+1) {
			return false
		}
	}
	_, err := d.Token()
	return err == nil
}

var jsonCases = []string{
	"", " ", "{}", "[]", "null", `"a"`, `{"a":1}`, `{"a":1,"a":2}`, `{"a":1,"b":{"a":2}}`, `{"b":{"a":2,"a":3}}`, `{"b":[{"a":2},{"a":3}]}`,
	`{"a":"a","b":"a"}`, `{"a":["a","a"],"b":"a\"b:","c":"\\"}`, "{\"a\" \n:1,\"a\"\t:2}", `{"\u0061":1}`, `{"a":"\u0061"}`, `{"a\"":1}`,
	`{"a":1} `, `{"a":1}{}`, `{"a":1`, `{"a":}`, `{"a":"{[{["}`, `{"a":{"b":1},"b":2,"a":3}`, "{\"a\":\"\xff\"}", `{"a":01}`, `{"a":1e999}`,
	strings.Repeat(`{"a":`, maxDepth-1) + "{}" + strings.Repeat("}", maxDepth-1),
	strings.Repeat(`{"a":`, maxDepth) + "{}" + strings.Repeat("}", maxDepth),
	`{"a":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1) + "}",
	`{"a":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + "}",
	manyNames(maxNames), manyNames(maxNames + 1),
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"n%d":0`, i)
	}
	return "{" + b.String()[1:] + "}"
}

func TestCheckJSON(t *testing.T) {
	for _, c := range jsonCases {
		if _, err := checkJSON([]byte(c)); (err == nil) != oracleJSON([]byte(c)) {
			t.Errorf("%.100q: %v, the oracle says %v", c, err, oracleJSON([]byte(c)))
		}
	}
	for c, want := range map[string]error{
		`{"a":1,"a":2}`: errDuplicate, `{"\u0061":1}`: errEscape, "[]": errObject, `{"a":}`: errSyntax, "{\"\xff\":1}": errUTF8,
		strings.Repeat(`{"a":`, 1<<16): errDepth,
	} {
		if _, err := checkJSON([]byte(c)); !errors.Is(err, want) {
			t.Errorf("%.100q: %v, want %v", c, err, want)
		}
	}
}

func FuzzCheckJSON(f *testing.F) {
	for _, c := range jsonCases {
		f.Add([]byte(c))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := checkJSON(data); (err == nil) != oracleJSON(data) {
			t.Fatalf("%v, the oracle says %v", err, oracleJSON(data))
		}
	})
}

// A number becomes an integer exactly if it is one of at most maxDigits digits, and keeps its value and its sign.
func TestWholeNumbers(t *testing.T) {
	number := func(r *rand.Rand) string {
		digits := func(most int) string {
			b := make([]byte, 1+r.IntN(most))
			for i := range b {
				b[i] = "0000123456789"[r.IntN(13)]
			}
			return string(b)
		}
		s := strings.TrimLeft(digits(12), "0")
		if s == "" {
			s = "0"
		}
		if r.IntN(2) == 0 {
			s = "-" + s
		}
		if r.IntN(3) > 0 {
			s += "." + digits(6)
		}
		if r.IntN(2) == 0 {
			s += fmt.Sprint([]string{"e", "E", "e+", "E-"}[r.IntN(4)], r.IntN(15))
		}
		return s
	}
	r := rand.New(rand.NewPCG(1, 2))
	whole := 0
	for range 20_000 {
		n := number(r)
		value, ok := new(big.Rat).SetString(n)
		if !ok {
			t.Fatalf("%s is no number", n)
		}
		want := n
		if strings.ContainsAny(n, ".eE") && value.IsInt() && len(new(big.Int).Abs(value.Num()).String()) <= maxDigits {
			want = value.Num().String()
			if value.Sign() == 0 && n[0] == '-' {
				want = "-0"
			}
			whole++
		}
		for _, form := range []string{"%s", `{"a":[%s,"1.0"]}`, ` %s `, `{"1.0":%s}`} {
			if got, want := string(wholeNumbers(fmt.Appendf(nil, form, n))), fmt.Sprintf(form, want); got != want {
				t.Fatalf("%s of %s becomes %s, want %s", n, form, got, want)
			}
		}
	}
	if whole < 1000 {
		t.Errorf("only %d numbers were whole", whole)
	}
	for _, n := range []string{"1e999999999", "1e-999999999", "1e1e1", "--1.0", "1e", "."} { // the last four are no JSON
		_ = wholeNumbers([]byte(n))
	}
	var in struct {
		N int8    `json:"n"`
		F float32 `json:"f"`
		L []uint16
	}
	for data, want := range map[string]string{
		`{"n":5.5}`: "n: number 5.5, where an integer of 8 bits is expected", `{"n":"5"}`: "n: string, where an integer of 8 bits",
		`{"n":128.0}`: "n: number 128", `{"f":1e39}`: "f: number 1e39, where a number that 32 bits hold", `{"L":{}}`: "L: object, where an array",
	} {
		if err := strict([]byte(data), &in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
	if err := strict([]byte(`{"n":-1.2e2,"f":1e2,"L":[1.0]}`), &in); err != nil || in.N != -120 || in.F != 100 || in.L[0] != 1 {
		t.Errorf("%+v, %v", in, err)
	}
}
