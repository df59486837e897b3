#!/usr/bin/env bash
# examples.sh [-short]: vets, builds and tests the module of the examples, against this checkout. Without -short the tests have their
# full size, and a game is played in a page. The viewer needs the headers of X11 and OpenGL on Linux; without them it is vetted for Windows, where
# it needs none, but not with -short, as everything would be compiled for that.
set -uo pipefail
cd "$(dirname "$0")/../examples"

failed=0
run() {
	echo "$*"
	"$@" || failed=1
}

readonly unreachable='Forbidden|Not Found|module lookup disabled|dial tcp|i/o timeout|no such host'
if ! out=$(go list -deps -test ./... 2>&1); then # which downloads what is needed, and no more
	echo "$out"
	grep -qE "$unreachable" <<<"$out" || exit 1
	echo "not run: examples: the modules that they need cannot be downloaded"
	exit 0
fi
echo "go mod tidy -diff"
if ! out=$(go mod tidy -diff 2>&1); then
	echo "$out"
	if grep -qE "$unreachable" <<<"$out"; then
		echo "not run: examples: go mod tidy: the modules of other modules' tests cannot be downloaded"
	else
		failed=1
	fi
fi
packages=$(go list ./... | grep -v '/viewer$')
if out=$(go build -o /dev/null ./viewer 2>&1); then
	packages=$(go list ./...)
elif [[ $(go env GOOS) == linux ]] && ! grep -q '^# github.com/evertick/' <<<"$out"; then # what fails is not ours
	echo "not run: examples/viewer: cgo, or the headers of X11 and OpenGL, are not there (apt-get install libgl1-mesa-dev xorg-dev)"
	[[ ${1-} == -short ]] || run env GOOS=windows CGO_ENABLED=0 go vet ./viewer
else
	echo "$out"
	failed=1
fi
run go vet $packages
if [[ ${1-} == -short ]]; then
	run go test -skip '^TestPlay$' $packages
else
	EVERTICK_LONG=1 run go test $packages
fi
exit $failed
