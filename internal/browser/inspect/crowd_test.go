package inspect_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/internal/browser"
)

// Pages that read slowly, or not at all, cost a page beside them no frames, the Sim no ticks, and bounded memory.
func TestSlowPagesInBrowser(t *testing.T) {
	const entities, slow = 50_000, 10
	frames := 8
	if long {
		frames = 20
	}
	p := browser.Start(t, "a page beside slow ones")
	p.Resize(320, 240)
	sim, err := evertick.New(evertick.Config{Capacity: entities})
	check(t, err)
	for i := range entities {
		id, err := sim.World.Spawn()
		check(t, err)
		check(t, sim.World.SetPosition(id, float32(i%250), float32(i/250), 0))
	}
	server := serve(t, sim, inspect.Config{})
	run(t, sim)
	p.Open(server.URL)
	moreFrames(p, 5)

	ticksOf := func(frames int) uint64 { // ticks that pass while the page draws the frames
		before := tickShown(p)
		moreFrames(p, frames)
		return tickShown(p) - before
	}
	alone, heap := ticksOf(frames), heapBytes()
	for range slow {
		readSlowly(t, server)
	}
	most := 4*alone + uint64(frames)
	beside := ticksOf(frames)
	for tries := 0; tries < 3 && beside > most; tries++ { // the machine may have paused
		beside = ticksOf(frames)
	}
	held := heapBytes() - heap
	t.Logf("%d frames: %d ticks alone, %d beside %d slow pages, which hold %d kB", frames, alone, beside, slow, held/1000)
	if beside > most {
		t.Errorf("%d frames come in %d ticks beside slow pages, in %d alone", frames, beside, alone)
	}
	if beside < uint64(frames/4) {
		t.Errorf("while %d frames come, the Sim makes only %d ticks", frames, beside)
	}
	const frameBytes = 16 * entities
	if held > 2*(slow)*frameBytes {
		t.Errorf("%d bytes are held for slow pages", held)
	}
}

// tickShown is the tick of the frame that the page has drawn last.
func tickShown(p *browser.Page) (tick uint64) {
	p.Eval(`evertickPage.app.tick`, &tick)
	return tick
}

// readSlowly asks for frames as a page does, and reads a kB of them every 50 ms until the test ends.
func readSlowly(t *testing.T, server *inspect.Server) {
	t.Helper()
	host := strings.TrimSuffix(strings.TrimPrefix(server.URL, "http://"), "/")
	conn, err := net.Dial("tcp", host)
	check(t, err)
	check(t, conn.(*net.TCPConn).SetReadBuffer(4096))
	for range 20 {
		_, err := fmt.Fprintf(conn, "GET /frame?after=0 HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		check(t, err)
	}
	in := bufio.NewReaderSize(conn, 1024)
	answer, err := http.ReadResponse(in, nil)
	check(t, err)
	if answer.StatusCode != http.StatusOK || answer.ContentLength < 400_000 {
		t.Errorf("a slow page gets status %d and %d bytes", answer.StatusCode, answer.ContentLength)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for b := make([]byte, 1000); err == nil; time.Sleep(50 * time.Millisecond) {
			_, err = answer.Body.Read(b) // until the server or the test closes the connection
		}
	}()
	t.Cleanup(func() {
		conn.Close()
		<-ended
	})
}
