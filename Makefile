# Only Go and make are needed. With a C compiler the kernels are used, without
# one pure Go, with the same results; "make run" and "make test" say which.

# The packages that call kernels.
KERNELS := ./native/... ./internal/netcode ./internal/team ./internal/broad ./internal/neighbours ./internal/rigid ./internal/rigid3 ./spatial/... ./physics/... ./physics3
FUZZTIME ?= 10s
ARGS ?=
# -short makes checks of other builds and machines as small as make ci does.
SHORT ?=
# What builds must agree on: the tests that compare levels, hashes and formats, in the packages that compute. Without
# SHORT it is all tests.
SAME_TESTS := $(if $(SHORT),-run 'Golden|Hash|Parity|Agree|Level|Snapshot|Restore')
# Whole scenes, whose hashes are in files.
GOLDEN_PACKAGES := ./internal/scenes ./internal/scenes3 ./internal/proof

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s%s\n", $$1, $$2 }' Makefile

# Without ARGS it links no engine in space, so that the first report is there sooner.
run: ## the capstone scene with its report; ARGS='-ticks 600 -level go' adds flags
	go run $(if $(ARGS),,-tags plane) ./bench -scene capstone $(ARGS)

# Without ARGS it compiles no C, so that the page is there sooner; the hashes are the same.
demo: ## a world in space in a page: prints its URL, and opens it where there is a display; a click throws a ball
	cd examples && $(if $(ARGS),,CGO_ENABLED=0) go run ./demo $(ARGS)

info: ## which level runs here, and why
	@go run ./bench -info

test: ## all tests, in the quick size
	@$(MAKE) -s info || echo "no level line: ./bench does not build"
	go test -short $(ARGS) ./...

test-full: ## all tests in full: every drawn case, long runs, large sets
	EVERTICK_LONG=1 go test ./...

build: ## compile everything
	go build ./...

browser: ## the module that tests pages in Chromium
	cd internal/browser && go vet ./... && go test $(if $(SHORT),-skip 'Collide|Collisions|Episode|Follow|Hands|Legible|Problems|Surviv|Swarm|SlowPages|ManyBoxes|ShowsStates|Panels|Pictures') ./...

parity: ## every kernel on every level against its Go twin
	go test $(SHORT) -count=1 -run Parity -v $(KERNELS)

purego: ## all tests without cgo
	CGO_ENABLED=0 go test $(SHORT) $(SAME_TESTS) $(if $(SHORT),$(GOLDEN_PACKAGES),./...)

race: ## all tests under the race detector, but those that read the source
	bash .ci/race.sh $(SHORT)

v3: ## all tests where the Go compiler may fuse (needs a CPU with AVX2 and FMA)
	$(if $(SHORT),CGO_ENABLED=0) GOAMD64=v3 go test $(SHORT) $(SAME_TESTS) $(if $(SHORT),$(GOLDEN_PACKAGES),./...)

# Tests that expect a fault need Go to report it.
asan: ## kernel tests under AddressSanitizer
	ASAN_OPTIONS=handle_segv=0 go test $(SHORT) $(SAME_TESTS) -asan ./native/... ./internal/netcode ./internal/team ./internal/broad $(if $(SHORT),,./internal/rigid ./internal/rigid3 ./internal/neighbours ./spatial/...)

clang: ## kernel tests and machine code as clang compiles them
	$(if $(SHORT),,CC=clang go test $(KERNELS))
	CC=clang EVERTICK_GATE=1 go test -count=1 -v -run 'TestCDisassembly$$/$(shell go env GOHOSTARCH)' ./internal/gate

levels: ## kernel tests with each level that this CPU has as the default
	bash .ci/levels.sh $(SHORT) $(SAME_TESTS) $(if $(SHORT),-skip Parity ./native/... ./spatial ./physics ./physics3,$(KERNELS))

gate: ## machine code: nothing fused, vectors where promised; and mutants
	EVERTICK_GATE=1 go test $(SHORT) -count=1 -v -skip 'Consumer|Ports' ./internal/gate

consumer: ## a module that depends on this one: fetched, vendored, edited
	EVERTICK_GATE=1 go test $(SHORT) -count=1 -v -run Consumer ./internal/gate

cross: ## arm64 with NEON, s390x, and an old x86 CPU under qemu-user, and 386
	bash .ci/cross.sh $(SHORT)

wasm: ## tests in WebAssembly: js in node, golden hashes also as wasip1 in wazero; and of the client in JavaScript
	bash .ci/wasm.sh $(SHORT)

determinism: ## one scene in every build, level and machine available: the same hash every tick
	bash .ci/determinism.sh $(ARGS)
	EVERTICK_GATE=1 go test -count=1 -v -run 'OtherBuilds$(if $(SHORT),.*/cgo)' ./bench/internal/command

python: ## the C library of training worlds: a C program, and the Python package
	bash .ci/python.sh $(SHORT)

examples: ## vet, build and test the module in examples
	bash .ci/examples.sh $(SHORT)

deploy: ## the systemd unit and the container of examples/server
	bash .ci/deploy.sh

web: ## out/web/index.html: the game of examples/server in a page, one file; needs Go alone
	cd examples && go run github.com/evertick/evertick/inspect/twin/build -title bumper -o ../out/web/index.html ./web

lint: ## go vet, staticcheck, deadcode and govulncheck over all modules: no finding
	bash .ci/lint.sh $(SHORT)

release: ## tags all modules with VERSION=v0.1.0; says what it would do, PUSH=1 does it
	go test -short -run 'Modules|Readme|Ladder|MakeTargets|Names' . ./docs/guide
	bash .ci/release.sh '$(VERSION)' $(PUSH)

mcp: ## the module that serves skills over the Model Context Protocol
	cd skill/mcp && go vet ./... && go test ./...

otel: ## the module that makes OpenTelemetry spans of the causal trace
	cd causal/otel && go vet ./... && go test ./...

jetstream: ## the module that ships logs over NATS JetStream
	cd worldlog/jetstream && go vet ./... && go test $(SHORT) $(if $(SHORT),-skip 'OlderStore|FullDisk|SlowFollower|ForgottenTerms') ./...

natswork: ## the module that spreads searches over NATS
	cd replay/search/natswork && go vet ./... && go test $(SHORT) ./...

fmt: ## format the Go files
	gofmt -w .

vet: ## go vet with cgo, without, and for other systems
	go vet ./...
	$(if $(SHORT),,CGO_ENABLED=0 go vet ./...)
	bash .ci/ports.sh $(SHORT)

fuzz: ## each fuzz target for FUZZTIME
	bash .ci/fuzz.sh $(FUZZTIME)

bench: ## all Go benchmarks
	go test -run '^$$' -bench . -benchmem ./...

bench-compare: ## ratios (levels, other engines, workers) against those kept in bench/results
	go run ./bench compare $(ARGS)

ci: ## every kind of check of the above that has a verdict, as CI runs it on each push
	bash .ci/run

ci-full: ## the same in full, as CI runs it each night; before a release
	bash .ci/run full

.PHONY: help run demo info test test-full browser build parity purego race v3 asan clang levels gate consumer cross wasm determinism python examples deploy web mcp otel jetstream natswork lint release fmt vet fuzz bench bench-compare ci ci-full
