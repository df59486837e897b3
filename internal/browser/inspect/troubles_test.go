package inspect_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// A page says what is wrong with a simulation, shows what can be shown, and goes on by itself where that is possible.
func TestTroublesInBrowser(t *testing.T) {
	p := browser.Start(t, "a simulation in trouble")
	p.Resize(1440, 900)
	for _, c := range []struct {
		name string
		test func(*testing.T, *browser.Page)
	}{
		{"the server starts again", serverAgain}, {"a system sleeps", sleepingSystem}, {"a system fails", failingSystem},
		{"a damaged log", damagedLog}, {"a log of another scenario", foreignLog}, {"a log of another version", oldLog},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := p.With(t)
			c.test(t, p)
			p.Open("data:text/html,") // its server ends now
			p.Forget()
		})
	}
}

// quietBut fails the test if the page reported anything that contains none of the texts.
func quietBut(t *testing.T, p *browser.Page, texts ...string) {
	t.Helper()
next:
	for _, problem := range p.Problems() {
		for _, text := range texts {
			if strings.Contains(problem, text) {
				continue next
			}
		}
		t.Errorf("the page reports %s", problem)
	}
	p.Forget()
}

const framesOf = `evertickPage.view.stats.uploadMs`

// moreFrames waits until the page has drawn so many more frames.
func moreFrames(p *browser.Page, n int) {
	p.Do(framesOf + `.length = 0`)
	for i := 1; i <= n; i++ {
		p.Wait(fmt.Sprintf(framesOf+`.length >= %d`, i))
	}
}

func serverAgain(t *testing.T, p *browser.Page) {
	sim, err := lotSim(1)
	check(t, err)
	check(t, sim.StepN(1000))
	server := serve(t, sim, inspect.Config{Name: "first"})
	stop := runUntil(sim)
	p.Open(server.URL)
	p.Do(`window.sameDocument = true`)
	waitText(p, "#state", "running")
	p.Do(`await evertickPage.app.selectId("ent_2999", "entity")`)
	waitText(p, "#picked", "ent_2999")
	quietBut(t, p)

	check(t, server.Close())
	_ = stop()
	waitText(p, "#state", "reconnecting")
	if got := textOf(p, "#name"); got != "first" {
		t.Errorf("without a server the page is named %q", got)
	}
	second := sceneSim(t, "arena", 50, evertick.Config{Seed: 3})
	again, err := inspect.Serve(t.Context(), second, strings.TrimSuffix(strings.TrimPrefix(server.URL, "http://"), "/"),
		inspect.Config{Name: "second", Logf: func(string, ...any) {}})
	check(t, err)
	defer again.Close()
	stop = runUntil(second)
	defer stop()
	waitText(p, "#state", "running")
	waitText(p, "#name", "second")
	moreFrames(p, 3)
	p.Wait(`evertickPage.app.tick >= 0 && evertickPage.app.tick < 1000 && evertickPage.app.selected === null`)
	p.Wait(`document.getElementById("picked").hidden && evertickPage.app.world && evertickPage.app.world.columns.every(c => c.name !== "hp")`)
	p.Click("#tab-entities")
	p.Wait(fmt.Sprintf(`/^%d /.test(document.querySelector("#where-says").textContent)`, second.World.Len()))
	quietBut(t, p, `"source":"network"`)
	moreFrames(p, 3)
	quietBut(t, p)
	var same bool
	if p.Eval(`Boolean(window.sameDocument)`, &same); !same {
		t.Error("the page was loaded anew")
	}
}

func sleepingSystem(t *testing.T, p *browser.Page) {
	sim, err := lotSim(1)
	check(t, err)
	var sleep atomic.Bool
	wake := make(chan struct{})
	check(t, sim.Add(evertick.AfterPhysics, "nap", func(*evertick.Tick) error {
		if sleep.Swap(false) {
			<-wake
		}
		return nil
	}))
	server := serve(t, sim, inspect.Config{})
	defer runUntil(sim)()
	p.Open(server.URL)
	waitText(p, "#state", "running")
	p.Click("#tab-systems")
	p.Do(`window.badges = new Set(); new MutationObserver(() => badges.add(document.getElementById("state").textContent)).observe(document.getElementById("state"), {childList: true, characterData: true, subtree: true})`)
	sleep.Store(true)
	p.Wait(`[...badges].some(text => text.startsWith("stalled: no tick for"))`)
	p.Wait(`[...badges].some(text => /[3-9]\.. s$/.test(text))`) // it counts on
	close(wake)
	waitText(p, "#state", "running")
	moreFrames(p, 3)
	p.Wait(`[...document.querySelectorAll("#panel-systems tr")].some(e => e.textContent.includes("nap") && e.textContent.includes(" s"))`)
	p.Wait(`document.getElementById("view-note").hidden`)
	quietBut(t, p, "503 (Service Unavailable)")
}

