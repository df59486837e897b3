package inspect_test

import (
	"fmt"
	"image"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/internal/scenes"
)

// shown is a Sim that runs, and the server of its page.
func shown(t *testing.T, sim *evertick.Sim, err error) (url string) {
	t.Helper()
	check(t, err)
	h, err := inspect.NewHandler(sim, inspect.Config{Name: t.Name()})
	check(t, err)
	// Without this parameter it is the page. With it, the page is in a browser without WebGL 2.
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "plain" {
			h.ServeHTTP(w, r)
			return
		}
		page := httptest.NewRecorder()
		h.ServeHTTP(page, r)
		text := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAllString(page.Body.String(), "")
		fmt.Fprint(w, strings.Replace(text, "<script>", "<script>HTMLCanvasElement.prototype.getContext = () => null;</script><script>", 1))
	}))
	t.Cleanup(func() { _ = h.Close() })
	run(t, sim)
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// spread returns a Sim of n entities in a square, without bodies. Their hp grows along a diagonal.
func spread(n int) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: n})
	if err != nil {
		return nil, err
	}
	hp, err := ecs.AddColumn[float32](sim.World, "hp")
	if err != nil {
		return nil, err
	}
	side := 1
	for side*side < n {
		side++
	}
	ids := make([]ecs.ID, n)
	if err := sim.World.SpawnN(ids); err != nil {
		return nil, err
	}
	for i := range ids {
		sim.World.Position.X[i], sim.World.Position.Y[i] = float32(i%side), float32(i/side)
		hp.Values()[i] = float32(i%side + i/side)
	}
	return sim, nil
}

// inked returns the share of pixels that differ from the one in the upper left corner.
func inked(m image.Image) float64 {
	b, n := m.Bounds(), 0
	background := m.At(b.Min.X, b.Min.Y)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if m.At(x, y) != background {
				n++
			}
		}
	}
	return float64(n) / float64(b.Dx()*b.Dy())
}

// drawn waits until frames have been drawn.
func drawn(p *browser.Page, frames int) {
	p.Wait(fmt.Sprintf("window.evertickPage && evertickPage.view.stats.uploadMs.length >= %d && evertickPage.view.stats.drawMs.length >= %d", frames, frames))
}

// quiet fails the test if the page reported anything, and leaves the page: its server ends now.
func quiet(p *browser.Page) {
	p.Quiet(func(url string) bool { return strings.HasPrefix(url, "http://127.0.0.1") })
	p.Open("data:text/html,")
}

// A world appears, in both themes. EVERTICK_SCREENSHOTS keeps the pictures. With EVERTICK_LONG there are 16,291 boxes, and
// reading a frame and handing it over takes the main thread at most 4 ms.
func TestWorldInABrowser(t *testing.T) {
	rows := 60
	if long {
		rows = 180
	}
	p := browser.Start(t, "the world")
	p.Resize(1280, 800)
	for _, c := range []struct {
		name string
		make func() (*evertick.Sim, error)
		by   string
		ink  float64 // least share
	}{
		{"pyramid", func() (*evertick.Sim, error) { return scenes.NewSim("pyramid", 20, evertick.Config{}) }, "", 0.1},
		{"ragdolls", func() (*evertick.Sim, error) { return scenes.NewSim("ragdolls", 20, evertick.Config{}) }, "", 0.02},
		{"boxes", func() (*evertick.Sim, error) { return scenes.NewSim("pyramid", rows, evertick.Config{}) }, "", 0.1},
		{"swarm", func() (*evertick.Sim, error) { return spread(100000) }, "hp", 0.1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := p.With(t)
			sim, err := c.make()
			p.Open(shown(t, sim, err))
			drawn(p, 1)
			if c.by != "" {
				p.Do(fmt.Sprintf(`const s = document.getElementById("by"); s.value = %q; s.dispatchEvent(new Event("change"))`, "by="+c.by))
				p.Wait(`document.querySelector(".world-legend").innerText.trim().replace(/\s+/g, " ") === "hp 0 630"`)
			}
			drawn(p, 10)
			for _, theme := range []string{"light", "dark"} {
				p.Theme(theme)
				if share := inked(p.Image("#world")); share < c.ink {
					t.Errorf("%s: %.3f of the picture differ from its background, not %.3f", theme, share, c.ink)
				}
				p.Screenshot("world-" + c.name + "-" + theme)
			}
			var ms struct{ Decode, Upload, Draw float64 }
			p.Eval(`(() => { const s = evertickPage.view.stats, median = a => a.toSorted((x, y) => x - y)[a.length >> 1];
				return {Decode: median(s.decodeMs), Upload: median(s.uploadMs), Draw: median(s.drawMs)}; })()`, &ms)
			t.Logf("medians of a frame, in ms: %+v", ms)
			if long && ms.Decode+ms.Upload > 4 {
				t.Errorf("a frame takes %+v ms", ms)
			}
			quiet(p)
		})
	}
}

// camera is what the page says of its camera.
type camera struct{ X, Y, Scale float64 }

func cameraOf(p *browser.Page) (c camera) {
	p.Eval(`(({x, y, scale}) => ({x, y, scale}))(evertickPage.view.camera)`, &c)
	return c
}

