package replica

import (
	"os/exec"
	"testing"
)

// The client in JavaScript passes its tests, with the same vectors as the one in Go.
func TestJavaScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("not run: the client in JavaScript: node is not installed")
	}
	args := []string{"js/client_test.mjs"}
	if !full() {
		args = append(args, "-short")
	}
	if out, err := exec.Command(node, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
