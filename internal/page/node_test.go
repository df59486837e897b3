package page

import (
	"os/exec"
	"testing"
)

// What the scripts compute is right, as node runs them: frames, camera and requests; texts, lists and seeks of the panels.
func TestScriptsInNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("not run: node is not installed")
	}
	for _, name := range []string{"inspect_test.mjs", "panels_test.mjs", "space_test.mjs"} {
		args := []string{name}
		if testing.Short() {
			args = append(args, "-short")
		}
		if out, err := exec.Command(node, args...).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
