#!/usr/bin/env bash
# ports.sh [-short]: type-checks every package and its tests for systems that this host
# cannot run. With -short, not for those that cross.sh and wasm.sh build and run.
set -uo pipefail

failed=0
targets=(windows/amd64 darwin/arm64)
[[ ${1-} == -short ]] || targets+=(js/wasm linux/arm64 linux/s390x linux/386)
for target in "${targets[@]}"; do
	echo "go vet for $target"
	CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go vet ./... || failed=1
done
exit $failed
