#!/usr/bin/env bash
# release.sh VERSION [1]: releases all modules under one version: writes it into the go.mod and go.work of those that require
# the main one, commits, tags, and pushes. Without the 1 it does so in a clone that it throws away, and pushes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly version=${1-} push=${2-}
readonly main=github.com/evertick/evertick
readonly modules=(skill/mcp causal/otel worldlog/jetstream replay/search/natswork)

refuse() { echo "release: $*" >&2 && exit 1; }

[[ $version =~ ^v[01]\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || refuse "VERSION is '$version', not v0.1.0 or the like"
[[ $(git symbolic-ref --short HEAD) == main ]] || refuse "this is not the branch main"
[[ -z $(git status --porcelain) ]] || refuse "the working tree has changes that are not committed"

tags=("$version")
for module in "${modules[@]}"; do tags+=("$module/$version"); done
for tag in "${tags[@]}"; do
	! git rev-parse -q --verify "refs/tags/$tag" >/dev/null || refuse "the tag $tag exists"
done

# The section of a version begins with its number and ends at the next one.
section() { awk -v name="$1" '/^## /{on = $2 == name || $2 == "[" name "]"; next} on && NF' CHANGELOG.md; }
[[ -n $(section "${version#v}")$(section "$version") ]] || refuse "CHANGELOG.md has no section ${version#v}"
[[ -z $(section Unreleased) ]] || refuse "CHANGELOG.md has changes under Unreleased"

if [[ ! $push ]]; then
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	name=$(git config user.name || echo release) email=$(git config user.email || echo release@localhost)
	git clone -q --shared . "$dir/clone"
	cd "$dir/clone"
	git config user.name "$name" && git config user.email "$email"
fi

for module in "${modules[@]}"; do
	for file in "$module/go.mod" "$module/go.work"; do
		sed -i.old -E "s#($main) v[^ ]+#\1 $version#" "$file" && rm "$file.old"
		grep -q "$main $version" "$file" || refuse "$file does not require $main"
	done
done
if [[ -n $(git status --porcelain) ]]; then
	git commit -qam "Release $version"
	git show --stat --format='commit: %s' HEAD
else
	echo "go.mod and go.work of all modules say $version already: no commit"
fi
for tag in "${tags[@]}"; do
	git tag -a -m "Release $version" "$tag"
	echo "tag: $tag"
done
readonly command=(git push --atomic origin main "${tags[@]}")
echo "${command[*]}"
if [[ $push ]]; then "${command[@]}"; else echo "nothing was changed: PUSH=1 does it"; fi
