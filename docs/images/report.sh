#!/usr/bin/env bash
# Runs bench in a terminal of 80 columns, keeps what it prints as report.ansi, and draws it as
# report.svg. Takes the flags of bench; needs script of util-linux, and a quiet machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
raw=$(mktemp)
trap 'rm -f "$raw"' EXIT
(($#)) || set -- -scene capstone
script -qefc "stty cols 80 rows 50; go run ./bench$(printf ' %q' "$@")" "$raw" </dev/null >/dev/null
# Without what script adds, and the progress that was written over.
grep -v '^Script \(started\|done\)' "$raw" | sed -e 's/\r$//' -e 's/.*\r\x1b\[K//' -e '/^\r*$/{$d}' >docs/images/report.ansi
go test ./docs/guide -run Pictures -update
