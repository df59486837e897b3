package inspect_test

import (
	"os"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/replay"
)

// The pictures of the README and the guide:
//
//	EVERTICK_SCREENSHOTS=$PWD/../../docs/images go test ./inspect -run Pictures
func TestPictures(t *testing.T) {
	if os.Getenv("EVERTICK_SCREENSHOTS") == "" {
		t.Skip("not run: EVERTICK_SCREENSHOTS names no folder for the pictures")
	}
	p := browser.Start(t, "the pictures")
	p.Resize(1200, 720)
	t.Run("world", func(t *testing.T) { pictureOfWorld(t, p.With(t)) })
	t.Run("space", func(t *testing.T) { pictureOfSpace(t, p.With(t)) })
	t.Run("log", func(t *testing.T) { pictureOfLog(t, p.With(t)) })
}

// sceneScenario is a scene of bodies as its log names it.
func sceneScenario(name string, n int) replay.Scenario {
	return replay.Scenario{Name: name, New: func(seed uint64) (*evertick.Sim, error) {
		return scenes.NewSim(name, n, evertick.Config{Seed: seed})
	}}
}

// pictureOfWorld shows bodies, and what is known of one of them.
func pictureOfWorld(t *testing.T, p *browser.Page) {
	sim, err := scenes.NewSim("ragdolls", 12, evertick.Config{})
	check(t, err)
	check(t, sim.StepN(112))
	sim.Loop().SetPaused(true)
	server := serve(t, sim, inspect.Config{Control: true, Name: "ragdolls"})
	defer runUntil(sim)()
	p.Open(server.URL)
	waitText(p, "#state", "paused")
	p.Click("#show-contacts")
	p.Do(`await evertickPage.app.selectId("ent_40", "entity")`)
	waitText(p, "#picked", "Body")
	p.Do(`await evertickPage.view.zoom(1.6)`)
	p.Screenshot("inspect-world")
}

// pictureOfSpace shows bodies in space, and what is known of one of them.
func pictureOfSpace(t *testing.T, p *browser.Page) {
	p.Resize(1000, 600)
	defer p.Resize(1200, 720)
	sim, err := fullYard()
	check(t, err)
	check(t, sim.StepN(80))
	sim.Loop().SetPaused(true)
	server := serve(t, sim, inspect.Config{Control: true, Name: "yard"})
	defer runUntil(sim)()
	p.Open(server.URL)
	waitText(p, "#state", "paused")
	drawnInSpace(p, 1)
	p.Do(`await evertickPage.view3.look({ target: [-1, 1.5, 1.5], yaw: 0.55, pitch: 0.42, distance: 21 })`)
	p.Do(`const { id, slot } = await evertickPage.app.ask("entity", { slot: 25 }); evertickPage.app.select({ id, slot }); evertickPage.app.tabs.show("entity")`)
	waitText(p, "#picked", "physics3")
	drawnInSpace(p, 2)
	p.Screenshot("inspect-space")
}

// pictureOfLog shows what a tick has changed.
func pictureOfLog(t *testing.T, p *browser.Page) {
	sc := sceneScenario("ragdolls", 12)
	dir := t.TempDir() + "/log"
	sim, err := sc.New(1)
	check(t, err)
	r, err := replay.Record(dir, sc.Name, sim, replay.Options{SnapshotTicks: 100})
	check(t, err)
	check(t, sim.StepN(600))
	check(t, r.Close())
	p.Theme("dark")
	viewLog(t, p, dir, sc)
	p.Click("#tab-diff")
	p.Wait(`evertickPage.app.timeline.state?.log?.last === 600 && document.getElementById("diff-b").value !== ""`)
	p.Do(`document.getElementById("diff-a").value = 100; document.getElementById("diff-b").value = 101`)
	p.Click("#diff-go")
	row := `[...document.querySelectorAll("#panel-diff [role=row][aria-rowindex]")].filter(e => !e.hidden)[6]`
	p.Wait(row + `?.innerText.includes("ent_")`)
	p.Do(row + `.click()`) // goes to the tick, and follows the entity
	p.Wait(`evertickPage.app.tick === 101 && evertickPage.app.selected`)
	p.Do(`await evertickPage.view.zoom(1.6)`)
	p.Wait(`/[1-9]\d* contacts/.test(document.getElementById("view-figures").textContent)`)
	p.Screenshot("inspect-diff")
}
