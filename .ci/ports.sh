#!/usr/bin/env bash
# ports.sh [-short]: vets every package and its tests for systems that this host cannot run.
# With -short it only checks types, for which it compiles nothing, and not for systems with the same files as others.
set -uo pipefail

if [[ ${1-} == -short ]]; then
	EVERTICK_GATE=1 go test -short -count=1 -v -run Ports ./internal/gate
	exit
fi

failed=0
for target in windows/amd64 darwin/arm64 js/wasm linux/arm64 linux/s390x linux/386; do
	echo "go vet for $target"
	CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go vet ./... || failed=1
done
exit $failed
