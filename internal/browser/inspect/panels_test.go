package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/replay"
)

const (
	hostileMarkup = `<script>window.hacked=1</script><img src=x onerror="window.hacked=1">`
	hostileRight  = "\u202egnp.exe\u2067 שלום" // turns the text that follows it around
)

// lotSim returns a Sim of 3,000 entities in a grid, in rows of 100 at a distance of 1 m: hp is the slot, but grows in slot 7,
// and a tenth are tagged "red".
func lotSim(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 4096, BudgetNs: 4_000_000, Seed: seed})
	if err != nil {
		return nil, err
	}
	w := sim.World
	hp, err := ecs.AddColumn[float32](w, "hp")
	if err != nil {
		return nil, err
	}
	if _, err := ecs.AddColumn[float32](w, hostileMarkup); err != nil {
		return nil, err
	}
	if _, err := w.Tag(hostileRight); err != nil {
		return nil, err
	}
	red, err := w.Tag("red")
	if err != nil {
		return nil, err
	}
	for i := range 3000 {
		id, slot, err := w.SpawnSlot()
		if err != nil {
			return nil, err
		}
		if err := w.SetPosition(id, float32(i%100), float32(i/100), 0); err != nil {
			return nil, err
		}
		hp.Values()[slot] = float32(i)
		if i%10 == 0 {
			red.Set(id)
		}
	}
	return sim, sim.Add(evertick.BeforePhysics, hostileMarkup[:20], func(t *evertick.Tick) error {
		hp.Values()[7] += 1
		hp.Touch()
		return nil
	})
}

// look opens the page at an address.
func look(t *testing.T, what, url string) *browser.Page {
	t.Helper()
	p := browser.Start(t, what)
	p.Resize(1440, 900)
	p.Open(url)
	p.Wait(`evertickPage.app.world`)
	return p
}

func textOf(p *browser.Page, selector string) string {
	return p.Text(fmt.Sprintf(`document.querySelector(%q).textContent`, selector))
}

