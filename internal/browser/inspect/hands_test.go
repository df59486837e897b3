package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/internal/browser"
)

// A reader with a keyboard alone, or with fingers alone, reaches all of the page.
func TestHandsInBrowser(t *testing.T) {
	sim, err := lotSim(1)
	check(t, err)
	server := serve(t, sim, inspect.Config{Control: true})
	run(t, sim)
	p := look(t, "keys and fingers", server.URL)
	p.Wait(`evertickPage.view.stats.drawMs.length > 2`)
	t.Run("tab", func(t *testing.T) { tabThrough(t, p.With(t)) })
	t.Run("keys", func(t *testing.T) { keysAlone(t, p.With(t)) })
	t.Run("fingers", func(t *testing.T) { fingers(t, p.With(t)) })
	quietBut(t, p)
}

// focused describes the element that has the focus, and whether a reader sees that: "id|yes".
const focused = `(() => {
	const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
	const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
	const seen = e === document.body || outlined && box.width > 0 && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
	return (e === document.body ? "body" : e.id || e.getAttribute("aria-label") || e.textContent.trim().slice(0, 30)) + "|" + (seen ? "yes" : style.outline + JSON.stringify(box));
})()`

// walk presses Tab from an element until the focus leaves the page or is back, and returns where it was.
func walk(t *testing.T, p *browser.Page, from string, modifiers int) (stops []string) {
	t.Helper()
	p.Key("Insert", 0) // after a click the focus is not shown
	p.Do(fmt.Sprintf(`document.querySelector(%q).focus()`, from))
	for range 120 {
		stop, seen, _ := strings.Cut(p.Text(focused), "|")
		if stop == "body" || len(stops) > 0 && stop == stops[0] {
			return stops
		}
		if seen != "yes" {
			t.Errorf("the focus on %q is not seen: %s", stop, seen)
		}
		if len(stops) > 0 && stop == stops[len(stops)-1] {
			t.Fatalf("the focus stays on %q", stop)
		}
		stops = append(stops, stop)
		p.Key("Tab", modifiers)
	}
	t.Fatalf("the focus does not come back: %q", stops)
	return nil
}

func tabThrough(t *testing.T, p *browser.Page) {
	p.Click("#tab-entities")
	waitText(p, "#where-says", "3,000 entities")
	stops := walk(t, p, ".skip", 0)
	for _, want := range []string{"Skip to the panels", "theme", "help-button", "by", "fit", "show-contacts", "world", "divider", "tab-entities", "where", "Entities", "pause", "step", "step-back"} {
		if !slices.Contains(stops, want) {
			t.Errorf("Tab does not reach %s, only %q", want, stops)
		}
	}
	back := walk(t, p, "#step", browser.Shift)
	slices.Reverse(back)
	if fmt.Sprint(back) != fmt.Sprint(stops) {
		t.Errorf("Tab goes %q, and back the other way round than %q", stops, back)
	}
}

