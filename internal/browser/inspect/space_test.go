package inspect_test

import (
	"errors"
	"fmt"
	"image"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/space"
)

// yard is a Sim with bodies in space of every kind, and entities without bodies. Its hp is the order in which the entities were made.
type yard struct {
	sim    *evertick.Sim
	bodies *space.Bodies
	hp     *ecs.Column[float32]
	err    error
}

func newYard(boxes int) (*yard, error) {
	sim, err := evertick.New(evertick.Config{Capacity: boxes + 200})
	if err != nil {
		return nil, err
	}
	hp, err := ecs.AddColumn[float32](sim.World, "hp")
	if err != nil {
		return nil, err
	}
	b, err := space.Attach(sim, physics3.Config{Gravity: [3]float32{0, -10, 0}, Capacity: boxes + 400})
	return &yard{sim: sim, bodies: b, hp: hp, err: err}, err
}

// keep keeps the first error.
func (y *yard) keep(err error) {
	if y.err == nil {
		y.err = err
	}
}

// add makes an entity with a body.
func (y *yard) add(t physics3.BodyType, at [3]float32) physics3.Body {
	id, slot, err := y.sim.World.SpawnSlot()
	y.keep(err)
	def := physics3.DefaultBodyDef()
	def.Type, def.Position = t, at
	body, err := y.bodies.Create(id, def)
	y.keep(err)
	if err == nil {
		y.hp.Values()[slot] = float32(slot)
	}
	return body
}

func (y *yard) box(t physics3.BodyType, at, half [3]float32) physics3.Body {
	body := y.add(t, at)
	_, err := y.bodies.World().CreateBox(body, physics3.DefaultShapeDef(), physics3.Box{Half: half})
	y.keep(err)
	return body
}

// ground makes hills, and a ramp of triangles.
func (y *yard) ground() {
	const n = 49
	heights := make([]float32, n*n)
	for i := range heights {
		x, z := float64(i%n-n/2), float64(i/n-n/2)
		heights[i] = float32(max(0, math.Hypot(x, z)-14) * 0.12 * (1 + 0.5*math.Sin(x/3)*math.Cos(z/4)))
	}
	field, err := physics3.NewHeightField(physics3.HeightFieldDef{Width: n, Depth: n, Cell: [2]float32{1, 1}, Heights: heights})
	y.keep(err)
	ramp, _, err2 := physics3.NewMesh(physics3.MeshDef{
		Vertices:  [][3]float32{{0, 0, 0}, {4, 0, 0}, {4, 0, 3}, {0, 0, 3}, {4, 2, 0}, {4, 2, 3}},
		Triangles: [][3]uint32{{0, 5, 4}, {0, 3, 5}, {1, 4, 5}, {1, 5, 2}, {0, 4, 1}, {3, 2, 5}},
	})
	y.keep(err2)
	w, shape := y.bodies.World(), physics3.DefaultShapeDef()
	def := physics3.DefaultBodyDef()
	ground, err3 := w.CreateBody(def)
	y.keep(err3)
	if y.err != nil {
		return
	}
	_, err = w.CreateHeightField(ground, shape, field, physics3.Placement{Position: [3]float32{-n / 2, 0, -n / 2}})
	y.keep(err)
	_, err = w.CreateMesh(ground, shape, ramp, physics3.Placement{Position: [3]float32{5, 0, -6}})
	y.keep(err)
}

