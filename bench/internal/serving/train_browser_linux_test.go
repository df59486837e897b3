package serving

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/replay"
)

// An exported episode opens in the browser: the page shows its entities and goes to any of its ticks.
func TestEpisodeInBrowser(t *testing.T) {
	p := browser.Start(t, "an episode")
	for _, name := range []string{"pushbox", "tag"} {
		t.Run(name, func(t *testing.T) { openEpisode(t, p.With(t), name) })
	}
}

func openEpisode(t *testing.T, p *browser.Page, name string) {
	dir := exported(t, name)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out printed
	ended := make(chan error, 1)
	go func() { ended <- viewOf(dir)(ctx, &out) }()
	p.Open(out.address(t, ended))
	p.Wait(`evertickPage.app.timeline.state?.log?.last === 21`)
	sc, err := loggedScene("train/"+name, evertick.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ticks := range []uint64{5, 21, 12} {
		sim, err := replay.Seek(dir, sc, ticks-1, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Do(fmt.Sprintf(`await evertickPage.app.timeline.goTo(%d)`, ticks))
		p.Wait(fmt.Sprintf(`evertickPage.app.tick === %d`, ticks))
		p.Wait(fmt.Sprintf(`document.getElementById("view-figures").textContent.includes("%d entities")`, sim.World.Len()))
		p.Wait(fmt.Sprintf(`"%016x".includes(document.getElementById("hash").textContent.replaceAll("…", ""))`, sim.Hash()))
	}
	if problems := p.Problems(); len(problems) > 0 {
		t.Errorf("the page reports\n%s", strings.Join(problems, "\n"))
	}
	p.Screenshot("episode-" + name)
	p.Open("about:blank") // which asks the server for nothing when it ends
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
}
