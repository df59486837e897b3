package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/examples/server/bumper"
	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replica"
	"github.com/evertick/evertick/replica/ws"
	"github.com/evertick/evertick/worldlog"
)

// page is the file of the page, once built is true.
var page struct {
	file  string
	built bool
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "web")
	if err != nil {
		panic(err)
	}
	page.file = filepath.Join(dir, "index.html")
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// build builds the page, and returns its path.
func build(t *testing.T) string {
	t.Helper()
	if page.built {
		return page.file
	}
	out, err := exec.Command("go", "run", "github.com/evertick/evertick/inspect/twin/build", "-o", page.file, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", bytes.TrimSpace(out))
	page.built = true
	return page.file
}

// process is a server of examples/server.
type process struct {
	t    *testing.T
	file string // of the program
	args []string
	cmd  *exec.Cmd
	addr string
}

// start starts the server, and waits until it listens.
func (s *process) start() {
	s.t.Helper()
	s.cmd = exec.Command(s.file, s.args...)
	said, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	line, _ := bufio.NewReader(said).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		s.kill()
		s.t.Fatalf("the server says %q", line)
	}
	s.addr = addr
}

// kill ends it without a word.
func (s *process) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // how it ends is of no interest
}

// report is what the tests read of the answer to GET twin.
type report struct {
	State               string
	Session             uint32
	Tick                uint64
	Own, Error          string
	Equal, Different    uint64
	Snapshots, Joins    uint64
	BytesSecond         float64 `json:"bytes_per_second"`
	RoundTripMs         float64 `json:"round_trip_ms"`
	Ahead, Rolled       uint64
	Playing, CanPlay    bool
	LogError            string `json:"log_error"`
	Waiting, SimVersion int
}

// tab is the page.
type tab struct {
	*browser.Page
	t *testing.T
}

// ask returns the answer to a request of the page.
func (p tab) ask(path string, into any) {
	p.t.Helper()
	p.Eval(fmt.Sprintf("evertickPage.source.get(%q).then(a => a.json)", path), into)
}

func (p tab) report() (r report) {
	p.t.Helper()
	p.ask("twin", &r)
	return r
}

// until asks until what comes is as wanted.
func (p tab) until(what string, good func(r *report) bool) report {
	p.t.Helper()
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		r := p.report()
		if good(&r) {
			return r
		}
		if r.State == "" || time.Since(start) > 2*time.Minute {
			p.t.Fatalf("%s: not so: %+v\n%q", what, r, p.Problems())
		}
	}
}

// quiet fails the test if the page reported anything but the slowness of a GPU that is none, or asked for anything but
// itself and one address.
func (p tab) quiet(allowed string) {
	p.t.Helper()
	for _, problem := range p.Problems() {
		if !strings.Contains(problem, "GPU stall") {
			p.t.Errorf("the page reports %s", problem)
		}
	}
	for _, url := range p.Requests() {
		if !strings.HasSuffix(url, "/") && !strings.HasPrefix(url, "blob:") && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "file:") && url != allowed {
			p.t.Errorf("the page requests %s", url)
		}
	}
	p.Forget()
}

// join fills in the address, and clicks a button.
func (p tab) join(url, button string) {
	p.t.Helper()
	p.Click("#tab-twin")
	p.Do(fmt.Sprintf(`document.querySelector("#twin-url").value = %q;`, url))
	p.Click(button)
}

// hashesOf returns the hashes of a log by the number of completed ticks, as far as it is whole.
func hashesOf(t *testing.T, dir string) map[uint64]string {
	t.Helper()
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	hashes := map[uint64]string{}
	for {
		tick, err := r.Next()
		if err != nil {
			if err != io.EOF && !errors.Is(err, worldlog.ErrTorn) {
				t.Fatal(err)
			}
			return hashes
		}
		hashes[tick.Tick+1] = fmt.Sprintf("%016x", tick.Hash)
	}
}

// long is whether a check has its full size, as without SHORT.
var long = os.Getenv("EVERTICK_LONG") != ""

