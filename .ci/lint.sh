#!/usr/bin/env bash
# lint.sh [-short]: checks all modules with go vet, staticcheck and deadcode: none may find anything. A function is dead if
# neither a command nor a test reaches it. What importers may call is not: exported functions and methods outside of internal.
# With -short it runs staticcheck alone over the main module: make vet runs go vet there.
set -uo pipefail
cd "$(dirname "$0")/.."

readonly staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
readonly deadcode=golang.org/x/tools/cmd/deadcode@v0.52.0
modules=(. skill/mcp causal/otel worldlog/jetstream replay/search/natswork examples)
programs=("$staticcheck" "$deadcode") vet='go vet'
if [[ ${1-} == -short ]]; then
	modules=(.) programs=("$staticcheck") vet=''
fi

failed=0
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

tools=()
for tool in "${programs[@]}"; do
	name=$(basename "${tool%@*}")
	if out=$(GOBIN=$bin go install "$tool" 2>&1); then
		tools+=("$name")
	elif grep -qE 'Forbidden|Not Found|module lookup disabled|dial tcp|i/o timeout|no such host' <<<"$out"; then
		echo "not run: lint: $name: it cannot be downloaded"
	else
		echo "$out" && failed=1
	fi
done

for module in "${modules[@]}"; do
	cd "$module" || exit 1
	if ! out=$(go mod download 2>&1); then
		echo "not run: lint: $module: the modules that it needs cannot be downloaded"
	else
		packages=(./...)
		if [[ $module == examples ]] && ! go build -o /dev/null ./viewer 2>/dev/null; then
			mapfile -t packages < <(go list ./... | grep -v /viewer)
			echo "not run: lint: examples/viewer: the headers of X11 and OpenGL are not there"
		fi
		for tool in ${vet:+"$vet"} "${tools[@]}"; do
			echo "$module: $tool"
			case $tool in
			'go vet') go vet "${packages[@]}" || failed=1 ;;
			staticcheck) "$bin/staticcheck" "${packages[@]}" || failed=1 ;;
			deadcode)
				# With cgo it would not see the calls that come from C.
				dead=$(CGO_ENABLED=0 "$bin/deadcode" -test "${packages[@]}") || failed=1
				dead=$(awk '$1 ~ "^internal/" || $NF !~ /^([A-Z][A-Za-z0-9]*\.)?[A-Z][A-Za-z0-9]*$/' <<<"$dead")
				[[ -z $dead ]] || { echo "$dead" && failed=1; }
				;;
			esac
		done
	fi
	cd "$OLDPWD" || exit 1
done
exit $failed
