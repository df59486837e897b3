package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A release in a repository that has nothing but what the script reads, with a remote of its own.
func TestRelease(t *testing.T) {
	needGate(t)
	for _, name := range []string{"git", "bash", "sed", "awk"} {
		if _, err := exec.LookPath(name); err != nil || runtime.GOOS == "windows" {
			t.Skipf("not run: a release: %s is not installed", name)
		}
	}
	root := t.TempDir()
	dir, remote := filepath.Join(root, "checkout"), filepath.Join(root, "remote")
	files := map[string]string{
		"CHANGELOG.md":     "# Changelog\n\n## Unreleased\n\n## 0.7.0 - 2026-12-01\n\n- A change.\n\n## 0.6.0\n",
		".ci/release.sh":   readText(t, ".ci/release.sh"),
		"skill/mcp/mcp.go": "package mcp\n",
	}
	tags := []string{"v0.7.0"}
	for _, m := range apart {
		files[m.folder+"/go.mod"], files[m.folder+"/go.work"] = readText(t, m.folder+"/go.mod"), readText(t, m.folder+"/go.work")
		tags = append(tags, m.folder+"/v0.7.0")
	}
	write(t, dir, files)
	env := []string{
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost",
	}
	must := func(args ...string) string {
		t.Helper()
		out, err := run(dir, env, args[0], args[1:]...)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return out
	}
	must("git", "init", "-q", "-b", "main")
	must("git", "init", "-q", "--bare", remote)
	must("git", "remote", "add", "origin", remote)
	must("git", "add", ".")
	must("git", "commit", "-q", "-m", "Begin")
	state := func() string {
		t.Helper()
		return must("git", "for-each-ref") + must("git", "status", "--porcelain") + must("git", "--git-dir="+remote, "for-each-ref")
	}
	refused := func(what, reason string, args ...string) {
		t.Helper()
		before := state()
		out, err := run(dir, env, "bash", append([]string{".ci/release.sh"}, args...)...)
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %s, %v; want %q", what, out, err, reason)
		}
		if state() != before {
			t.Errorf("%s: it changed the repository", what)
		}
	}
	refused("no version", "VERSION is ''", "")
	refused("a version without v", "VERSION is '0.7.0'", "0.7.0", "1")
	refused("a version of another path", "VERSION is 'v2.0.0'", "v2.0.0", "1")
	refused("a version that the changelog lacks", "no section 0.8.0", "v0.8.0", "1")
	refused("a version without changes", "no section 0.6.0", "v0.6.0", "1")
	write(t, dir, map[string]string{"new.go": "package new\n"})
	refused("a dirty tree", "not committed", "v0.7.0", "1")
	must("rm", "new.go")
	must("git", "checkout", "-q", "-b", "other")
	refused("another branch", "not the branch main", "v0.7.0", "1")
	must("git", "checkout", "-q", "main")
	must("git", "branch", "-q", "-D", "other")

	before := state()
	out := must("bash", ".ci/release.sh", "v0.7.0")
	for _, want := range append(tags, "commit: Release v0.7.0", "nothing was changed") {
		if !strings.Contains(out, want) {
			t.Errorf("a dry run does not say %q:\n%s", want, out)
		}
	}
	if state() != before {
		t.Error("a dry run changed the repository")
	}

	must("bash", ".ci/release.sh", "v0.7.0", "1")
	head := strings.TrimSpace(must("git", "rev-parse", "HEAD"))
	for _, ref := range append(tags, "main") {
		if got := strings.TrimSpace(must("git", "--git-dir="+remote, "rev-parse", ref+"^{commit}")); got != head {
			t.Errorf("%s is %s at the remote, %s here", ref, got, head)
		}
	}
	for _, m := range apart {
		for _, name := range []string{"/go.mod", "/go.work"} {
			if text := must("git", "show", "v0.7.0:"+m.folder+name); !strings.Contains(text, module+" v0.7.0") {
				t.Errorf("%s of the release does not name it:\n%s", m.folder+name, text)
			}
		}
	}
	refused("a version that was released", "the tag v0.7.0 exists", "v0.7.0", "1")
	write(t, dir, map[string]string{"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- A later change.\n\n## v0.8.0\n\n- A change.\n"})
	must("git", "commit", "-q", "-a", "-m", "Change")
	refused("changes that belong to no version", "changes under Unreleased", "v0.8.0", "1")
}