func failingSystem(t *testing.T, p *browser.Page) {
	sim, err := lotSim(1)
	check(t, err)
	var fail atomic.Bool
	check(t, sim.Add(evertick.AfterPhysics, "trap", func(*evertick.Tick) error {
		if fail.Load() {
			return errors.New("the trap is closed")
		}
		return nil
	}))
	server := serve(t, sim, inspect.Config{Control: true})
	stop := runUntil(sim)
	p.Open(server.URL)
	waitText(p, "#where-says", "3,000 entities")
	for _, tab := range []string{"columns", "systems", "entities"} {
		p.Click("#tab-" + tab)
		waitText(p, "#panel-"+tab, map[string]string{"columns": "position", "systems": "trap", "entities": "ent_1"}[tab])
	}
	fail.Store(true)
	waitText(p, "#state", "failed")
	waitText(p, "#alert", "the trap is closed")
	if err := stop(); err == nil || !strings.Contains(err.Error(), "the trap is closed") {
		t.Errorf("the Sim ends with %v", err)
	}
	// What was read of it last stays.
	waitText(p, "#panel-entities", "ent_1")
	p.Click("#tab-columns")
	waitText(p, "#panel-columns", "position")
	p.Click("#tab-systems")
	waitText(p, "#panel-systems", "trap")
	if inked := p.Text(`String(evertickPage.view.camera.scale > 0 && document.querySelector("#view-figures").textContent)`); !strings.Contains(inked, "3,000 entities") {
		t.Errorf("of the world the page shows %q", inked)
	}
	p.Wait(`document.getElementById("step").getAttribute("aria-disabled") === "true"`)
	p.Click("#step")
	waitText(p, "#timeline .note", "no tick follows")
	p.Screenshot("inspect-failed")
	quietBut(t, p, "503 (Service Unavailable)")
}

// viewLog opens the page of a log.
func viewLog(t *testing.T, p *browser.Page, dir string, sc replay.Scenario) {
	t.Helper()
	server, err := inspect.ServeLog(t.Context(), dir, sc, "127.0.0.1:0", inspect.Config{Logf: func(string, ...any) {}})
	check(t, err)
	t.Cleanup(func() { check(t, server.Close()) })
	p.Open(server.URL)
}

// spoil changes a file of a log.
func spoil(t *testing.T, dir, pattern string, change func([]byte) []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	check(t, err)
	if len(files) == 0 {
		t.Fatalf("no file %s", pattern)
	}
	content, err := os.ReadFile(files[len(files)-1])
	check(t, err)
	check(t, os.WriteFile(files[len(files)-1], change(content), 0o644))
}

func damagedLog(t *testing.T, p *browser.Page) {
	dir, scenario := recorded(t, 450)
	spoil(t, dir, "segment-*.evlog", func(b []byte) []byte { b[len(b)*2/3] ^= 4; return b })
	viewLog(t, p, dir, scenario)
	waitText(p, "#timeline .note", "segment-0000000000.evlog")
	waitText(p, "#where-says", "3,000 entities") // of the first tick
	p.Wait(`Number(document.getElementById("scrub").max) > 100 && Number(document.getElementById("scrub").max) < 450`)
	p.Do(`document.getElementById("scrub").focus()`)
	p.Key("End", 0) // the last tick before the damage
	p.Wait(`evertickPage.app.tick > 100 && evertickPage.app.tick === Number(document.getElementById("scrub").max)`)
	p.Do(`window.end = evertickPage.app.tick`)
	p.Click("#step-back")
	p.Wait(`evertickPage.app.tick === end - 1`)
	waitText(p, "#timeline .note", "The log is damaged: ")
	p.Screenshot("inspect-damaged")
	quietBut(t, p)
}

func foreignLog(t *testing.T, p *browser.Page) {
	dir, scenario := recorded(t, 20)
	scenario.Name = "chess"
	viewLog(t, p, dir, scenario)
	unplayable(t, p, "chess", `"lot"`)
}

func oldLog(t *testing.T, p *browser.Page) {
	dir, scenario := t.TempDir()+"/log", replay.Scenario{Name: "lot", New: lotSim}
	log, err := worldlog.Create(dir, worldlog.Identity{Scenario: "lot", SimVersion: evertick.SimVersion - 1, Seed: 5}, worldlog.Options{})
	check(t, err)
	for tick := range uint64(20) {
		check(t, log.Commit(tick, tick, worldlog.Counts{}))
	}
	check(t, log.Close())
	viewLog(t, p, dir, scenario)
	unplayable(t, p, "lot", fmt.Sprint(evertick.SimVersion-1))
}

// unplayable checks the page of a log of 20 ticks that no Sim can play: it says so and why, and shows what the log holds.
func unplayable(t *testing.T, p *browser.Page, name, why string) {
	t.Helper()
	waitText(p, "#state", "failed")
	waitText(p, "#timeline .note", "cannot be played")
	waitText(p, "#alert", why)
	waitText(p, "#panel-entities", why)
	p.Wait(`document.getElementById("scrub").max === "20"`)
	if got := p.Text(`document.getElementById("play").getAttribute("aria-disabled")`); got != "true" {
		t.Errorf("the button for play has aria-disabled %q", got)
	}
	if got := p.Text(`document.querySelector("#panel-entities").innerText`); strings.Contains(got, "No entity") {
		t.Errorf("of a log that cannot be played the list says %q", got)
	}
	p.Screenshot("inspect-unplayable")
	if got := p.Text(`[document.getElementById("where").getAttribute("aria-invalid"), document.getElementById("name").textContent, document.title].join()`); !strings.HasPrefix(got, ","+name+","+name) {
		t.Errorf("the condition is marked, or the names are wrong: %q", got)
	}
	quietBut(t, p, "503 (Service Unavailable)")
}
