#!/usr/bin/env bash
# lint.sh [-short]: checks all modules with go vet, staticcheck, deadcode and govulncheck: none may find anything. A function is
# dead if neither a command nor a test reaches it. What importers may call is not: exported functions and methods outside of
# internal. A known vulnerability counts if the code of a module that we require is called. One of the standard library is
# reported only: a newer Go repairs it. With -short it runs staticcheck alone over the main module: make vet runs go vet there.
set -uo pipefail
cd "$(dirname "$0")/.."

readonly staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
readonly deadcode=golang.org/x/tools/cmd/deadcode@v0.52.0
readonly govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0
readonly vulndb=golang.org/x/vulndb@latest # as old data finds nothing new
modules=(. skill/mcp causal/otel worldlog/jetstream replay/search/natswork internal/browser examples)
programs=("$staticcheck" "$deadcode" "$govulncheck") vet='go vet'
if [[ ${1-} == -short ]]; then
	modules=(.) programs=("$staticcheck") vet=''
fi

readonly unreachable='Forbidden|Not Found|module lookup disabled|dial tcp|i/o timeout|no such host'
failed=0
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

tools=()
for tool in "${programs[@]}"; do
	name=$(basename "${tool%@*}")
	if out=$(GOBIN=$bin go install "$tool" 2>&1); then
		tools+=("$name")
	elif grep -qE "$unreachable" <<<"$out"; then
		echo "not run: lint: $name: it cannot be downloaded"
	else
		echo "$out" && failed=1
	fi
done

known=''
if [[ " ${tools[*]} " == *" govulncheck "* ]]; then
	known=$(go mod download -json "$vulndb" 2>/dev/null | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	if [[ ! -d $known/data/osv ]]; then
		echo "not run: lint: govulncheck: its data cannot be downloaded"
		unset "tools[-1]"
	fi
fi

# vulnerabilities PACKAGES... prints those that were found, and fails if one is that of a module.
vulnerabilities() {
	local out rc
	out=$("$bin/govulncheck" -db "file://$known/data/osv" "$@" 2>&1)
	rc=$?
	if ((rc != 0 && rc != 3)); then # 3: found
		echo "$out"
		return 1
	fi
	awk -v go="$(go env GOVERSION)" '
		/^Vulnerability #/ { text = "" }
		!/^ +#[0-9]+:/ || / #[123]:/ { text = text $0 "\n" } # a finding may have hundreds of traces
		/^  Module: / { printf "%s", text; text = ""; ours = 1; failed = 1 }
		/^  Standard library/ { of_go++; ours = 0 }
		/^ +Fixed in: / && !ours { fixed = $3; sub(/.*@/, "", fixed); if (length(fixed) > length(newest) || fixed > newest) newest = fixed }
		/^$/ { if (ours) printf "%s", text; text = ""; ours = 0 }
		END {
			if (of_go) print of_go " vulnerabilities of the standard library of " go " can be reached: build with " newest
			exit failed
		}' <<<"$out"
}

for module in "${modules[@]}"; do
	cd "$module" || exit 1
	if ! out=$(go list -deps -test ./... 2>&1); then # which downloads what is needed, and no more
		if grep -qE "$unreachable" <<<"$out"; then
			echo "not run: lint: $module: the modules that it needs cannot be downloaded"
		else
			echo "$out" && failed=1
		fi
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
			govulncheck) vulnerabilities "${packages[@]}" || failed=1 ;;
			staticcheck) "$bin/staticcheck" "${packages[@]}" || failed=1 ;;
			deadcode)
				# With cgo it would not see the calls that come from C. The viewer has none, and needs cgo for its window.
				cgo=0
				[[ "$module ${packages[*]}" != "examples ./..." ]] || cgo=1
				dead=$(CGO_ENABLED=$cgo "$bin/deadcode" -tags purego -test "${packages[@]}") || failed=1
				dead=$(awk '$1 ~ "^internal/" || $NF !~ /^([A-Z][A-Za-z0-9]*\.)?[A-Z][A-Za-z0-9]*$/' <<<"$dead")
				[[ -z $dead ]] || { echo "$dead" && failed=1; }
				;;
			esac
		done
	fi
	cd "$OLDPWD" || exit 1
done
exit $failed
