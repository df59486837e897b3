#!/usr/bin/env bash
# cross.sh [-short]: runs tests for machines that this one is not: under qemu-user
# arm64 with its NEON kernels, big-endian s390x in pure Go, and an x86 CPU without
# AVX, where the choice of a level must fall back instead of dying; and 386, whose
# int has 32 bits, which an amd64 CPU runs by itself. That whole
# simulations are the same there is for determinism.sh to show, tick by tick. With
# -short, it tests the parity of NEON kernels, but for long tests, entities on 386, and which level old x86 CPUs
# choose. The others are left out, as determinism.sh runs a scene with bodies of all kinds on arm64 and s390x, and vet checks types for 386.
set -uo pipefail
cd "$(dirname "$0")/.."

failed=0
short=${1-}
kernels=(./native ./internal/netcode ./internal/broad ./internal/neighbours ./internal/rigid ./internal/rigid3)
packages=(. ./ecs ./internal/statehash ./internal/team ./physics3 ./spatial ./physics ./loop)
scenes=(./internal/scenes ./internal/scenes3)

# have WHAT TOOL...: whether all tools are there; says what is missing.
have() {
	local tool
	for tool in "${@:2}"; do
		command -v "$tool" >/dev/null || { echo "not run: $1 under qemu-user: $tool is not installed"; return 1; }
	done
}

# emulated EMULATOR ARGUMENTS...: runs tests, built for the target.
emulated() { env $target go test -short -exec "$1" "${@:2}" || failed=1; }

if have "arm64 with NEON" qemu-aarch64-static aarch64-linux-gnu-gcc; then
	echo "arm64 with NEON"
	target='CGO_ENABLED=1 GOOS=linux GOARCH=arm64 CC=aarch64-linux-gnu-gcc' qemu='qemu-aarch64-static -L /usr/aarch64-linux-gnu'
	if [[ $short ]]; then
		emulated "$qemu" -run Parity -skip 'Large|Many|Sparse|Dense|Movers|Scenes|Workers' "${kernels[@]}"
	else
		emulated "$qemu" "${kernels[@]}" "${packages[@]}"
		emulated "$qemu" -run Golden "${scenes[@]}"
	fi
fi
if [[ ! $short ]] && have "s390x" qemu-s390x-static; then
	echo "s390x, pure Go"
	target='CGO_ENABLED=0 GOOS=linux GOARCH=s390x'
	emulated qemu-s390x-static "${kernels[@]}" "${packages[@]}"
	emulated qemu-s390x-static -run Golden "${scenes[@]}"
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
		target='CGO_ENABLED=0 GOOS=linux GOARCH=386'
		if [[ $short ]]; then
			emulated env ./ecs
		else
			emulated env "${kernels[@]}" "${packages[@]}" "${scenes[@]}"
		fi
	else
		echo "not run: 386: the kernel of this machine does not run programs of 32 bits; those of the core are vetted"
		CGO_ENABLED=0 GOOS=linux GOARCH=386 go vet "${kernels[@]}" "${packages[@]}" || failed=1
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