// crowd makes a pyramid of boxes, balls, capsules, hulls, a chain with joints, a sensor, and points without bodies.
func (y *yard) crowd() {
	w, shape := y.bodies.World(), physics3.DefaultShapeDef()
	for row := range 6 {
		for i := range 6 - row {
			y.box(physics3.DynamicBody, [3]float32{float32(i) + 0.5*float32(row) - 8, 0.5 + float32(row), -3}, [3]float32{0.5, 0.5, 0.5})
		}
	}
	hull, err := physics3.NewHull([][3]float32{{0.6, 0, 0}, {-0.6, 0, 0}, {0, 0.7, 0}, {0, -0.7, 0}, {0, 0, 0.6}, {0, 0, -0.6}, {0.4, 0.4, 0.4}, {-0.4, 0.4, -0.4}}, physics3.HullOptions{})
	y.keep(err)
	for i := range 12 {
		at := [3]float32{float32(i%4)*1.6 - 3, 2 + float32(i/4)*2, float32(i/4)*1.7 + 1}
		body := y.add(physics3.DynamicBody, at)
		switch i % 3 {
		case 0:
			_, err = w.CreateSphere(body, shape, physics3.Sphere{Radius: 0.55})
		case 1:
			_, err = w.CreateCapsule(body, shape, physics3.Capsule{P1: [3]float32{-0.5, 0, 0.2}, P2: [3]float32{0.5, 0.2, 0}, Radius: 0.35})
		default:
			_, err = w.CreateHull(body, shape, hull, physics3.Placement{})
		}
		y.keep(err)
	}
	before := y.box(physics3.StaticBody, [3]float32{4, 7, 3}, [3]float32{0.3, 0.3, 0.3})
	for i := range 6 {
		body := y.add(physics3.DynamicBody, [3]float32{4 + 0.9*float32(i+1), 7, 3})
		_, err = w.CreateCapsule(body, shape, physics3.Capsule{P1: [3]float32{-0.3, 0, 0}, P2: [3]float32{0.3, 0, 0}, Radius: 0.15})
		y.keep(err)
		d := physics3.SphericalJointDef{JointDef: physics3.JointDef{BodyA: before, BodyB: body,
			FrameA: physics3.JointFrame{Point: [3]float32{0.45, 0, 0}}, FrameB: physics3.JointFrame{Point: [3]float32{-0.45, 0, 0}}}}
		_, err = w.CreateJoint(&d)
		y.keep(err)
		before = body
	}
	sensor := shape
	sensor.Sensor = true
	zone := y.add(physics3.StaticBody, [3]float32{-1, 1.5, 6})
	_, err = w.CreateBox(zone, sensor, physics3.Box{Half: [3]float32{2, 1.5, 1.5}})
	y.keep(err)
	for i := range 40 {
		_, slot, err := y.sim.World.SpawnSlot()
		y.keep(err)
		p := &y.sim.World.Position
		a := float64(i) * math.Pi / 20
		p.X[slot], p.Y[slot], p.Z[slot] = float32(9*math.Cos(a)), 4+float32(math.Sin(3*a)), float32(9*math.Sin(a))
		y.hp.Values()[slot] = float32(slot)
	}
}

// fullYard is a yard with everything.
func fullYard() (*evertick.Sim, error) {
	y, err := newYard(0)
	if err != nil {
		return nil, err
	}
	y.ground()
	y.crowd()
	return y.sim, y.err
}

// wall is a yard of n boxes on a floor.
func wall(n int) (*evertick.Sim, error) {
	y, err := newYard(n)
	if err != nil {
		return nil, err
	}
	side := 1
	for side*side*side < n {
		side++
	}
	y.box(physics3.StaticBody, [3]float32{0, -1, 0}, [3]float32{float32(2 * side), 1, float32(2 * side)})
	for i := range n {
		at := [3]float32{float32(i%side) * 1.2, 0.5 + float32(i/side/side)*1.01, float32(i/side%side) * 1.2}
		for k := range 3 {
			if k != 1 {
				at[k] -= 0.6 * float32(side)
			}
		}
		y.box(physics3.DynamicBody, at, [3]float32{0.5, 0.5, 0.5})
	}
	return y.sim, y.err
}

// drawnInSpace waits until frames have been drawn, with all geometries.
func drawnInSpace(p *browser.Page, frames int) {
	p.Wait(fmt.Sprintf("window.evertickPage?.view3 && evertickPage.view3.stats.drawMs.length >= %d && evertickPage.view3.stats.uploadMs.length >= %d && !evertickPage.view3.missing()", frames, frames))
}

// Bodies in space appear, in both themes, on wide and narrow windows. EVERTICK_SCREENSHOTS keeps the pictures.
func TestSpaceInABrowser(t *testing.T) {
	p := browser.StartGL(t, "the world in space")
	p.Resize(1440, 900)
	sim, err := fullYard()
	p.Open(shown(t, sim, err))
	drawnInSpace(p, 10)
	for _, width := range []int{1440, 390} {
		p.Resize(width, 900)
		for _, theme := range []string{"light", "dark"} {
			p.Theme(theme)
			p.Settle()
			if share := inked(p.Image("#world3")); share < 0.25 {
				t.Errorf("%s, %d pixels: %.3f of the picture differ from its background", theme, width, share)
			}
			if bad := p.Illegible(20); bad != "" {
				t.Errorf("%s, %d pixels: %s", theme, width, bad)
			}
			p.Screenshot(fmt.Sprintf("space-%s-%d", theme, width))
		}
	}
	quiet(p)
}

