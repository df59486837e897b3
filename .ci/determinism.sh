#!/usr/bin/env bash
# Runs one scene in every build, on every level and for every machine that is at
# hand, and compares the hash of every tick: see docs/determinism.md. Arguments go
# to the command, as in: determinism.sh -ticks 500 -emulated 0
set -uo pipefail
cd "$(dirname "$0")/.."

start=$SECONDS
go run -buildvcs=false ./internal/proof/prove "$@"
verdict=$?
echo "determinism: $((SECONDS - start)) s in all"
exit $verdict
