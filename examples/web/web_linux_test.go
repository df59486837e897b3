package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/examples/server/bumper"
	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/loop/replay"
	"github.com/evertick/evertick/loop/worldlog"
)

// build builds the page, and returns its path.
func build(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "index.html")
	out, err := exec.Command("go", "run", "github.com/evertick/evertick/inspect/twin/build", "-o", file, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", bytes.TrimSpace(out))
	return file
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

// The page has the hashes of the server through 10,000 ticks, in which the server is killed and goes on from its log. Then
// it shows that log, and what is wrong with others.
func TestPage(t *testing.T) {
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
	p.until("half of the ticks", func(r *report) bool { return r.Equal >= 5000 })
	first := p.report()
	compare(t, p, log)
	p.Wait(`evertickPage.app.tick > 0`)
	p.quiet("ws://" + server.addr + "/world")

	server.kill()
	lost := p.until("the connection is lost", func(r *report) bool { return r.State == "waiting" })
	p.Wait(`/Tries again in/.test(document.querySelector("#twin-trouble").textContent)`)
	server.args[1] = server.addr
	server.start()
	p.until("all ticks", func(r *report) bool { return r.State == "joined" && r.Equal >= max(10_000, lost.Equal+2000) })
	compare(t, p, log)
	last := p.report()
	t.Logf("%+v", last)
	if last.Different != 0 || last.Joins < 2 || last.Session != first.Session {
		t.Errorf("before: %+v, after: %+v", first, last)
	}
	p.Screenshot("twin")
	p.Forget() // that there was no server
	costs(t, p)
	p.quiet("")
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
		Step struct{ P50, P99 int64 }
	}
	p.ask("systems?of=live", &s)
	t.Logf("%.0f ticks a second; the main thread of the page works %.0f %% of the time, its script %.0f %%; a tick in the worker takes %d µs, p99 %d µs",
		float64(p.report().Equal-equal)/passed, 100*(after["TaskDuration"]-before["TaskDuration"])/passed,
		100*(after["ScriptDuration"]-before["ScriptDuration"])/passed, s.Step.P50/1000, s.Step.P99/1000)
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

// drop drops a folder on the page, and waits until the page has read it to its end.
func (p tab) drop(dir string) (l line) {
	p.t.Helper()
	p.Click("#tab-twin")
	p.Do(`document.querySelector("#twin-drop").scrollIntoView({block: "center"});`)
	var before struct{ Run string }
	p.ask("status", &before)
	p.Drop("#twin-drop", dir)
	p.Wait(fmt.Sprintf(`evertickPage.source.get("status").then(a => a.json.run !== %q)`, before.Run))
	for start := time.Now(); l.Log == nil || !l.Log.Complete && l.Log.Error == ""; time.Sleep(20 * time.Millisecond) {
		if p.ask("timeline", &l); time.Since(start) > time.Minute {
			p.t.Fatalf("the log is not read: %+v", l.Log)
		}
	}
	return l
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
	var status struct {
		Hash string
		Tick uint64
	}
	p.ask("status?of=log", &status)
	t.Logf("%d ticks of a log in %v", status.Tick, time.Since(start))
	if want := fmt.Sprintf("%016x", report.Hash); l.Log.Error != "" || status.Tick != report.Ticks || status.Hash != want {
		t.Errorf("%+v, %+v, want hash %s after %d ticks", l.Log, status, want, report.Ticks)
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
	p.Wait(fmt.Sprintf(`evertickPage.source.get("status?of=log").then(a => a.json.tick === %d)`, l.Log.Last))
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