// orbit is what the page says of its camera in space.
type orbit struct {
	Target               [3]float64
	Yaw, Pitch, Distance float64
}

func orbitOf(p *browser.Page) (o orbit) {
	p.Settle()
	p.Eval(`(({target, yaw, pitch, distance}) => ({Target: target, Yaw: yaw, Pitch: pitch, Distance: distance}))(evertickPage.view3.camera)`, &o)
	return o
}

// pixelOf returns the pixel of the window at a point of the world.
func pixelOf(p *browser.Page, at [3]float32) (x, y float64) {
	var point [3]float64
	box := p.Box("#world3")
	p.Eval(fmt.Sprintf("evertickPage.view3.toScreen([%v, %v, %v])", at[0], at[1], at[2]), &point)
	return box.X + point[0], box.Y + point[1]
}

// A reader turns, moves and zooms by mouse, keys and fingers, and picks bodies, points and nothing.
func TestSpaceFollowsTheReader(t *testing.T) {
	p := browser.StartGL(t, "the world in space")
	p.Resize(900, 600)
	y, err := newYard(0)
	check(t, err)
	y.box(physics3.StaticBody, [3]float32{0, -1, 0}, [3]float32{10, 1, 10})
	for i := range 3 {
		y.box(physics3.DynamicBody, [3]float32{3*float32(i) - 3, 0.5, 0}, [3]float32{0.5, 0.5, 0.5})
	}
	_, slot, err := y.sim.World.SpawnSlot() // slot 4
	check(t, err)
	y.sim.World.Position.Y[slot] = 3
	p.Open(shown(t, y.sim, y.err))
	drawnInSpace(p, 2)
	fitted := orbitOf(p)

	cx, cy := p.Box("#world3").At(0.5, 0.5)
	drag := func(dx, dy float64, modifiers string) (before, after orbit) {
		before = orbitOf(p)
		p.Do(fmt.Sprintf(`const c = document.getElementById("world3"), send = (kind, x, y) => c.dispatchEvent(new PointerEvent(kind, {pointerId: 1, pointerType: "mouse", clientX: x, clientY: y, bubbles: true, %s}));
			c.setPointerCapture = () => {};
			send("pointerdown", %v, %v); send("pointermove", %v, %v); send("pointermove", %v, %v); send("pointerup", %v, %v);`, modifiers, cx, cy, cx+dx/2, cy+dy/2, cx+dx, cy+dy, cx+dx, cy+dy))
		return before, orbitOf(p)
	}
	if before, after := drag(100, 40, "button: 0"); abs(after.Yaw-before.Yaw+0.8) > 0.01 || abs(after.Pitch-before.Pitch-0.32) > 0.01 || after.Target != before.Target || after.Distance != before.Distance {
		t.Errorf("a drag turns from %+v to %+v", before, after)
	}
	for _, how := range []string{"button: 0, shiftKey: true", "button: 2", "button: 1"} {
		if before, after := drag(60, -30, how); after.Yaw != before.Yaw || after.Target == before.Target || after.Distance != before.Distance {
			t.Errorf("a drag with %s moves from %+v to %+v", how, before, after)
		}
	}
	if p.Text(`String(evertickPage.app.selected?.slot)`) != "undefined" {
		t.Error("a drag selects")
	}
	before := orbitOf(p)
	p.Wheel(cx+100, cy, 0, -300)
	if after := orbitOf(p); after.Distance >= before.Distance || after.Yaw != before.Yaw {
		t.Errorf("the wheel zooms from %+v to %+v", before, after)
	}
	p.Do(`document.getElementById("world3").focus()`)
	before = orbitOf(p)
	p.Key("ArrowLeft", 0)
	p.Key("ArrowUp", 0)
	if after := orbitOf(p); after.Yaw == before.Yaw || after.Pitch == before.Pitch || after.Target != before.Target {
		t.Errorf("the arrows turn from %+v to %+v", before, after)
	}
	before = orbitOf(p)
	p.Key("ArrowLeft", browser.Shift)
	if after := orbitOf(p); after.Yaw != before.Yaw || after.Target == before.Target {
		t.Errorf("the arrows with Shift move from %+v to %+v", before, after)
	}
	p.Key("-", 0)
	if after := orbitOf(p); after.Distance <= before.Distance {
		t.Errorf("- zooms from %+v to %+v", before, after)
	}
	p.Key("f", 0)
	if after := orbitOf(p); abs(after.Target[1]-fitted.Target[1]) > 0.1 {
		t.Errorf("f shows %+v, after the first fit %+v", after, fitted)
	}

	at := func(dx, dy float64) browser.Finger { return browser.Finger{X: cx + dx, Y: cy + dy} }
	before = orbitOf(p)
	p.Touch(at(0, 0))
	for i := 1.; i <= 6; i++ {
		p.Touch(at(-10*i, 5*i))
	}
	p.Touch()
	if after := orbitOf(p); after.Yaw == before.Yaw || after.Target != before.Target {
		t.Errorf("a finger turns from %+v to %+v", before, after)
	}
	before = orbitOf(p)
	p.Touch(at(-40, 0), at(40, 0))
	for i := 1.; i <= 8; i++ {
		p.Touch(at(-40-10*i, 0), at(40+10*i, 0))
	}
	p.Touch(at(-120, 0)) // one finger leaves first
	p.Touch()
	if after := orbitOf(p); abs(before.Distance/after.Distance-3) > 0.1 || after.Yaw != before.Yaw {
		t.Errorf("fingers that part from 80 to 240 px go from %+v to %+v", before, after)
	}

	p.Do(`evertickPage.app.select(null); await evertickPage.view3.look({ target: [0, 1, 0], yaw: 0.5, pitch: 0.4, distance: 14 })`)
	for _, c := range []struct {
		at   [3]float32
		slot string
	}{{[3]float32{3, 0.5, 0}, "3"}, {[3]float32{0, 3, 0}, "4"}, {[3]float32{-3, 0.5, 0}, "1"}, {[3]float32{1.5, 0, 2}, "0"}} {
		x, y := pixelOf(p, c.at)
		p.Press(x, y)
		p.Release(x, y)
		p.Wait(fmt.Sprintf(`String(evertickPage.app.selected?.slot) === %q`, c.slot))
	}
	p.Do(`await evertickPage.view3.look({ target: [0, 9, 0], pitch: -0.3 })`)
	x, y2 := p.Box("#world3").At(0.5, 0.3) // the sky
	p.Press(x, y2)
	p.Release(x, y2)
	p.Wait(`evertickPage.app.selected === null`)

	p.Do(`await evertickPage.app.selectId("ent_4", "entity")`) // which follows
	if after := orbitOf(p); abs(after.Target[0]-3) > 0.1 || abs(after.Target[1]-0.5) > 0.1 {
		t.Errorf("the followed body is not in the middle: %+v", after)
	}
	p.Wait(`document.getElementById("panel-entity").innerText.includes("physics3")`)
	p.Screenshot("space-selected")
	drag(60, 0, "button: 2")
	p.Wait(`!evertickPage.app.following`)

	p.Do(`window.hit = null; evertickPage.app.onRay = ray => (window.hit = ray, true)`)
	p.Press(cx, cy)
	p.Release(cx, cy)
	p.Wait(`window.hit?.direction.length === 3 && evertickPage.app.selected?.slot === 3`)

	// The plane and back.
	p.Click("#in-plane")
	p.Wait(`!document.getElementById("plane").hidden && document.getElementById("space").hidden && evertickPage.view.stats.uploadMs.length > 2`)
	p.Click("#in-space")
	p.Do(`evertickPage.view3.stats.drawMs.length = evertickPage.view3.stats.uploadMs.length = 0`)
	drawnInSpace(p, 2)
	quiet(p)
}