// waitText waits until an element has a text.
func waitText(p *browser.Page, selector, want string) {
	p.Wait(fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q)`, selector, want))
}

func TestPanelsByHand(t *testing.T) {
	sim, err := lotSim(1)
	check(t, err)
	server := serve(t, sim, inspect.Config{Control: true, Name: "lot"})
	run(t, sim)
	p := look(t, "the panels", server.URL)
	t.Run("tabs by keyboard", func(t *testing.T) { tabsByKeys(t, p.With(t)) })
	t.Run("a list of 3,000", func(t *testing.T) { listOfEntities(t, p.With(t)) })
	t.Run("filters", func(t *testing.T) { filters(t, p.With(t)) })
	t.Run("pause and step", func(t *testing.T) { pauseAndStep(t, p.With(t), sim) })
	t.Run("pick in the world", func(t *testing.T) { pickInWorld(t, p.With(t)) })
	t.Run("hostile names", func(t *testing.T) { hostileNames(t, p.With(t)) })
	for _, problem := range p.Problems() {
		if !strings.Contains(problem, "400 (Bad Request)") && !strings.Contains(problem, `"source":"rendering"`) { // of the filter that is wrong on purpose, and of the emulated GPU
			t.Errorf("the page reports %s", problem)
		}
	}
}

func tabsByKeys(t *testing.T, p *browser.Page) {
	p.Do(`document.querySelector("#tabs [aria-selected=true]").focus()`)
	p.Key("Home", 0)
	var seen []string
	for range 8 {
		seen = append(seen, p.Text(`document.activeElement.textContent`))
		var shown []string
		p.Eval(`[...document.querySelectorAll("[role=tabpanel]")].filter(e => e.offsetParent).map(e => e.getAttribute("aria-labelledby"))`, &shown)
		if id := p.Text(`document.activeElement.id`); len(shown) != 1 || shown[0] != id {
			t.Errorf("at the tab %s the panels of %q are shown", id, shown)
		}
		p.Key("ArrowRight", 0)
	}
	if got := strings.Join(seen, " "); got != "Entity Entities Columns Systems Events Trace Queues Diff" {
		t.Errorf("the arrow key shows %s", got)
	}
	if got := p.Text(`document.activeElement.textContent`); got != "Entity" {
		t.Errorf("after the last tab comes %s", got)
	}
}

const entityGrid = "#panel-entities [role=grid]"

// rowTexts is the list of the first cells of the rows of the list that are seen.
const rowTexts = `[...document.querySelectorAll("#panel-entities [role=row][aria-rowindex]")].filter(e => !e.hidden).map(e => e.firstChild?.textContent ?? "")`

func listOfEntities(t *testing.T, p *browser.Page) {
	p.Click("#tab-entities")
	waitText(p, "#where-says", "3,000 entities")
	p.Wait(rowTexts + `[0] === "ent_1"`)
	p.Do(fmt.Sprintf(`document.querySelector(%q).focus()`, entityGrid))
	p.Key("End", 0)
	p.Wait(rowTexts + `.at(-1) === "ent_3000"`)
	var rows int
	p.Eval(`document.querySelectorAll("#panel-entities [role=row]").length`, &rows)
	if rows < 10 || rows > 100 {
		t.Errorf("%d rows are in the document", rows)
	}
	p.Key("ArrowUp", 0)
	p.Key("Enter", 0)
	p.Wait(`evertickPage.app.selected.id === "ent_2999" && evertickPage.app.following`)
	p.Key("Home", 0)
	p.Wait(rowTexts + `[0] === "ent_1"`)

	x, y := p.Box(entityGrid).At(0.5, 0.5)
	p.Wheel(x, y, 0, 2700)                                                           // a hundred rows
	p.Wait(fmt.Sprintf(`document.querySelector(%q).scrollTop === 2700`, entityGrid)) // the wheel scrolls smoothly
	p.Wait(rowTexts + `[0] === "ent_101"`)
	p.Do(fmt.Sprintf(`document.querySelector(%q).scrollIntoView({block: "center"})`, entityGrid))
	var row browser.Box // scrolling to a row would let others take the places of its elements
	p.Eval(fmt.Sprintf(`document.querySelector('%s [role=row][aria-rowindex="110"]').getBoundingClientRect().toJSON()`, entityGrid), &row)
	x, y = row.At(0.2, 0.5)
	p.Press(x, y)
	p.Release(x, y)
	p.Wait(`evertickPage.app.selected.id === "ent_109"`)
	p.Click("#details")
	waitText(p, "#picked", "ent_109")
	waitText(p, "#picked .value-line:has([title=hp])", "108")
}

func filters(t *testing.T, p *browser.Page) {
	p.Click("#tab-entities")
	set := func(where string) {
		p.Do(`const e = document.getElementById("where"); e.value = ""; e.focus(); e.dispatchEvent(new Event("input"))`)
		p.Type(where)
	}
	set("hp >= 10 and hp < 30")
	waitText(p, "#where-says", "20 of 3,000 entities where hp >= 10, hp < 30")
	p.Wait(rowTexts + `.join() === Array.from({length: 20}, (_, i) => "ent_" + (i + 11)).join()`)
	red := `[...document.querySelectorAll("#panel-entities .chip")].find(e => e.textContent.includes("red"))`
	p.Do(red + `.click()`)
	waitText(p, "#where-says", "2 of 3,000 entities with red, hp >= 10, hp < 30")
	p.Do(red + `.click()`)
	waitText(p, "#where-says", "18 of 3,000 entities without red, hp >= 10, hp < 30")
	p.Do(red + `.click()`)
	waitText(p, "#where-says", "20 of 3,000")

	set("hp near 3")
	p.Wait(`document.getElementById("where").getAttribute("aria-invalid") === "true"`)
	if got := textOf(p, "#where-says"); !strings.Contains(got, "hp near 3") {
		t.Errorf("the page says %q of a filter that is wrong", got)
	}
	set("")
	waitText(p, "#where-says", "3,000 entities")
	if p.Text(`document.getElementById("where").getAttribute("aria-invalid") ?? ""`) != "" {
		t.Error("a filter that is right is marked as wrong")
	}

	sort := `[...document.querySelectorAll("#panel-entities [role=columnheader] button")].find(e => e.textContent.startsWith("hp")).click()`
	p.Do(`for (const box of document.querySelectorAll("#panel-entities .choices input")) if (box.checked !== (box.parentNode.textContent === "hp")) box.click()`)
	p.Wait(`document.querySelectorAll("#panel-entities [role=columnheader]").length === 3`)
	p.Do(sort)
	p.Wait(rowTexts + `[0] === "ent_1"`)
	p.Do(sort)
	p.Wait(`["ent_3000", "ent_8"].includes(` + rowTexts + `[0])`) // slot 7 grows
	p.Do(`[...document.querySelectorAll("#panel-entities [role=columnheader] button")][0].click()`)
	p.Wait(rowTexts + `[0] === "ent_1"`)
}

// pauseAndStep ends with a Sim that is paused.
func pauseAndStep(t *testing.T, p *browser.Page, sim *evertick.Sim) {
	p.Do(`document.activeElement.blur()`)
	waitText(p, "#state", "running")
	p.Key(" ", 0)
	waitText(p, "#state", "paused")
	var before, after uint64
	p.Wait(`evertickPage.app.status.tick === evertickPage.app.tick`)
	p.Eval(`evertickPage.app.tick`, &before)
	p.Key(".", 0)
	p.Wait(fmt.Sprintf(`evertickPage.app.tick === %d`, before+1))
	p.Click("#step")
	p.Wait(fmt.Sprintf(`evertickPage.app.tick === %d`, before+2))
	p.Click("#step-back") // which a live Sim cannot
	waitText(p, "#timeline .note", "does not run backwards")
	p.Eval(`fetch("status?of=live").then(r => r.json()).then(s => s.tick)`, &after)
	if after != before+2 || sim.Ticks() != after {
		t.Errorf("after two steps from tick %d the Sim is at %d", before, sim.Ticks())
	}
	p.Wait(`document.querySelector("#pause").getAttribute("aria-label") === "Resume"`)
}

func pickInWorld(t *testing.T, p *browser.Page) {
	p.Do(`evertickPage.app.select(null); evertickPage.view.follow(null); await evertickPage.view.fit()`)
	p.Click("#tab-columns")
	var at struct{ X, Y float64 }
	p.Eval(`(() => { const [x, y] = evertickPage.view.toScreen(23, 4), box = document.getElementById("world").getBoundingClientRect(); return {x: x + box.x, y: y + box.y}; })()`, &at)
	p.Press(at.X, at.Y)
	p.Release(at.X, at.Y)
	p.Wait(`evertickPage.app.selected?.slot === 423`)
	waitText(p, "#picked", "ent_424")
	if got := p.Text(`document.querySelector("#tabs [aria-selected=true]").textContent`); got != "Entity" {
		t.Errorf("a click in the world shows the panel %s", got)
	}
}

func hostileNames(t *testing.T, p *browser.Page) {
	waitText(p, "#picked", "window.hacked")
	for _, tab := range []string{"entities", "columns", "systems"} {
		p.Click("#tab-" + tab)
		waitText(p, "#panel-"+tab, hostileMarkup[:16])
	}
	if text := p.Text(`document.body.innerText`); strings.ContainsAny(text, "\u202e\u2067") {
		t.Error("a name turns the text around it")
	}
	var hacked bool
	p.Eval(`window.hacked !== undefined || document.images.length > 0 || document.scripts.length !== 1`, &hacked)
	if hacked {
		t.Error("a name has become a part of the page")
	}
}

// A page that may not control the Sim says so, and a Sim that nothing steps is shown as stalled.
func TestStalledInBrowser(t *testing.T) {
	sim, err := lotSim(1)
	check(t, err)
	server := serve(t, sim, inspect.Config{Name: strings.Repeat("long ", 2000) + hostileMarkup})
	stop := runUntil(sim)
	p := look(t, "a Sim that nothing steps", server.URL)
	stop()
	waitText(p, "#state", "stalled: no tick for")
	waitText(p, "#panel-entities", "has not been stepped") // the panel says what the server said
	p.Click("#tab-systems")                                // does not wait for the Sim
	waitText(p, "#panel-systems", "physics.step")
	p.Click("#pause")
	waitText(p, "#timeline .note", "allows pages to look")
	if got := p.Text(`document.querySelector("#pause").getAttribute("aria-disabled")`); got != "true" {
		t.Errorf("the button for pause has aria-disabled %q", got)
	}
	if got := p.Text(`fetch("timeline", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({of: "live", pause: true})}).then(r => String(r.status))`); got != "403" {
		t.Errorf("a page that may not control pauses with status %s", got)
	}
	if got := p.Text(`[document.documentElement.scrollWidth > innerWidth, document.getElementById("top").offsetHeight > 80].join()`); got != "false,false" {
		t.Errorf("with a long name the page is too wide, or its header too high: %s", got)
	}
}

// A page stays when its server is gone, and comes back with it.
func TestLostInBrowser(t *testing.T) {
	sim, err := lotSim(1)
	check(t, err)
	server := serve(t, sim, inspect.Config{})
	run(t, sim)
	p := look(t, "a lost connection", server.URL)
	waitText(p, "#state", "running")
	p.Offline(true)
	waitText(p, "#state", "reconnecting")
	p.Offline(false)
	waitText(p, "#state", "running")
}

// recorded records a run of so many ticks, and returns the folder and its scenario.
func recorded(t *testing.T, ticks uint64) (string, replay.Scenario) {
	t.Helper()
	dir := t.TempDir() + "/log"
	scenario := replay.Scenario{Name: "lot", New: lotSim}
	sim, err := scenario.New(5)
	check(t, err)
	r, err := replay.Record(dir, scenario.Name, sim, replay.Options{SnapshotTicks: 100})
	check(t, err)
	check(t, sim.StepN(ticks))
	check(t, r.Close())
	return dir, scenario
}

func TestTimelineInBrowser(t *testing.T) {
	dir, scenario := recorded(t, 450)
	server, err := inspect.ServeLog(t.Context(), dir, scenario, "127.0.0.1:0", inspect.Config{Logf: func(string, ...any) {}})
	check(t, err)
	t.Cleanup(func() { check(t, server.Close()) })
	p := look(t, "the timeline", server.URL)
	at := func(t *testing.T, tick int) {
		t.Helper()
		p.Wait(fmt.Sprintf(`evertickPage.app.tick === %d && document.getElementById("scrub").value === "%d"`, tick, tick))
		waitText(p, "#time", fmt.Sprintf("tick %d of 450", tick))
	}
	at(t, 0)
	t.Run("scrub by mouse", func(t *testing.T) {
		p.Drag("#scrub", 0.01, 0.5)
		p.Wait(`Math.abs(evertickPage.app.tick - 225) < 25 && evertickPage.app.status.state !== "seeking"`)
	})
	t.Run("scrub by keyboard", func(t *testing.T) {
		p.Do(`document.getElementById("scrub").focus()`)
		p.Key("End", 0)
		at(t, 450)
		p.Key("ArrowLeft", 0)
		at(t, 449)
		p.Key("Home", 0)
		at(t, 0)
	})
	t.Run("the last seek counts", func(t *testing.T) {
		p.Do(`const e = document.getElementById("scrub"); for (const v of [400, 20, 333, 5, 301]) { e.value = v; e.dispatchEvent(new Event("input")); }`)
		at(t, 301)
	})
	t.Run("steps", func(t *testing.T) {
		p.Do(`document.activeElement.blur()`)
		p.Key(",", 0)
		at(t, 300)
		p.Key(".", 0)
		at(t, 301)
		p.Click("#step-back")
		at(t, 300)
		p.Click("#step")
		at(t, 301)
	})
	t.Run("play", func(t *testing.T) {
		p.Click("#play")
		waitText(p, "#state", "playing")
		p.Wait(`evertickPage.app.tick > 310`)
		p.Do(`document.activeElement.blur()`)
		p.Key(" ", 0)
		p.Wait(`!["playing", "seeking"].includes(evertickPage.app.status.state)`)
	})
	t.Run("differences", func(t *testing.T) { differences(t, p.With(t), at) })
}

// differences compares two ticks, between which nothing but hp of slot 7 has changed.
func differences(t *testing.T, p *browser.Page, at func(*testing.T, int)) {
	p.Click("#tab-diff")
	p.Wait(`document.getElementById("diff-b").value !== ""`)
	p.Do(`document.getElementById("diff-a").value = 120; document.getElementById("diff-b").value = 125`)
	p.Click("#diff-go")
	row := `[...document.querySelectorAll("#panel-diff [role=row][aria-rowindex]")].find(e => !e.hidden && e.firstChild?.textContent === "hp")`
	p.Wait(row)
	if got := p.Text(row + `.innerText.split(/\s+/).join(" ")`); got != "hp ent_8 127 132" {
		t.Errorf("the difference is shown as %q", got)
	}
	p.Do(row + `.click()`)
	at(t, 125)
	p.Wait(`evertickPage.app.selected?.id === "ent_8"`)
	p.Click("#tab-entity")
	waitText(p, "#picked .value-line:has([title=hp])", "132")
}
