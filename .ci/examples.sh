#!/usr/bin/env bash
# Vets, builds and tests the module of the examples, against this checkout. The viewer needs
# the headers of X11 and OpenGL on Linux; without them it is type-checked for Windows,
# where it needs none.
set -uo pipefail
cd "$(dirname "$0")/../examples"

failed=0
run() {
	echo "$*"
	"$@" || failed=1
}

packages=$(go list ./... | grep -v '/viewer$')
run go mod tidy -diff
if out=$(go build -o /dev/null ./viewer 2>&1); then
	packages=$(go list ./...)
elif grep -qE 'X11|GL/|fatal error|cgo|C compiler' <<<"$out" && [[ $(go env GOOS) == linux ]]; then
	echo "not run: examples/viewer: the headers of X11 and OpenGL, or a C compiler, are not there (apt-get install libgl1-mesa-dev xorg-dev)"
	run env GOOS=windows CGO_ENABLED=0 go vet ./viewer
else
	echo "$out"
	failed=1
fi
run go vet $packages
run go test $packages
exit $failed
