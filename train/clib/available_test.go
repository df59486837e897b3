package clib

import (
	"math"
	"testing"
	"testing/fstest"
)

// What is left is the least of the machine and of every group around the process, without the pages of files.
func TestAvailable(t *testing.T) {
	const none, kb = math.MaxUint64, 1024
	meminfo := "MemTotal: 900 kB\nMemAvailable:   400 kB\nSwapTotal: 9 kB\nSwapFree:  100 kB\nHugePages_Total:       0\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  uint64
	}{
		"no Linux":       {nil, none},
		"no group":       {map[string]string{"proc/meminfo": meminfo}, 500 * kb},
		"root":           {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n"}, 500 * kb},
		"no limit":       {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/memory.current": "7\n"}, none},
		"limit":          {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "700\n"}, 300},
		"used up":        {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "1700\n"}, 0},
		"pages":          {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "700\n", "sys/fs/cgroup/a/memory.stat": "anon 5\ninactive_file 200\nactive_file 100\n"}, 600},
		"group around":   {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "900\n", "sys/fs/cgroup/a/b/memory.max": "500\n", "sys/fs/cgroup/a/b/memory.current": "100\n"}, 100},
		"of a container": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "900\n"}, 100},
		"swap": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "900\n",
			"sys/fs/cgroup/a/memory.swap.max": "50\n", "sys/fs/cgroup/a/memory.swap.current": "20\n"}, 130},
		"version 1": {map[string]string{"proc/self/cgroup": "5:cpu:/x\n4:foo,memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1000\n",
			"sys/fs/cgroup/memory/a/memory.usage_in_bytes": "400\n", "sys/fs/cgroup/memory/a/memory.stat": "total_inactive_file 30\n"}, 630},
		"version 1 without limit": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "400\n"}, 500 * kb},
		"not to be read": {map[string]string{"proc/meminfo": "MemAvailable: many kB\nMemAvailable:\n", "proc/self/cgroup": "x\n\n0::../../etc\n"}, none},
	} {
		root := fstest.MapFS{}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := available(root); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
