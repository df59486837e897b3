#!/usr/bin/env bash
# levels.sh PACKAGES: runs tests with each level as the default, as if the CPU
# had no better one. With the best one they run in "make test".
set -uo pipefail

failed=0
best=$(go run ./bench -info | sed -n 's/^level \([a-z0-9]*\) of .*/\1/p')
for level in go c avx2 avx512 neon; do
	case $level in
	avx2) flag=avx2 arch=x86_64 ;;
	avx512) flag=avx512f arch=x86_64 ;;
	neon) flag=asimd arch=aarch64 ;;
	*) flag='' arch=$(uname -m) ;;
	esac
	[[ $arch == "$(uname -m)" ]] || continue
	if [[ $level == "$best" ]]; then
		echo "level $level is the default: make test"
	elif [[ $level != go && $(go env CGO_ENABLED) == 0 ]]; then
		echo "not run: level $level: no C compiler"
	elif [[ -n $flag ]] && ! grep -qw $flag /proc/cpuinfo; then
		echo "not run: level $level: this CPU lacks it"
	else
		echo "EVERTICK_LEVEL=$level go test $*"
		EVERTICK_LEVEL=$level go test "$@" || failed=1
	fi
done
exit $failed