// The page has the hashes of the server through 3,000 ticks, 10,000 with EVERTICK_LONG, in which the server is killed and goes on
// from its log. Then it shows that log, and what is wrong with others.
func TestPage(t *testing.T) {
	ticks := uint64(3000)
	if long {
		ticks = 10_000
	}
	p := tab{browser.Start(t, "the simulation"), t}
	file, dir := build(t), t.TempDir()
	server := &process{t: t, file: filepath.Join(dir, "server")}
	if out, err := exec.Command("go", "build", "-o", server.file, "../server").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	log := filepath.Join(dir, "log")
	server.args = []string{"-addr", "127.0.0.1:0", "-log", log, "-web", file, "-bots", "3", "-speed", "12"}
	server.start()
	defer func() { server.kill() }()

	p.Open("http://" + server.addr + "/")
	p.Click("#tab-twin")
	p.Wait(`document.querySelector("#twin-url").value`)
	p.Click("#twin-watch") // at the address that the page proposes
	p.until("half of the ticks", func(r *report) bool { return r.Equal >= ticks/2 })
	first := p.report()
	compare(t, p, log)
	p.Wait(`evertickPage.app.tick > 0`)
	p.quiet("ws://" + server.addr + "/world")

	server.kill()
	lost := p.until("the connection is lost", func(r *report) bool { return r.State == "waiting" })
	p.Wait(`/Trying again in/.test(document.querySelector("#twin-trouble").textContent)`)
	server.args[1] = server.addr
	server.start()
	p.until("all ticks", func(r *report) bool { return r.State == "joined" && r.Equal >= max(ticks, lost.Equal+ticks/5) })
	compare(t, p, log)
	last := p.report()
	t.Logf("%+v", last)
	if last.Different != 0 || last.Joins < 2 || last.Session != first.Session {
		t.Errorf("before: %+v, after: %+v", first, last)
	}
	p.Screenshot("twin")
	p.Forget() // that there was no server
	if long {
		costs(t, p)
	}
	p.Click("#tab-twin")
	p.Click("#twin-leave")
	p.until("the page leaves", func(r *report) bool { return r.State == "alone" })
	p.quiet("ws://" + server.addr + "/world")
	server.kill()
	t.Run("log", func(t *testing.T) { logs(t, tab{p.With(t), t}, log) })
}

// compare compares hashes of the page with those of the log of the server.
func compare(t *testing.T, p tab, log string) {
	t.Helper()
	var h struct {
		Ticks       []uint64
		Own, Server []string
	}
	p.ask("hashes?of=live&after=0", &h)
	want, compared := hashesOf(t, log), 0
	for i, tick := range h.Ticks {
		if hash, ok := want[tick]; ok {
			compared++
			if h.Own[i] != hash || h.Server[i] != hash {
				t.Fatalf("after %d ticks: the page has %s, and of the server %s; the log has %s", tick, h.Own[i], h.Server[i], hash)
			}
		}
	}
	if compared < 1000 {
		t.Errorf("%d hashes compared with the log", compared)
	}
}

// costs logs what the page costs while it shows the server.
func costs(t *testing.T, p tab) {
	t.Helper()
	before, start, equal := p.Metrics(), time.Now(), p.report().Equal
	time.Sleep(4 * time.Second)
	after, passed := p.Metrics(), time.Since(start).Seconds()
	var s struct {
		Step struct {
			P50 int64 `json:"p50_ns"`
			P99 int64 `json:"p99_ns"`
		}
	}
	p.ask("systems?of=live", &s)
	t.Logf("%.0f ticks a second; the main thread of the page works %.0f %% of the time, its script %.0f %%; a tick in the worker takes %d µs, p99 %d µs",
		float64(p.report().Equal-equal)/passed, 100*(after["TaskDuration"]-before["TaskDuration"])/passed,
		100*(after["ScriptDuration"]-before["ScriptDuration"])/passed, s.Step.P50/1000, s.Step.P99/1000)
}

// delayed passes on connections to an address, and each byte later, in both directions.
func delayed(t *testing.T, to string, by time.Duration) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("not run: no network: ", err)
	}
	t.Cleanup(func() { l.Close() })
	pass := func(dst, src net.Conn) {
		type late struct {
			due  time.Time
			data []byte
		}
		queue := make(chan late, 1<<16)
		go func() {
			defer dst.Close()
			for l := range queue {
				time.Sleep(time.Until(l.due))
				if _, err := dst.Write(l.data); err != nil {
					src.Close()
				}
			}
		}()
		defer close(queue)
		for buf := make([]byte, 64<<10); ; {
			n, err := src.Read(buf)
			if err != nil {
				return
			}
			queue <- late{time.Now().Add(by), bytes.Clone(buf[:n])}
		}
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			go pass(server, client)
			go pass(client, server)
		}
	}()
	return l.Addr().String()
}