// The colour at the pixel of a body is that of its state or its value: awake, asleep, and by a column; contacts and joints are drawn.
func TestSpaceShowsStates(t *testing.T) {
	p := browser.StartGL(t, "the world in space")
	p.Resize(900, 600)
	y, err := newYard(0)
	check(t, err)
	y.box(physics3.StaticBody, [3]float32{0, -1, 0}, [3]float32{10, 1, 10})
	for i := range 3 {
		y.box(physics3.DynamicBody, [3]float32{3*float32(i) - 3, 0.5, 0}, [3]float32{0.5, 0.5, 0.5})
	}
	w := y.bodies.World()
	awake, _ := w.BodyAt(3) // the last one
	check(t, y.err)
	check(t, w.EnableSleep(awake, false))
	p.Open(shown(t, y.sim, y.err))
	drawnInSpace(p, 2)
	p.Do(`await evertickPage.view3.look({ target: [0, 0.5, 0], yaw: 1.57, pitch: 0.7, distance: 12 })`)
	look := func(x, y, z float32) (r, g, b int) {
		px, py := pixelOf(p, [3]float32{x, y, z})
		box := p.Box("#world3")
		cr, cg, cb, _ := p.Image("#world3").At(int(px-box.X), int(py-box.Y)).RGBA()
		return int(cr >> 8), int(cg >> 8), int(cb >> 8)
	}
	differ := func(r, g, b int) int { return max(r, g, b) - min(r, g, b) }
	awaits := func(what string, is func() bool) {
		t.Helper()
		for range 100 {
			if is() {
				return
			}
			p.Settle()
		}
		t.Errorf("not so: %s", what)
	}
	awaits("a body asleep is grey, and one awake blue", func() bool {
		r, g, b := look(-3, 1, 0.3)
		r2, _, b2 := look(3, 1, 0.3)
		return differ(r, g, b) < 30 && b2 > r2+60
	})
	p.Do(`const s = document.getElementById("by"); s.value = "by=hp"; s.dispatchEvent(new Event("change"))`)
	p.Wait(`document.querySelector("#space .world-legend").innerText.trim().replace(/\s+/g, " ") === "hp 0 3"`)
	awaits("values have colours", func() bool {
		r, g, b := look(-3, 1, 0.3)
		r2, g2, b2 := look(3, 1, 0.3)
		return abs(float64(r-r2))+abs(float64(g-g2))+abs(float64(b-b2)) > 60
	})
	before := p.Image("#world3")
	p.Click("#show-contacts")
	p.Do(`evertickPage.view3.stats.drawMs.length = evertickPage.view3.stats.uploadMs.length = 0`)
	drawnInSpace(p, 3)
	after, changed := p.Image("#world3"), 0
	for y := range before.Bounds().Dy() {
		for x := range before.Bounds().Dx() {
			if before.At(x, y) != after.At(x, y) {
				changed++
			}
		}
	}
	if changed < 100 {
		t.Errorf("contacts change %d pixels", changed)
	}
	p.Screenshot("space-contacts")
	quiet(p)
}

