#!/usr/bin/env bash
# python.sh [-short]: builds the C library of the training worlds, and runs the tests of its C interface, of the Python package,
# and of a library of one's own. Says what cannot be run here. With -short the libraries have no kernels in C.
set -uo pipefail
cd "$(dirname "$0")/.."

if [[ $(go env CGO_ENABLED) != 1 ]]; then
	echo "not run: C and Python interface: there is no cgo"
	exit 0
fi
# Gymnasium lies beside the checkout, or beside the repository of which this is a clone or a work tree.
for beside in .. "$(git rev-parse --git-common-dir)/../.." "$(git config --get remote.origin.url)/.."; do
	gymnasium=${EVERTICK_GYMNASIUM:-$beside/shared/gymnasium}
	[[ -d $gymnasium/gymnasium ]] || continue
	export PYTHONPATH="$(cd "$gymnasium" && pwd)${PYTHONPATH:+:$PYTHONPATH}"
	break
done
out=$(EVERTICK_CAPI=1 go test ${1-} -count=1 -v -timeout 20m ./train/capi 2>&1 && EVERTICK_CAPI=1 go test ${1-} -count=1 -v -timeout 20m -run Environment ./docs/guide 2>&1)
rc=$?
echo "$out"
exit $rc
