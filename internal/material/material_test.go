package material

import (
	"errors"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
)

func TestPairs(t *testing.T) {
	var l Pairs
	if l.Hash(nil) != nil {
		t.Error("no pairs have a hash")
	}
	for _, p := range []Pair{{7, 2, 0.1, 0.2}, {0, 3, 0.3, 0.4}, {2, 2, 0.5, 0.6}, {2, 7, 0.7, 0.8}} {
		l.Set(p)
	}
	if want := (Pairs{{0, 3, 0.3, 0.4}, {2, 2, 0.5, 0.6}, {2, 7, 0.7, 0.8}}); !slices.Equal(l, want) {
		t.Errorf("%v, want %v", l, want)
	}
	if f, r, ok := l.Of(7, 2); !ok || f != 0.7 || r != 0.8 {
		t.Error(f, r, ok)
	}
	if _, _, ok := l.Of(7, 7); ok {
		t.Error("a pair that was never set")
	}
	before := l.Hash(nil)[0].Hash
	if l.Remove(7, 7) || !l.Remove(7, 2) || len(l) != 2 {
		t.Error(l)
	}
	if l.Hash(nil)[0].Hash == before {
		t.Error("the hash has only some pairs")
	}
	if err := (&Pair{Friction: -1, Restitution: 2e6}).Check("p: "); err == nil || err.Error() != "p: Friction = -1: out of range\np: Restitution = 2e+06: out of range" {
		t.Error(err)
	}
}

func TestUsers(t *testing.T) {
	var u Users
	if u.Set(9, 0); len(u) != 0 || u.Of(9) != 0 {
		t.Error(u)
	}
	u.Set(3, 5)
	u.Set(1, 6)
	if u.Of(3) != 5 || u.Of(0) != 0 || u.Of(4) != 0 || u.Count() != 2 {
		t.Error(u)
	}
	if u.Set(3, 0); u.Count() != 1 {
		t.Error(u)
	}
}

func TestEncodeAndDecode(t *testing.T) {
	const shapes = 10
	u, l := Users{0, 6, 0, 1 << 40}, Pairs{{0, 3, 0.3, 0.4}, {2, 7, 0.7, 0.8}}
	encode := func(u Users, l Pairs) []byte {
		var e frame.Encoder
		Encode(&e, u, l)
		return e.Buf
	}
	decode := func(b []byte) (Users, Pairs, error) {
		var got Users
		var d frame.Decoder
		pairs, err := Decode(&d, b, shapes, nil, func(shape uint32, v uint64) bool {
			if shape < shapes {
				got.Set(int(shape), v)
			}
			return shape < shapes
		})
		return got, pairs, err
	}
	good := encode(u, l)
	if users, pairs, err := decode(good); err != nil || !slices.Equal(users, u) || !slices.Equal(pairs, l) {
		t.Error(users, pairs, err)
	}
	for n := range good {
		if _, _, err := decode(good[:n]); (err == nil) != (n >= 4+2*userBytes && (n-4-2*userBytes)%pairBytes == 0) || err != nil && !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	dead := make(Users, shapes+1)
	dead[shapes] = 1
	for name, b := range map[string][]byte{
		"a shape that does not live": encode(dead, nil),
		"pairs in another order":     encode(u, Pairs{l[1], l[0]}),
		"a pair twice":               encode(u, Pairs{l[0], l[0]}),
		"a pair the wrong way round": encode(u, Pairs{{3, 0, 0, 0}}),
		"a negative coefficient":     encode(u, Pairs{{0, 3, -1, 0}}),
		"more than all shapes":       {200, 0, 0, 0},
		"a shape of no material":     {1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		if _, _, err := decode(b); !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
