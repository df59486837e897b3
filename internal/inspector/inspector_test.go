package inspector

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

// newSim returns a Sim with n entities on a diagonal.
func newSim(t testing.TB, c evertick.Config, n int) *evertick.Sim {
	t.Helper()
	sim, err := evertick.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]ecs.ID, n)
	if err := sim.World.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if err := sim.World.SetPosition(id, float32(i), float32(2*i), float32(3*i)); err != nil {
			t.Fatal(err)
		}
	}
	return sim
}

// tb is what rapid.T and testing.TB share.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func newInspector(t testing.TB, sim *evertick.Sim, c Config) *Inspector {
	t.Helper()
	in, err := New(sim, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return in
}

// request returns a request from text such as "frame?by=hp".
func request(t tb, text string) *Request {
	t.Helper()
	path, query, _ := strings.Cut(text, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return &Request{Method: "GET", Path: path, Query: values}
}

// get answers a request while the caller's goroutine makes safe points.
func get(t tb, in *Inspector, text string) Answer {
	t.Helper()
	return answer(t, in, request(t, text))
}

func answer(t tb, in *Inspector, r *Request) Answer {
	t.Helper()
	answers := make(chan Answer, 1)
	go func() { answers <- in.Answer(context.Background(), r) }()
	for {
		select {
		case a := <-answers:
			return a
		default:
			in.Between()
			runtime.Gosched() // a sleep of some microseconds takes a millisecond on some machines
		}
	}
}

// decode reads a JSON answer with the status 200.
func decode[T any](t tb, a Answer) (v T) {
	t.Helper()
	if a.Status != 200 || a.Type != typeJSON {
		t.Fatalf("status %d, type %q: %s", a.Status, a.Type, a.Body)
	}
	if err := json.Unmarshal(a.Body, &v); err != nil {
		t.Fatalf("%v in %s", err, a.Body)
	}
	return v
}

// decoded is a frame that a test has read.
type decoded struct {
	pictureHead
	f32 map[string][]float32
	u32 map[string][]uint32
}

func decodeFrame(t tb, a Answer) *decoded {
	t.Helper()
	if a.Status != 200 || a.Type != typeBinary {
		t.Fatalf("status %d, type %q: %s", a.Status, a.Type, a.Body)
	}
	n := int(binary.LittleEndian.Uint32(a.Body))
	if (4+n)%8 != 0 {
		t.Fatalf("the sections begin at %d", 4+n)
	}
	d := &decoded{f32: map[string][]float32{}, u32: map[string][]uint32{}}
	if err := json.Unmarshal(a.Body[4:4+n], &d.pictureHead); err != nil {
		t.Fatal(err)
	}
	if d.Sections == nil {
		t.Fatalf("sections is no array: %s", a.Body[4:4+n])
	}
	end := 4 + n
	for _, s := range d.Sections {
		if s.At != (end+7)&^7 || s.Count == 0 {
			t.Fatalf("section %+v after %d", s, end)
		}
		end = s.At + 4*s.Count
		for i := range s.Count {
			v := binary.LittleEndian.Uint32(a.Body[s.At+4*i:])
			if s.Type == "u32" {
				d.u32[s.Name] = append(d.u32[s.Name], v)
			} else {
				d.f32[s.Name] = append(d.f32[s.Name], math.Float32frombits(v))
			}
		}
	}
	if (end+7)&^7 != len(a.Body) {
		t.Fatalf("the sections end at %d of %d", end, len(a.Body))
	}
	return d
}

func TestStatusAndFrameOfALiveSim(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 100}, 10)
	in := newInspector(t, sim, Config{})
	if err := sim.StepN(3); err != nil {
		t.Fatal(err)
	}
	st := decode[status](t, in.Answer(context.Background(), request(t, "status")))
	if st.Tick != 3 || st.Hash != HashText(sim.Hash()) || st.Entities != 10 || st.State != "running" || st.Of != "live" || st.Name != "simulation" {
		t.Errorf("status is %+v", st)
	}
	f := decodeFrame(t, get(t, in, "frame?by=position.z"))
	if f.Entities != 10 || f.Tick != 3 || f.u32["slots"][9] != 9 || f.f32["x"][9] != 9 || f.f32["y"][9] != 18 || f.f32["by"][9] != 27 || f.f32["extent"][3] != 18 {
		t.Errorf("frame is %+v", f)
	}
}

// Sims of the plane XZ are drawn along x and z, also without bodies.
func TestThePlaneDecidesTheAxes(t *testing.T) {
	var c evertick.Config
	c.Physics.Plane = physics.XZ
	in := newInspector(t, newSim(t, c, 3), Config{})
	st := decode[status](t, in.Answer(t.Context(), request(t, "status")))
	if st.Plane != [2]string{"x", "z"} || st.AxesNote == "" || st.RateHz != 60 || st.Capacity != ecs.DefaultCapacity {
		t.Errorf("status is %+v", st)
	}
	f := decodeFrame(t, get(t, in, "frame"))
	if f.f32["x"][2] != 2 || f.f32["y"][2] != 6 {
		t.Errorf("frame is %v", f.f32)
	}
}