func TestWorldFollowsTheReader(t *testing.T) {
	p := browser.Start(t, "the world")
	p.Resize(1280, 800)
	sim, err := spread(100)
	p.Open(shown(t, sim, err))
	drawn(p, 1)
	// at returns the pixel of the window at a point of the world.
	at := func(x, y float64) (px, py float64) {
		var point [2]float64
		box := p.Box("#world")
		p.Eval(fmt.Sprintf("evertickPage.view.toScreen(%v, %v)", x, y), &point)
		return box.X + point[0], box.Y + point[1]
	}
	fitted := cameraOf(p) // later ones may differ a little: the canvas follows what is beside it
	if fitted.X != 4.5 || fitted.Y != 4.5 {
		t.Errorf("the first frame is not fitted: %+v", fitted)
	}

	x, y := at(7, 3)
	p.Wheel(x, y, 0, -200)
	if nx, ny := at(7, 3); cameraOf(p).Scale <= fitted.Scale || max(nx-x, x-nx, ny-y, y-ny) > 3 {
		t.Errorf("the wheel moves the point under the pointer from %v, %v to %v, %v: %+v", x, y, nx, ny, cameraOf(p))
	}
	p.Press(x, y)
	p.Pull(x+20, y-10)
	p.Pull(x+50, y-30)
	p.Release(x+50, y-30)
	if nx, ny := at(7, 3); max(nx-x-50, x+50-nx, ny-y+30, y-30-ny) > 3 {
		t.Errorf("the point does not follow the pointer: it is at %v, %v, not %v, %v", nx, ny, x+50, y-30)
	}

	p.Do(`document.getElementById("world").focus()`)
	before := cameraOf(p)
	p.Key("ArrowLeft", 0)
	p.Key("ArrowUp", 0)
	if c := cameraOf(p); c.X >= before.X || c.Y <= before.Y {
		t.Errorf("the arrows move the camera from %+v to %+v", before, c)
	}
	p.Key("+", 0)
	if c := cameraOf(p); c.Scale <= before.Scale {
		t.Errorf("+ changes the scale from %v to %v", before.Scale, c.Scale)
	}
	p.Key("f", 0)
	if c := cameraOf(p); c.X != fitted.X || c.Y != fitted.Y || max(c.Scale/fitted.Scale, fitted.Scale/c.Scale) > 1.03 {
		t.Errorf("f shows %+v, not %+v", c, fitted)
	}

	x, y = at(6, 2)
	p.Move(x+3, y+2)
	if cursor := p.Text(`document.getElementById("world").style.cursor`); cursor != "pointer" {
		t.Errorf("over an entity the cursor is %q", cursor)
	}
	p.Press(x+3, y+2)
	p.Release(x+3, y+2)
	p.Wait(`evertickPage.app.selected?.slot === 26`)
	p.Do(`evertickPage.view.follow(26)`)
	if c := cameraOf(p); c.X != 6 || c.Y != 2 {
		t.Errorf("the followed entity is not in the middle: %+v", c)
	}
	p.Screenshot("world-followed")
	x, y = at(5, 5)
	p.Press(x, y)
	p.Pull(x-90, y)
	p.Release(x-90, y)
	drawn(p, 1)
	if c := cameraOf(p); c.X <= 6 {
		t.Errorf("a drag does not leave the followed entity: %+v", c)
	}
	quiet(p)
}

// The picture comes back after the graphics device was lost, and nothing is drawn while nothing changes.
func TestWorldSurvivesTheDevice(t *testing.T) {
	p := browser.Start(t, "the world")
	p.Resize(1280, 800)
	sim, err := scenes.NewSim("pyramid", 10, evertick.Config{})
	url := shown(t, sim, err)
	p.Open(url)
	drawn(p, 3)
	p.Do(`window.lose = document.getElementById("world").getContext("webgl2").getExtension("WEBGL_lose_context"); lose.loseContext()`)
	p.Wait(`document.querySelector(".world-message").textContent.includes("lost") && !document.querySelector(".world-message").hidden`)
	p.Do(`evertickPage.view.stats.uploadMs.length = 0`)
	drawn(p, 2) // frames come meanwhile
	p.Do(`lose.restoreContext()`)
	p.Wait(`document.querySelector(".world-message").hidden`)
	p.Settle()
	if share := inked(p.Image("#world")); share < 0.05 {
		t.Errorf("%.3f of the picture is drawn after the device came back", share)
	}

	p.Offline(true) // the last frame stays
	p.Wait(`evertickPage.source.state === "reconnecting"`)
	// The canvas may still change its size a few times, with what is beside it.
	var still bool
	p.Eval(`(async () => {
		for (let i = 0; i < 10; i++) {
			evertickPage.view.stats.drawMs.length = 0;
			await new Promise(done => setTimeout(done, 300));
			if (!evertickPage.view.stats.drawMs.length) return true;
		}
		return false;
	})()`, &still)
	if !still {
		t.Error("the world is drawn all the time though nothing changes")
	}
	p.Offline(false)
	p.Wait(`evertickPage.source.state === "connected"`)
	drawn(p, 2)

	p.Open(url + "?plain") // a browser without WebGL 2
	p.Wait(`window.evertickPage && !evertickPage.view.supported && !document.querySelector(".world-message").hidden`)
	tick := p.Text(`document.getElementById("tick").textContent`)
	p.Wait(fmt.Sprintf(`document.getElementById("tick").textContent !== %q`, tick)) // the rest of the page works
	p.Screenshot("world-plain")
	p.Open("data:text/html,")
}
