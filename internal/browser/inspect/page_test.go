package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/loop"
)

// opened runs a Sim in real time until the test ends, and opens its page.
func opened(t *testing.T, p *browser.Page, sim *evertick.Sim, c inspect.Config) *inspect.Server {
	t.Helper()
	server := serve(t, sim, c)
	run(t, sim)
	p.Open(server.URL)
	p.Wait(`evertickPage.view.stats.drawMs.length > 2`)
	return server
}

// sceneSim returns a scene with entities, bodies and systems.
func sceneSim(t *testing.T, name string, n int, cfg evertick.Config) *evertick.Sim {
	t.Helper()
	d, ok := scenes.FindSim(name)
	if !ok {
		sim, err := scenes.NewSim(name, n, cfg)
		check(t, err)
		return sim
	}
	if n > 0 {
		d.Params.Entities = n
	}
	s, err := d.New(d.Params, cfg)
	check(t, err)
	return s.Sim
}

// own admits the requests of a page of this server.
func own(server *inspect.Server) func(url string) bool {
	return func(url string) bool { return strings.HasPrefix(url, server.URL) }
}

// The whole page is legible on phones and on wide screens, in both themes, with each of its panels; it reports no error
// and requests nothing but its own paths. Without EVERTICK_LONG each panel is seen at one of the widths.
func TestPageInBrowser(t *testing.T) {
	p := browser.Start(t, "the page of inspect")
	p.Resize(1440, 900)
	server := opened(t, p, sceneSim(t, "capstone", 0, evertick.Config{}), inspect.Config{Control: true, Name: "capstone"})
	var tabs []string
	p.Eval(`[...document.querySelectorAll("#tabs [role=tab]")].map(e => e.textContent)`, &tabs)
	if len(tabs) < 8 {
		t.Errorf("only the tabs %q", tabs)
	}
	p.Do(`const {app} = evertickPage, {ask} = app;
		app.ask = async (path, query) => { try { return await ask(path, query); } finally { answered.add(path); } };
		window.answered = new Set();
		await app.selectId("ent_100", "entity")`)
	themes := []string{"light", "dark"}
	for k, width := range []int{1440, 768, 360} {
		p.Resize(width, 900)
		for i, tab := range tabs {
			if !long && (i+k)%3 != 0 {
				continue
			}
			theme := themes[(i+k)%2] // with all widths each tab meets each theme, and each width meets each theme
			p.Theme(theme)
			p.Do(fmt.Sprintf(`answered.clear(); document.querySelectorAll("#tabs [role=tab]")[%d].click()`, i))
			if tab != "Diff" { // which waits for its button
				p.Wait(fmt.Sprintf(`answered.has(%q)`, strings.ToLower(tab)))
				p.Settle()
			}
			name := fmt.Sprintf("inspect-%s-%d-%s", theme, width, tab)
			for what, problems := range map[string]string{"illegible": p.Illegible(20), "collide": collisions(p), "odd words": p.Text(oddWords)} {
				if problems != "" {
					t.Errorf("%s, %s:\n%s", name, what, problems)
				}
			}
			p.Screenshot(name)
		}
	}
	p.Quiet(own(server))
}

const oddWords = `[...new Set(document.body.innerText.match(/undefined|\[object \w*/g) ?? [])].join()`

func collisions(p *browser.Page) string {
	return p.Collisions("body", "none", "body, main, section, header, footer, .tools, .field, .head, [role=tablist], .facts, .now, .legend, .legend li, .keys, tr, dl")
}

// What a page shows of a running Sim is what it is.
func TestStateInBrowser(t *testing.T) {
	p := browser.Start(t, "the page of inspect")
	sim := sceneSim(t, "arena", 200, evertick.Config{Seed: 3})
	server := opened(t, p, sim, inspect.Config{Control: true})
	p.Wait(`document.getElementById("state").textContent.includes("running")`)
	p.Do(`document.getElementById("pause").click()`)
	p.Wait(`document.getElementById("state").textContent.includes("paused")`)
	var status struct{ Tick uint64 }
	p.Eval(`fetch("status").then(r => r.json())`, &status)
	p.Wait(fmt.Sprintf(`evertickPage.app.tick === %d`, status.Tick))
	want := fmt.Sprintf("%016x", sim.Hash()) // paused, it rests
	if shown := strings.ReplaceAll(p.Text(`document.getElementById("hash").textContent`), "…", ""); shown == "" || !strings.Contains(want, shown) {
		t.Errorf("the page shows the hash %q, which is %s", shown, want)
	}
	p.Do(`document.getElementById("step").click()`)
	p.Wait(fmt.Sprintf(`evertickPage.app.tick === %d`, status.Tick+1))
	p.Quiet(own(server))
}

// A swarm of 100,000 is shown at the pace of the display: the page takes at most 4 ms a frame to decode it and to hand
// it over to the device.
func TestSwarmInBrowser(t *testing.T) {
	p := browser.StartGL(t, "a swarm of 100,000")
	p.Resize(320, 240) // the CPU draws: few pixels
	opened(t, p, sceneSim(t, "swarm", 100_000, evertick.Config{Loop: loop.Config{RateNum: 30, MaxSteps: 1}}), inspect.Config{})
	p.Do(`document.getElementById("world").scrollIntoView({block: "start"})`)
	frames, budgetMs := 20, 4.
	if long {
		frames = 60
	}
	// The CPU draws here, which is not what is measured: most frames are handed over, but not drawn.
	p.Do(`const gl = document.getElementById("world").getContext("webgl2"), draw = gl.drawArrays.bind(gl);
		let frames = 0;
		gl.drawArrays = (...args) => { if (args.at(-1) < 100000 || frames++ % 8 === 0) draw(...args); }`)
	p.Do(`for (const list of Object.values(evertickPage.view.stats)) list.length = 0`)
	before := p.Metrics()
	for n := 10; n <= frames; n += 10 { // a busy machine takes long for all, but not for the next ones
		p.Wait(fmt.Sprintf(`evertickPage.view.stats.uploadMs.length >= %d`, n))
	}
	after := p.Metrics()
	var stats struct{ DecodeMs, UploadMs, DrawMs []float64 }
	p.Eval(`evertickPage.view.stats`, &stats)
	var entities int
	p.Eval(`evertickPage.app.status.entities`, &entities)
	n := min(len(stats.DecodeMs), len(stats.UploadMs))
	both := make([]float64, n)
	for i := range both {
		both[i] = stats.DecodeMs[i] + stats.UploadMs[i]
	}
	slices.Sort(both)
	slices.Sort(stats.DrawMs)
	t.Logf("%d entities, %d frames: decode and upload %.2f ms median, %.2f ms p95; draw %.2f ms median; the main thread works %.2f ms a frame, with drivers that draw on the CPU",
		entities, n, both[n/2], both[n*95/100], stats.DrawMs[len(stats.DrawMs)/2],
		1000*(after["TaskDuration"]-before["TaskDuration"])/float64(n))
	if entities != 100_000 || n < frames || both[n/2] > budgetMs {
		t.Errorf("the median of %d frames of %d entities is %.2f ms, above %v ms", n, entities, both[n/2], budgetMs)
	}
	p.Screenshot("inspect-swarm")
}