func keysAlone(t *testing.T, p *browser.Page) {
	focus := func(id string) { p.Do(fmt.Sprintf(`document.getElementById(%q).focus()`, id)) }
	// The skip link leads past the header and the world.
	p.Do(`document.querySelector(".skip").focus()`)
	p.Key("Enter", 0)
	p.Key("Tab", 0)
	if at := p.Text(`document.activeElement.getAttribute("role")`); at != "tab" {
		t.Errorf("after the skip link and Tab the focus is on %q", at)
	}
	// Each panel is one arrow away, and shows what it has to Tab.
	p.Key("Home", 0)
	for range 8 {
		at := p.Text(`document.activeElement.id`)
		p.Key("Tab", 0)
		if got := p.Text(`document.activeElement === document.body ? "nothing" : ""`); got != "" {
			t.Errorf("after %s Tab reaches %s", at, got)
		}
		focus(at)
		p.Key("ArrowRight", 0)
	}
	// A row is picked and shown.
	focus("tab-entity")
	p.Key("ArrowRight", 0)
	p.Wait(rowTexts + `[0] === "ent_1"`)
	p.Do(fmt.Sprintf(`document.querySelector(%q).focus()`, entityGrid))
	for range 3 {
		p.Key("ArrowDown", 0)
	}
	p.Key("Enter", browser.Shift)
	p.Wait(`evertickPage.app.selected?.id === "ent_3" && !document.getElementById("panel-entity").hidden`)
	if at := p.Text(`document.activeElement.id || document.activeElement.tagName`); at == "BODY" {
		t.Error("the focus is lost when the panel of the entity appears")
	}
	p.Do(`[...document.querySelectorAll("#picked button")].find(e => e.textContent === "Clear").focus()`)
	p.Key("Enter", 0)
	p.Wait(`evertickPage.app.selected === null && document.activeElement.id === "tab-entity"`)
	// The chooser of columns and the help open and close.
	focus("tab-entities")
	p.Key("Enter", 0)
	p.Do(`document.querySelector(".chooser summary").focus()`)
	p.Key("Enter", 0)
	p.Wait(`document.querySelector(".chooser").open`)
	p.Key("Tab", 0)
	if at := p.Text(`document.activeElement.type`); at != "checkbox" {
		t.Errorf("in the chooser Tab reaches %q", at)
	}
	p.Key("Escape", 0)
	p.Wait(`!document.querySelector(".chooser").open && document.activeElement.matches(".chooser summary")`)
	focus("fit")
	p.Key("?", 0)
	p.Wait(`document.getElementById("help").open`)
	p.Key("Tab", 0)
	p.Key("Tab", 0)
	if got := p.Text(`String(document.getElementById("help").contains(document.activeElement) || document.activeElement === document.body)`); got != "true" {
		t.Error("Tab leaves the dialog for what it covers")
	}
	p.Key("Escape", 0)
	p.Wait(`!document.getElementById("help").open && document.activeElement.id === "fit"`)
	// The world: the arrows move it, Escape selects nothing.
	p.Do(`await evertickPage.app.selectId("ent_3", "entity")`)
	focus("world")
	p.Key("ArrowLeft", 0)
	p.Wait(`!evertickPage.app.following`)
	p.Key("Escape", 0)
	p.Wait(`evertickPage.app.selected === null`)
}

func fingers(t *testing.T, p *browser.Page) {
	p.Do(`evertickPage.app.select(null); await evertickPage.view.fit()`)
	type camera struct{ X, Y, Scale float64 }
	look := func() (c camera) {
		p.Settle()
		p.Eval(`(({x, y, scale}) => ({X: x, Y: y, Scale: scale}))(evertickPage.view.camera)`, &c)
		return c
	}
	x, y := p.Box("#world").At(0.5, 0.5)
	at := func(dx, dy float64) browser.Finger { return browser.Finger{X: x + dx, Y: y + dy} }
	scroll := p.Text(`String(scrollY)`)

	before := look()
	p.Touch(at(0, 0))
	for i := 1.; i <= 6; i++ {
		p.Touch(at(-10*i, 5*i))
	}
	p.Touch()
	after := look()
	if dx, dy := (after.X-before.X)*before.Scale, (after.Y-before.Y)*before.Scale; after.Scale != before.Scale || abs(dx-60) > 2 || abs(dy-30) > 2 {
		t.Errorf("a finger that moves by -60, 30 px moves the camera by %.1f, %.1f px, %v to %v", dx, dy, before, after)
	}

	p.Touch(at(-40, 0), at(40, 0))
	for i := 1.; i <= 8; i++ {
		p.Touch(at(-40-10*i, 0), at(40+10*i, 0))
	}
	p.Touch(at(-120, 0)) // one finger leaves first
	p.Touch()
	pinched := look()
	if by := pinched.Scale / after.Scale; abs(by-3) > 0.1 {
		t.Errorf("fingers that part from 80 to 240 px scale by %.2f", by)
	}
	if p.Text(`String(evertickPage.app.selected?.id ?? "")`) != "" {
		t.Error("a pinch picks an entity")
	}

	p.Do(`await evertickPage.view.fit()`)
	var point [2]float64
	p.Eval(`evertickPage.view.toScreen(23, 4)`, &point)
	box := p.Box("#world")
	p.Touch(browser.Finger{X: box.X + point[0], Y: box.Y + point[1]})
	p.Touch()
	p.Wait(`evertickPage.app.selected?.slot === 423`)
	if now := p.Text(`String(scrollY)`); now != scroll {
		t.Errorf("fingers in the world scroll the page from %s to %s", scroll, now)
	}
}

func abs(v float64) float64 { return max(v, -v) }
