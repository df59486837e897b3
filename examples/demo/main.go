// Command demo shows a world in space in a page: it prints the URL, and opens it where there is a display. A click throws a ball. make demo
// runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/evertick/evertick/native"
)

// settings are the flags.
type settings struct {
	addr string
	seed uint64
	log  string // folder of a new log; "": one that is removed at the end
	twin string // package of the twin; "": none
	open bool   // the page in a browser
}

func main() {
	log.SetFlags(0)
	s := settings{}
	flag.StringVar(&s.addr, "addr", "127.0.0.1:0", "`address` of the page, on this machine; port 0 is any free one")
	flag.Uint64Var(&s.seed, "seed", 1, "of the world")
	flag.StringVar(&s.log, "log", "", "`folder` for the log; without it the log is removed at the end")
	flag.StringVar(&s.twin, "twin", "./demo/web", "`package` that is built for the page, which then runs the world, too; \"\" for none")
	flag.BoolVar(&s.open, "open", true, "open the page in a browser, if there is a display")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s); err != nil {
		log.Fatal("demo: ", err)
	}
}

func run(ctx context.Context, s settings) (err error) {
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() { // the page may pause the world, and asks for no password
		return errors.Join(fmt.Errorf("-addr %s: other machines can reach it", s.addr), l.Close())
	}
	if s.log == "" {
		dir, err := os.MkdirTemp("", "valley")
		if err != nil {
			return errors.Join(err, l.Close())
		}
		defer os.RemoveAll(dir)
		s.log = dir + "/log"
	}
	url := "http://" + l.Addr().String() + "/"
	fmt.Printf("%s (level %s)\n", url, native.Info().Level)
	if s.open {
		show(url)
	}
	report, err := serve(ctx, l, s)
	if report != "" {
		fmt.Println(report)
	}
	return err
}

// show opens a page in a browser, where there is a display and a program that does it.
func show(url string) {
	name := map[string]string{"darwin": "open", "linux": "xdg-open"}[runtime.GOOS]
	if name == "" || runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return
	}
	if cmd := exec.Command(name, url); cmd.Start() == nil {
		go cmd.Wait() // how it ends is of no interest: the URL has been printed
	}
}
