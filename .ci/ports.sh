#!/usr/bin/env bash
# Type-checks every package and its tests for systems that this host cannot run.
set -uo pipefail

failed=0
for target in linux/arm64 linux/s390x windows/amd64 darwin/arm64 js/wasm; do
	echo "go vet for $target"
	CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go vet ./... || failed=1
done
exit $failed
