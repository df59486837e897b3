#!/usr/bin/env bash
# Installs what the checks need beyond Go and gcc, on Debian and as root, and downloads the modules of all
# modules of the repository and the programs of lint.sh, so that no check fails because the network does for a moment. What cannot be
# installed or downloaded is reported, here and by the checks that need it.
set -uo pipefail
cd "$(dirname "$0")/.."

tries=3
# download WHAT COMMAND... tries it again if it fails.
download() {
	local out try
	for ((try = 1; try <= tries; try++)); do
		! out=$(timeout 120 "${@:2}" 2>&1) || return 0
		((try == tries)) || sleep $((5 * try))
	done
	echo "not run: download of $1: $(tail -n 1 <<<"$out")"
	return 1
}
modules() { # FOLDER; with a go.work, "go mod download" would write a go.work.sum
	if [[ -e $1/go.work ]]; then set -- "$1" list -deps -test ./...; else set -- "$1" mod download; fi
	download "the modules of $1/go.mod" go -C "$@"
}
modules . || tries=1 # there may be no network
for mod in $(find . -mindepth 2 -name go.mod -not -path '*/testdata/*'); do
	modules "${mod%/go.mod}" &
done
for program in $(sed -n 's/^readonly .*=\(.*@v.*\)/\1/p' .ci/lint.sh); do
	download "$program" go install -n "$program" & # -n compiles nothing
done
wait
go -C examples mod tidy -diff >/dev/null 2>&1 # reads the tests of other modules; examples.sh says if it cannot

missing=()
need() { command -v "$1" >/dev/null || missing+=("${@:2}"); }
need make make
need objdump binutils
need clang clang
need node nodejs
need systemd-analyze systemd
need buildah buildah
need qemu-aarch64-static qemu-user-static
need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
{ python3 -c 'import numpy' || /usr/bin/python3 -c 'import numpy'; } 2>/dev/null || missing+=(python3-numpy)
/usr/bin/python3 -c 'import cloudpickle, pip, setuptools, wheel' 2>/dev/null || missing+=(python3-cloudpickle python3-pip python3-setuptools python3-wheel)
{ python3 -c 'import cffi, pycparser' || /usr/bin/python3 -c 'import cffi, pycparser'; } 2>/dev/null || missing+=(python3-cffi)
need mpirun openmpi-bin
/usr/bin/python3 -c 'import mpi4py' 2>/dev/null || missing+=(python3-mpi4py)
command -v chromium-browser google-chrome >/dev/null || need chromium chromium # pages of bench and inspect are opened in it, and simulations run in it
[[ -e /usr/include/X11/extensions/Xrandr.h && -e /usr/include/GL/gl.h ]] || missing+=(xorg-dev libgl1-mesa-dev) # for a window

# Check here whether Chromium starts: a skipped test would go unnoticed.
browser() {
	local name
	for name in chromium chromium-browser google-chrome; do
		command -v "$name" >/dev/null || continue
		timeout 120 "$name" --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir="$1" \
			--dump-dom about:blank >/dev/null 2>&1 || echo "not run: the report of bench, the page of inspect and simulations in a browser: $name does not start"
		return
	done
	echo "not run: the report of bench, the page of inspect and simulations in a browser: there is no chromium"
}
home=$(mktemp -d)
trap 'browser "$home"; rm -rf "$home"' EXIT
((${#missing[@]})) || exit 0

if ! command -v apt-get >/dev/null || (($(id -u) != 0)); then
	echo "not run: apt-get install ${missing[*]}: needs root and apt-get"
	exit 0
fi
apt() { timeout 600 apt-get -o Acquire::Retries=2 "$@" </dev/null; }
apt update >/dev/null || echo "apt-get update failed; trying with the package lists that are there"
for package in "${missing[@]}"; do # one by one: one that fails must not stop the others
	apt install -y --no-install-recommends "$package" >/dev/null ||
		echo "not run: apt-get install $package: it failed"
done
