package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/skill"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A test binary that finds this variable is the command.
const asCommand = "EVERTICK_MCP_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A process serves over its stdin and stdout, and its log verifies.
func TestStdio(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(self, "-profile", "builder", "-record", dir)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: cmd, TerminateDuration: time.Minute}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	for name, args := range map[string]string{
		"scene.createEntity": `{"position":{"x":0,"y":3,"z":0},"body":{"type":"dynamic","shape":{"type":"circle","radius":0.5}}}`,
		"world.stats":        `{}`,
	} {
		res, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
		if err != nil || res.IsError {
			t.Fatalf("%s: %+v %v\n%s", name, res, err, &said)
		}
	}
	res, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "world.snapshot"})
	if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, string(skill.Forbidden)) {
		t.Errorf("%+v %v", res, err)
	}
	if err := cs.Close(); err != nil {
		t.Errorf("%v\n%s", err, &said)
	}
	var out bytes.Buffer
	if err := run(ctx, []string{"-verify", dir}, &out); err != nil || !strings.Contains(out.String(), "3 inputs verified") {
		t.Errorf("%q %v", out.String(), err)
	}
}

func TestFlags(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"-profile nobody", "-nothing", "argument", "-entity 3", "-http 0.0.0.0:0", "-token-file " + empty, "-token-file /nowhere/at/all", "-verify /nowhere/at/all",
	} {
		if err := run(ctx, strings.Fields(args), new(bytes.Buffer)); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
	// A context that is done ends a server at once.
	var out bytes.Buffer
	if err := run(ctx, []string{"-http", "127.0.0.1:0"}, &out); err != nil || !strings.HasPrefix(out.String(), "serving http://127.0.0.1:") {
		t.Errorf("%q %v", out.String(), err)
	}
}