// The page, from a disk, plays: its own disc obeys before the server can have answered, which is far away, and what the
// server confirms has the bits of the server. A server of another scenario is refused with the reason.
func TestPlay(t *testing.T) {
	p := tab{browser.Start(t, "the player"), t}
	file := build(t)
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Skip("not run: no network: ", err)
		}
		return l
	}
	host := func(c replica.Config) (addr string) {
		l := listen()
		sim, err := bumper.Scenario.New(7)
		if err != nil {
			t.Fatal(err)
		}
		c.Owner, c.Joined, c.Left = "owner", bumper.Join, bumper.Leave
		c.Authorize = func(context.Context, replica.Hello) (replica.Grant, error) { return replica.Grant{Simulate: true}, nil }
		players, err := replica.New(sim, c)
		if err != nil {
			t.Fatal(err)
		}
		handler, err := ws.NewHandler(players, ws.Config{Origins: []string{"*"}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { _ = sim.Run(ctx) })
		web := &http.Server{Handler: handler}
		go web.Serve(l)
		t.Cleanup(func() { stop(); running.Wait(); web.Close(); players.Close() })
		return l.Addr().String()
	}
	far := delayed(t, host(replica.Config{Scenario: bumper.Scenario.Name}), 150*time.Millisecond)
	chess := host(replica.Config{Scenario: "chess"})

	p.Open("file://" + file)
	p.Wait(`evertickPage.app.tick > 100`) // it runs from the beginning, with bots
	var bots struct{ Total int }
	p.ask("entities?of=live&count=1&where=owner>0", &bots)
	if bots.Total != 12 {
		t.Errorf("%d bots", bots.Total)
	}
	p.join("ws://"+chess, "#twin-watch")
	p.until("the page is refused", func(r *report) bool { return r.State == "refused" && strings.Contains(r.Error, "chess") })
	p.says("chess")
	p.join("ws://"+far, "#twin-play")
	// The first seconds are those in which V8 compiles, and the lead of inputs is found.
	r := p.until("the page plays", func(r *report) bool { return r.State == "joined" && r.Equal > 300 && r.Ahead > 0 })
	p.Wait(`evertickPage.app.selected !== null`) // its own disc
	obeyed := false
	for _, key := range []string{"KeyD", "KeyA", "KeyW", "KeyS"} {
		var o struct {
			Ms              float64
			Tick, Confirmed uint64
			Waiting, Asked  int
			Moved           bool
		}
		p.Eval(fmt.Sprintf(`(async () => {
			const get = async path => (await evertickPage.source.get(path)).json;
			const own = async () => {
				const { tick, rows, error } = await get("entities?of=live&count=1&columns=push[0]&columns=push[1]&where=owner==%d");
				if (error) throw new Error(error);
				return { tick, values: rows[0].values.map(Number) };
			};
			const key = type => window.dispatchEvent(new KeyboardEvent(type, { code: %q }));
			const o = { asked: 0, moved: false }, start = performance.now();
			key("keydown");
			while (!o.moved && performance.now() - start < 10000) {
				const { tick, values } = await own();
				const report = await get("twin");
				o.asked++;
				if (!values.some(v => v !== 0)) continue;
				Object.assign(o, { moved: true, ms: performance.now() - start, tick, confirmed: report.tick, waiting: report.waiting });
			}
			await new Promise(done => setTimeout(done, 700));
			key("keyup");
			await new Promise(done => setTimeout(done, 700));
			return o;
		})()`, r.Session, key), &o)
		t.Logf("%s: the disc obeyed after %.1f ms, at tick %d; the server had confirmed %d ticks, and %d inputs were on their way", key, o.Ms, o.Tick, o.Confirmed, o.Waiting)
		if !o.Moved {
			t.Fatalf("%s: the disc does not obey: %+v, %+v", key, o, p.report())
		}
		obeyed = obeyed || o.Waiting > 0 && o.Tick > o.Confirmed+10
	}
	if !obeyed {
		t.Error("the disc never obeyed before the server confirmed it")
	}
	r = p.report()
	t.Logf("%+v", r)
	if r.Different != 0 || r.Equal < 500 || r.RoundTripMs < 300 || r.Snapshots != 1 {
		t.Errorf("%+v", r)
	}
	p.Resize(1200, 720)
	p.Screenshot("twin-play")
}