// Damaged frames and geometries show an error, and nothing else of the page suffers; the picture comes back after that, and after the loss of the device.
func TestSpaceSurvivesDamage(t *testing.T) {
	p := browser.StartGL(t, "the world in space")
	p.Resize(900, 600)
	sim, err := fullYard()
	check(t, err)
	h, err := inspect.NewHandler(sim, inspect.Config{Name: t.Name()})
	check(t, err)
	t.Cleanup(func() { _ = h.Close() })
	var damage atomic.Pointer[string] // the path whose answers are damaged
	damage.Store(new(string))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.TrimPrefix(r.URL.Path, "/") != *damage.Load() || r.URL.Path == "/" {
			h.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()*2/3])
	}))
	run(t, sim)
	t.Cleanup(s.Close)
	set := func(path string) { damage.Store(&path) }
	set("geometry")
	p.Open(s.URL + "/")
	p.Wait(`!document.getElementById("view-note").hidden && document.getElementById("view-note").textContent.includes("geometry: it has")`)
	set("")
	drawnInSpace(p, 2) // asked for again
	set("frame")
	p.Wait(`!document.getElementById("view-note").hidden && document.getElementById("view-note").textContent.includes("frame: ")`)
	tick := p.Text(`document.getElementById("tick").textContent`)
	p.Wait(fmt.Sprintf(`document.getElementById("tick").textContent !== %q`, tick)) // the status has it
	set("")
	p.Do(`evertickPage.view3.stats.drawMs.length = evertickPage.view3.stats.uploadMs.length = 0`)
	drawnInSpace(p, 2)
	p.Wait(`document.getElementById("view-note").hidden`)

	p.Do(`window.lose = document.getElementById("world3").getContext("webgl2").getExtension("WEBGL_lose_context"); lose.loseContext()`)
	p.Wait(`document.querySelector("#space .world-message").textContent.includes("lost")`)
	p.Do(`lose.restoreContext()`)
	p.Wait(`document.querySelector("#space .world-message").hidden && !evertickPage.view3.missing()`)
	p.Settle()
	if share := inked(p.Image("#world3")); share < 0.2 {
		t.Errorf("%.3f of the picture is drawn after the device came back", share)
	}
	p.Open("data:text/html,")
}

