#!/usr/bin/env bash
# Checks what examples/server/deploy is for: systemd reads the unit without a complaint; the container is built without a
# network, the server runs in it as another user, and the log that it wrote verifies.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir" 2>/dev/null || true' EXIT
mkdir -p "$dir/context/srv" "$dir/context/data"
(cd examples && CGO_ENABLED=0 go build -o "$dir/context/srv/server" ./server)

if command -v systemd-analyze >/dev/null; then
	# verify wants to find the program. A key that it does not know is a line of output, and no failure.
	sed "s|^ExecStart=/usr/local/bin/bumper|ExecStart=$dir/context/srv/server|" examples/server/deploy/bumper.service >"$dir/bumper.service"
	grep -q "^ExecStart=$dir" "$dir/bumper.service"
	complaints=$(systemd-analyze verify "$dir/bumper.service" 2>&1) || complaints+=" (it fails)"
	[[ -z $complaints ]] || { echo "bumper.service: $complaints" && exit 1; }
	systemd-analyze security --offline=true --threshold=20 "$dir/bumper.service" 2>/dev/null | tail -n 1 # of 100; fails above
else
	echo "not run: the unit of examples/server: systemd-analyze is not installed"
fi

command -v buildah >/dev/null || { echo "not run: the container of examples/server: buildah is not installed" && exit 0; }
b() { buildah --storage-driver vfs --root "$dir/images" --runroot "$dir/run" "$@"; }
trap 'b umount -a >/dev/null 2>&1 || true; rm -rf "$dir" 2>/dev/null || true' EXIT
# A container of nothing finds out whether this system lets us make any.
if ! b from scratch >"$dir/out" 2>&1; then
	echo "not run: the container of examples/server: buildah does not work here: $(tail -n 1 "$dir/out")"
	exit 0
fi
b build -q --isolation chroot -t bumper -f examples/server/deploy/Containerfile "$dir/context"
container=$(b from localhost/bumper)
run() { b run --isolation chroot "$container" -- /srv/server "$@" </dev/null; }
if ! run -h >"$dir/out" 2>&1 && ! grep -q 'folder' "$dir/out"; then
	echo "not run: the server in its container: buildah runs nothing here: $(tail -n 1 "$dir/out")"
	exit 0
fi
# Two bots play until the process is killed; the second server goes on with the log of the first.
for _ in 1 2; do
	timeout -s TERM -k 5 2 buildah --storage-driver vfs --root "$dir/images" --runroot "$dir/run" run --isolation chroot \
		"$container" -- /srv/server -addr 127.0.0.1:0 -log /data/game -bots 2 </dev/null >"$dir/out" 2>&1 || true
	grep -q '^listening on ' "$dir/out" || { cat "$dir/out" && exit 1; }
done
run -verify /data/game