// line is what the tests read of the answer to GET timeline.
type line struct {
	Log *struct {
		State       string
		Last, At    uint64
		Complete    bool
		Torn, Error string
		Playing     float64
		Identity    *struct{ Scenario string }
	}
}

// status is what the tests read of the answer to GET status.
type status struct {
	Run, Hash string
	Tick      uint64
}

func (p tab) status() (s status) {
	p.t.Helper()
	p.ask("status?of="+p.Text("evertickPage.app.of"), &s)
	return s
}

// drop drops a folder on the page, and waits until the page has read it to its end.
func (p tab) drop(dir string) (l line) {
	p.t.Helper()
	p.Click("#tab-twin")
	p.Do(`document.querySelector("#twin-drop").scrollIntoView({block: "center"});`)
	before, now := p.status(), status{}
	p.Drop("#twin-drop", dir)
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if now = p.status(); now.Run != before.Run { // it is about another log from now on
			l = line{}
			p.ask("timeline", &l)
		}
		if l.Log != nil && (l.Log.Complete || l.Log.Error != "") {
			return l
		}
		if time.Since(start) > time.Minute {
			p.t.Fatalf("the log is not read: %+v, %+v", l.Log, p.report())
		}
	}
}

// says waits until the page shows a text.
func (p tab) says(text string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// logs drops a log on the page, which plays it and compares every hash of it, and others, of which the page says what is wrong.
func logs(t *testing.T, p tab, log string) {
	report, err := replay.Verify(log, bumper.Scenario, replay.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l := p.drop(log)
	p.Wait(`evertickPage.app.of === "log"`)
	if l.Log.Last != report.Ticks || l.Log.Error != "" {
		t.Fatalf("%+v; the log has %d ticks", l.Log, report.Ticks)
	}
	start := time.Now()
	p.Eval(`evertickPage.source.post("timeline", {of: "log", play: 20000})`, nil)
	for l.Log.At < report.Ticks && l.Log.Error == "" && time.Since(start) < 2*time.Minute {
		time.Sleep(50 * time.Millisecond)
		p.ask("timeline", &l)
	}
	s := p.status()
	t.Logf("%d ticks of a log in %v", s.Tick, time.Since(start))
	if want := fmt.Sprintf("%016x", report.Hash); l.Log.Error != "" || s.Tick != report.Ticks || s.Hash != want {
		t.Errorf("%+v, %+v, want hash %s after %d ticks", l.Log, s, want, report.Ticks)
	}
	p.Screenshot("twin-log")

	damaged := copyLog(t, log)
	segment := filepath.Join(damaged, "segment-0000000000.evlog")
	data, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(segment, data, 0o666); err != nil {
		t.Fatal(err)
	}
	l = p.drop(damaged)
	if !strings.Contains(l.Log.Error, "corrupt") || l.Log.Last == 0 || l.Log.Last >= report.Ticks {
		t.Errorf("damaged in its middle: %+v", l.Log)
	}
	p.Eval(fmt.Sprintf(`evertickPage.source.post("timeline", {of: "log", seek: %d})`, l.Log.Last), nil)
	for start := time.Now(); p.status().Tick != l.Log.Last; time.Sleep(20 * time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatalf("the ticks before the damage are not shown: %+v", p.status())
		}
	}
	p.says("corrupt")

	for want, id := range map[string]worldlog.Identity{
		"SimVersion": {Scenario: bumper.Scenario.Name, SimVersion: 99}, `"chess"`: {Scenario: "chess", SimVersion: evertick.SimVersion},
	} {
		other := filepath.Join(t.TempDir(), "other")
		created, err := worldlog.Create(other, id, worldlog.Options{})
		if err == nil {
			err = errors.Join(created.Commit(0, 1, worldlog.Counts{}), created.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		if l = p.drop(other); !strings.Contains(l.Log.Error, want) || l.Log.Identity == nil || l.Log.Identity.Scenario != id.Scenario {
			t.Errorf("%s: %+v", want, l.Log)
		}
		p.says(want)
	}

	p.Click("#tab-twin")
	p.Drop("#twin-drop", os.Args[0])
	p.says("no file of a log")
	p.quiet("")
}

func copyLog(t *testing.T, log string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(log)); err != nil {
		t.Fatal(err)
	}
	return dir
}
