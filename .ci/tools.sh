#!/usr/bin/env bash
# Installs what the checks need beyond Go and gcc, on Debian and as root. What
# cannot be installed is reported; the checks that need it then say so too.
set -uo pipefail

missing=()
need() { command -v "$1" >/dev/null || missing+=("${@:2}"); }
need make make
need objdump binutils
need clang clang
need qemu-aarch64-static qemu-user-static
need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
command -v chromium-browser google-chrome >/dev/null || need chromium chromium # the report of bench is opened in it
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
