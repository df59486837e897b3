#!/usr/bin/env bash
# wasm.sh [-short]: runs tests in WebAssembly: js/wasm in node, and golden hashes also as wasip1/wasm in
# wazero. determinism.sh compares whole simulations there, tick by tick, so with -short packages without scenes run their tests of
# hashes and formats, and in node alone. Runs the tests of the client in JavaScript and the golden hashes of the valley of the examples, and
# without -short compares the sizes that docs/wasm.md says.
set -uo pipefail
cd "$(dirname "$0")/.."

failed=0
short=${1-}
packages=(. ./ecs ./loop ./replay)
[[ $short ]] || packages+=(./spatial ./physics3 ./physics ./internal/scenes ./internal/scenes3 ./internal/proof)
lib=$(go env GOROOT)/lib/wasm
export CGO_ENABLED=0 GOARCH=wasm

if ! command -v node >/dev/null; then
	echo "not run: tests in js/wasm, and of the client in JavaScript: node is not installed"
elif [[ ! -e $lib/wasm_exec_node.js ]]; then
	echo "not run: tests in js/wasm: this Go lacks lib/wasm"
else
	# js/wasm has room for 8 kB of arguments and environment, which some machines exceed.
	node="env -i PATH=$PATH HOME=${HOME-/} ${EVERTICK_SEED:+EVERTICK_SEED=$EVERTICK_SEED} ${RAPID_SEED:+RAPID_SEED=$RAPID_SEED} node --stack-size=8192 $lib/wasm_exec_node.js"
	echo "the client in JavaScript"
	node replica/js/client_test.mjs $short || failed=1
	echo "js/wasm in node"
	GOOS=js go test -short -run "${short:+Golden|Hash|Snapshot|Restore|Copy|Clock|Run}" -exec "$node" "${packages[@]}" || failed=1
	if [[ ! $short ]]; then
		GOOS=js go test -short -exec "$node" ./worldlog ./native ./internal/netcode ./internal/team ./internal/neighbours ./internal/rigid ./internal/rigid3 || failed=1
	fi
	echo "the valley of the examples in js/wasm"
	(cd examples && GOOS=js go test $short -run Golden -exec "$node" ./demo/valley) || failed=1
fi

[[ ! $short ]] || exit $failed

echo "sizes in docs/wasm.md"
env -u GOARCH -u CGO_ENABLED EVERTICK_WASM_SIZES=1 go test -count=1 -run Sizes ./docs/guide || failed=1

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if ! out=$(cd internal/proof/wasi && go mod download 2>&1); then
	echo "$out"
	echo "not run: golden hashes in wasip1/wasm: wazero cannot be downloaded"
elif (cd internal/proof/wasi && GOARCH='' go build -o "$tmp/bin/wazero" github.com/tetratelabs/wazero/cmd/wazero); then
	echo "wasip1/wasm in wazero"
	PATH=$tmp/bin:$PATH TMPDIR=$tmp GOWASIRUNTIME=wazero GOOS=wasip1 \
		go test -short -run Golden -exec "$lib/go_wasip1_wasm_exec" . ./internal/scenes ./internal/scenes3 ./internal/proof || failed=1
else
	failed=1
fi
exit $failed