// Without WebGL 2 the page says so, and its panels work.
func TestSpaceWithoutWebGL(t *testing.T) {
	p := browser.Start(t, "the world in space")
	p.Resize(900, 600)
	sim, err := fullYard()
	p.Open(shown(t, sim, err) + "?plain")
	p.Wait(`window.evertickPage?.view3 && !evertickPage.view3.supported && document.querySelector("#space .world-message").innerText.includes("no WebGL 2")`)
	tick := p.Text(`document.getElementById("tick").textContent`)
	p.Wait(fmt.Sprintf(`document.getElementById("tick").textContent !== %q`, tick))
	p.Do(`await evertickPage.app.selectId("ent_3", "entity")`)
	p.Wait(`document.getElementById("panel-entity").innerText.includes("physics3")`)
	p.Open("data:text/html,")
}

// The log shows bodies in space at any tick.
func TestSpaceInALog(t *testing.T) {
	p := browser.StartGL(t, "the log of bodies in space")
	p.Resize(900, 600)
	sc := replay.Scenario{Name: "yard", New: func(uint64) (*evertick.Sim, error) { return fullYard() }}
	dir := t.TempDir() + "/log"
	sim, err := sc.New(1)
	check(t, err)
	r, err := replay.Record(dir, sc.Name, sim, replay.Options{SnapshotTicks: 50})
	check(t, err)
	check(t, sim.StepN(120))
	check(t, r.Close())
	viewLog(t, p, dir, sc)
	drawnInSpace(p, 1)
	at := func(tick int) (y float64) {
		p.Do(fmt.Sprintf(`await evertickPage.app.order("timeline", { of: "log", seek: %d })`, tick))
		p.Wait(fmt.Sprintf(`evertickPage.app.tick === %d`, tick))
		p.Settle()
		p.Eval(`(async () => { const a = await evertickPage.app.ask("entity", { id: "ent_22" }); return a.body.position[1]; })()`, &y) // a ball that falls
		return y
	}
	if high, low := at(10), at(110); !(high > low+0.5) {
		t.Errorf("the ball is at %g, and later at %g", high, low)
	}
	if share := inked(p.Image("#world3")); share < 0.2 {
		t.Errorf("%.3f of the picture is drawn", share)
	}
	p.Screenshot("space-log")
	p.Open("data:text/html,")
}

// A frame of 16,384 boxes takes the main thread of the page at most 4 ms besides drawing. It runs with EVERTICK_LONG alone.
func TestSpaceOfManyBoxes(t *testing.T) {
	if !long {
		t.Skip("not run: EVERTICK_LONG is not set")
	}
	p := browser.StartGL(t, "16,384 boxes")
	p.Resize(900, 600)
	sim, err := wall(16384 - 1)
	url := shown(t, sim, err)
	p.Open(url)
	drawnInSpace(p, 6)
	var ms struct{ Decode, Upload, Draw float64 }
	p.Eval(`(() => { const s = evertickPage.view3.stats, median = a => a.toSorted((x, y) => x - y)[a.length >> 1];
		return {Decode: median(s.decodeMs), Upload: median(s.uploadMs), Draw: median(s.drawMs)}; })()`, &ms)
	pictures := 0
	p.Eval(`new Promise(done => { const s = evertickPage.view3.stats; s.drawMs.length = 0; setTimeout(() => done(s.drawMs.length), 3000); })`, &pictures)
	t.Logf("medians of a frame, in ms: %+v; %.1f pictures a second", ms, float64(pictures)/3)
	if ms.Decode+ms.Upload > 4 {
		t.Errorf("a frame takes %+v ms", ms)
	}
	p.Screenshot("space-many")
	quiet(p)
}

