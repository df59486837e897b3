package inspector

import (
	"context"
	"strings"
	"testing"

	"github.com/evertick/evertick/replay"
)

// After Close every request is refused, of a live Sim as of a log.
func TestAClosedInspectorRefusesAll(t *testing.T) {
	sc := pitScenario(nil)
	dir, _ := logOf(t, sc, 5, replay.Options{})
	p, err := newPit(7)
	if err != nil {
		t.Fatal(err)
	}
	in := newInspector(t, p.sim, Config{Control: true, Log: dir, Scenario: sc})
	advance(t, p.sim, 3)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	for route := range routes {
		for _, of := range []string{"live", "log"} {
			method, path, _ := strings.Cut(route, " ")
			r := request(t, path+"?id=ent_1&x=0&y=0&of="+of)
			r.Method, r.Body = method, []byte(`{"of":"`+of+`","step":1}`)
			if a := in.Answer(context.Background(), r); a.Status != 503 {
				t.Errorf("%s of %s: %d %.100s", route, of, a.Status, a.Body)
			}
		}
	}
}
