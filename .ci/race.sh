#!/usr/bin/env bash
# race.sh [-short]: runs all tests under the race detector, but those that read the source. With -short it leaves out packages
# that start no goroutine, or whose goroutines are those of a package that it runs. Of packages in which most tests use one goroutine alone, it runs those that are
# named after what is concurrent. The others draw fewer cases. And it compiles no kernels in C, in which the race detector sees nothing.
set -uo pipefail
cd "$(dirname "$0")/.."

packages() { go list ./... | grep -v '/internal/gate$'; }
if [[ ${1-} != -short ]]; then
	go test -race $(packages)
	exit
fi

failed=0
export RAPID_CHECKS="${RAPID_CHECKS:-25}" # -short makes a fifth of them
serial='/(bench/profile|bench/(internal/.*|serve)|causal|csrc.*|docs/guide'
serial+='|internal/(bitset|bodies3|buffer|check|columns|enum|fault|floatenv|frame.*|handle|history|hugepage|hull|joint|material|mesh|migration|netcode|pace|page.*)'
serial+='|internal/(proof.*|reflex|rigid3?|schedule|sims3|simtest|sleep|stagger|state|statehash|trig|tuning|vec|wire)|inspect/twin/build|internal/paritytest'
serial+='|internal/scenes3?|physics/(box2d|raster|svg)|physics3/rig|replay|replay/search/internal/.*|space(/worlds)?|train/(capi|clib|worlds))$'
some='/(agent|evertick|bench|ecs|internal/(inspector|neighbours)|loop|native|physics|physics3|replica|skill|spatial|worldlog)$'
tests='Worker|Concurren|Parallel|Pool|Team|Everywhere|SameBits|LargeBatch|SplitBatch|Deterministic|Group|Goroutine|SideBySide|Publish|Torn'
tests+='|Monitor|Access|Arrival|Clock|Queue|Cancel|Relay|Clients|Host|Session|Storm|Capture|Close([^s]|$)|PowerCuts|LiveReader|Durable|FullBuffer|Blocked|SyncBeside'
tests+='|Abandoned|Asked|Deadline|Flood|GivesUp|InFlight|Live|ManyPages|Misbehave|Reader|Requests?[A-Z]|Shed|Viewers'
go test -race -tags purego -short $(packages | grep -vE "$serial|$some") || failed=1
go test -race -tags purego -short -run "$tests" $(packages | grep -E "$some") || failed=1
exit $failed
