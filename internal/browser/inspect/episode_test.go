package inspect_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

// An exported episode opens in the browser: the page shows its entities and goes to any of its ticks.
func TestEpisodeInBrowser(t *testing.T) {
	p := browser.Start(t, "an episode")
	for _, name := range []string{"pushbox", "tag"} {
		t.Run(name, func(t *testing.T) { openEpisode(t, p.With(t), name) })
	}
}

func openEpisode(t *testing.T, p *browser.Page, name string) {
	def, err := worlds.ByName(name)
	check(t, err)
	b, err := train.New(def, train.Config{Worlds: 2, Seed: 3, Record: true})
	check(t, err)
	buf := b.NewBuffers()
	check(t, b.Reset(train.Options{}, buf))
	for range 20 {
		check(t, b.Step(buf))
	}
	dir := filepath.Join(t.TempDir(), "log")
	_, err = b.Export(1, dir)
	check(t, err)
	var sc replay.Scenario
	for _, s := range worlds.Scenarios(evertick.Config{}) {
		if s.Name == "train/"+name {
			sc = s
		}
	}
	viewLog(t, p, dir, sc)
	p.Wait(`evertickPage.app.timeline.state?.log?.last === 21`)
	for _, ticks := range []uint64{5, 21, 12} {
		sim, err := replay.Seek(dir, sc, ticks-1, nil)
		check(t, err)
		p.Do(fmt.Sprintf(`await evertickPage.app.timeline.goTo(%d)`, ticks))
		p.Wait(fmt.Sprintf(`evertickPage.app.tick === %d`, ticks))
		p.Wait(fmt.Sprintf(`document.getElementById("view-figures").textContent.includes("%d entities")`, sim.World.Len()))
		p.Wait(fmt.Sprintf(`"%016x".includes(document.getElementById("hash").textContent.replaceAll("…", ""))`, sim.Hash()))
	}
	quietBut(t, p)
	p.Screenshot("episode-" + name)
	p.Open("data:text/html,") // its server ends now
}
