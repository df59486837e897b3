package main

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// make demo prints the URL of a page that answers, and what it has done when it is interrupted.
func TestMakeDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("not run: it links a program")
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("not run: ", err)
	}
	cmd := exec.Command("make", "--no-print-directory", "-s", "-C", "../..", "demo", "ARGS=-open=false -twin=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with the programs that it starts
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() // make says that it was interrupted
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	lines := bufio.NewReader(out)
	line, _ := lines.ReadString('\n')
	url, _, _ := strings.Cut(line, " ")
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Fatalf("make demo prints %q", line)
	}
	if status, page := get(t, url); status != 200 || len(page) < 1000 {
		t.Errorf("status %d, %d bytes", status, len(page))
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	if rest, _ := io.ReadAll(lines); !strings.Contains(string(rest), " ticks, 0 balls thrown, hash ") {
		t.Errorf("at the end: %q", rest)
	}
}
