package page

import (
	"os/exec"
	"testing"
)

// The texts, lists and seeks of the panels are right, as node computes them.
func TestPanelsInNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("not run: node is not installed")
	}
	if out, err := exec.Command(node, "panels_test.mjs").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
