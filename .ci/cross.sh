#!/usr/bin/env bash
# cross.sh [-short]: runs tests for machines that this one is not: under qemu-user
# arm64 with its NEON kernels, big-endian s390x in pure Go, and an x86 CPU without
# AVX, where the choice of a level must fall back instead of dying; and 386, whose
# int has 32 bits, which an amd64 CPU runs by itself. That whole
# simulations are the same there is for determinism.sh to show, tick by tick. With
# -short, packages run only the tests that compare levels and hashes (arm64), or hashes
# and formats (s390x, 386), those of spatial and physics are left out, and so are scenes under emulators, as determinism.sh runs
# one with bodies of all kinds there; and old x86 CPUs only choose a level.
set -uo pipefail
cd "$(dirname "$0")/.."

failed=0
packages=(. ./ecs ./internal/statehash ./native ./internal/netcode ./internal/team ./internal/broad ./internal/neighbours ./internal/rigid ./internal/rigid3 ./physics3 ./loop)
short=${1-}
[[ $short ]] || packages+=(./spatial ./physics) # their kernels and their scenes are tested anyway
kept=(. ./ecs ./internal/neighbours ./physics3 ./loop) # packages that have hashes and formats
[[ $short ]] || kept=("${packages[@]}")

# have WHAT TOOL...: whether all tools are there; says what is missing.
have() {
	local tool
	for tool in "${@:2}"; do
		command -v "$tool" >/dev/null || { echo "not run: $1 under qemu-user: $tool is not installed"; return 1; }
	done
}

# emulated EMULATOR TESTS PACKAGES...: runs the tests, built as the environment says, and then scenes; with -short only tests whose names
# match TESTS, and no scenes.
emulated() {
	go test -short -run "${short:+$2}" -exec "$1" "${@:3}" || failed=1
	[[ $short ]] || go test -short -run Golden -exec "$1" ./internal/scenes ./internal/scenes3 || failed=1
}

if have "arm64 with NEON" qemu-aarch64-static aarch64-linux-gnu-gcc; then
	echo "arm64 with NEON"
	CGO_ENABLED=1 GOOS=linux GOARCH=arm64 CC=aarch64-linux-gnu-gcc \
		emulated 'qemu-aarch64-static -L /usr/aarch64-linux-gnu' 'Parity|Agree|Level|Golden|Hash' "${packages[@]}"
fi
if have "s390x" qemu-s390x-static; then
	echo "s390x, pure Go"
	CGO_ENABLED=0 GOOS=linux GOARCH=s390x emulated qemu-s390x-static 'Golden|Hash|Snapshot|Restore' "${kept[@]}"
fi

# runs386: whether this machine runs programs for 386, for which some kernels are not built. Go's runtime crashes under
# qemu-i386 as soon as there are two threads.
runs386() {
	local dir rc=1
	dir=$(mktemp -d)
	printf 'package main\n\nfunc main() {}\n' >"$dir/main.go"
	CGO_ENABLED=0 GOOS=linux GOARCH=386 go build -o "$dir/main" "$dir/main.go" && "$dir/main" 2>/dev/null && rc=0
	rm -rf "$dir"
	return $rc
}

if [[ $(go env GOHOSTARCH) == amd64 ]]; then
	if runs386; then
		echo "386, pure Go"
		CGO_ENABLED=0 GOOS=linux GOARCH=386 emulated env 'Golden|Hash|Slot|Snapshot|Restore' "${kept[@]}" ./internal/scenes ./internal/scenes3
	else
		echo "not run: 386: the kernel of this machine does not run programs of 32 bits; those of the core are vetted"
		CGO_ENABLED=0 GOOS=linux GOARCH=386 go vet "${packages[@]}" || failed=1
	fi
	# With a C compiler, too: nothing is left to compile.
	CGO_ENABLED=1 GOOS=linux GOARCH=386 go list -deps ./physics ./spatial | grep /csrc && { echo "FAIL: kernels in C on 386"; failed=1; }
else
	echo "not run: 386: the host is not amd64"
fi

# old CPU LEVEL [SKIP]: the kernel tests pass on that CPU, less those whose names
# SKIP matches, and the best level is LEVEL. With -short only the tests of levels.
old() {
	echo "x86-64 $1: must choose level $2"
	# Tests start child processes by the name of their program: under that name
	# is a script that starts the emulator again.
	cat >"$tmp/emulated" <<-END
		#!/bin/sh
		exec qemu-x86_64-static -cpu $1 -0 "\$0" "$tmp/native.test" "\$@"
	END
	chmod +x "$tmp/emulated"
	(cd native && "$tmp/emulated" -test.short ${short:+-test.run Level} ${3:+-test.skip "$3"}) || failed=1
	qemu-x86_64-static -cpu "$1" "$tmp/bench" -info | tee "$tmp/info" || failed=1
	grep -q "level $2 of" "$tmp/info" || { echo "FAIL: $1 does not choose level $2"; failed=1; }
}
if [[ $(go env GOHOSTARCH CGO_ENABLED | xargs) != "amd64 1" ]]; then
	echo "not run: old x86 CPUs: the host is not amd64 with a C compiler"
elif have "old x86 CPUs" qemu-x86_64-static; then
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	if go test -c -o "$tmp/native.test" ./native && go build -o "$tmp/bench" ./bench; then
		old Nehalem c
		# All that the emulator has; no AVX-512. Its masked loads touch every lane, and
		# sorting and streaming give other results than on a CPU, where they are tested.
		[[ $short ]] || echo "not run: sorting and streaming with avx2 under qemu-user: they fail in the emulator and pass on the CPU"
		old max avx2 'Order|Stream|SortRows'
	else
		failed=1
	fi
fi
exit $failed