// near counts the pixels of a picture whose colour is about 0xRRGGBB.
func near(m image.Image, colour uint32) (n int) {
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, b, _ := m.At(x, y).RGBA()
			off := func(c, of uint32) float64 { return abs(float64(c>>8) - float64(of&0xff)) }
			if off(r, colour>>16)+off(g, colour>>8)+off(b, colour) < 80 {
				n++
			}
		}
	}
	return n
}

// The forces on the selected body are drawn, and listed, in space and in the plane.
func TestForcesInABrowser(t *testing.T) {
	p := browser.StartGL(t, "the forces on a body")
	p.Resize(1440, 900)
	y, err := newYard(0)
	check(t, err)
	y.box(physics3.StaticBody, [3]float32{0, -1, 0}, [3]float32{10, 1, 10})
	pushed := y.box(physics3.DynamicBody, [3]float32{0, 0.5, 0}, [3]float32{0.5, 0.5, 0.5}) // slot 1
	id, _, err := y.sim.World.SpawnSlot()                                                   // slot 2
	check(t, err)
	def := physics.DefaultBodyDef()
	def.Type = physics.DynamicBody
	flat, err := y.sim.CreateBody(id, def)
	check(t, err)
	_, err = y.sim.Physics.CreatePolygon(flat, physics.DefaultShapeDef(), physics.Box(0.5, 0.5))
	check(t, err)
	check(t, y.sim.Add(evertick.BeforePhysics, "push", func(*evertick.Tick) error {
		return errors.Join(y.bodies.World().ApplyForceToCenter(pushed, [3]float32{3, 0, 0}), y.sim.Physics.ApplyForceToCenter(flat, [2]float32{0, 2}),
			y.bodies.World().ApplyTorque(pushed, [3]float32{0, 1, 0}), y.sim.Physics.SetVelocity(flat, [2]float32{}, 0))
	}))
	p.Open(shown(t, y.sim, y.err))
	p.Wait(`!document.getElementById("dimension").hidden`)
	p.Click("#in-space") // the page begins with the plane, which has a body, too
	drawnInSpace(p, 2)
	p.Do(`await evertickPage.view3.look({ target: [0, 0.5, 0], yaw: 0.6, pitch: 0.5, distance: 6 })`)
	const applied, weight = 0xe06c00, 0x8a63d2
	if n := near(p.Image("#world3"), applied); n > 0 {
		t.Errorf("without a selection %d pixels have the colour of a force", n)
	}
	p.Do(`await evertickPage.app.selectId("ent_2", "entity"); evertickPage.app.selected && (evertickPage.app.following = false)`)
	p.Wait(`/weight 10\.0 N\n?.*applied 3\.00 N, 1\.00 N·m\n?.*contacts/s.test(document.querySelector("#space .world-forces").innerText)`)
	for _, width := range []int{1440, 390} {
		p.Resize(width, 900)
		for _, theme := range []string{"light", "dark"} {
			p.Theme(theme)
			p.Settle()
			if m := p.Image("#world3"); near(m, applied) < 20 || near(m, weight) < 20 {
				t.Errorf("%s, %d pixels: the force has %d pixels, the weight %d", theme, width, near(m, applied), near(m, weight))
			}
			if bad := p.Illegible(20); bad != "" {
				t.Errorf("%s, %d pixels: %s", theme, width, bad)
			}
			p.Screenshot(fmt.Sprintf("forces-%s-%d", theme, width))
		}
	}
	p.Click("#in-plane")
	p.Do(`await evertickPage.app.selectId("ent_3", "entity")`)
	p.Wait(`document.querySelector("#plane .world-forces").innerText.includes("applied 2.00 N")`)
	p.Settle()
	if n := near(p.Image("#world"), applied); n < 10 {
		t.Errorf("in the plane the force has %d pixels", n)
	}
	p.Screenshot("forces-plane")
	quiet(p)
}
