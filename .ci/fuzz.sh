#!/usr/bin/env bash
# fuzz.sh TIME: runs each fuzz target for a while.
set -uo pipefail

failed=0
for package in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${1:-10s}" "$package" || failed=1
	done
done
exit $failed
