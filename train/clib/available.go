package clib

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// available returns the bytes of memory that a Linux system would still give to this process before it kills one: of the
// machine, and of the control groups that the process is in. Where the files do not say, it is the largest number.
func available(root fs.FS) uint64 {
	machine := fields(root, "proc/meminfo")
	most := uint64(math.MaxUint64)
	if kb, ok := machine["MemAvailable:"]; ok {
		most = 1024 * (kb + machine["SwapFree:"])
	}
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return most
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			most = min(most, leftInGroups(root, "sys/fs/cgroup", parts[2], version2, 1024*machine["SwapFree:"]))
		case strings.Contains(","+parts[1]+",", ",memory,"):
			most = min(most, leftInGroups(root, "sys/fs/cgroup/memory", parts[2], version1, 0))
		}
	}
	return most
}

// groupFiles names the files of a control group.
type groupFiles struct {
	limit, used         string
	swapLimit, swapUsed string
	inactive, active    string // entries of memory.stat: pages of files, which the system takes back
}

var (
	version1 = groupFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "", "", "total_inactive_file", "total_active_file"}
	version2 = groupFiles{"memory.max", "memory.current", "memory.swap.max", "memory.swap.current", "inactive_file", "active_file"}
)

// leftInGroups returns what is left in a control group and in those around it.
func leftInGroups(root fs.FS, mount, group string, names groupFiles, swapFree uint64) uint64 {
	most := uint64(math.MaxUint64)
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		dir := mount + strings.TrimSuffix(at, "/")
		limit, limited := number(root, dir+"/"+names.limit)
		if used, ok := number(root, dir+"/"+names.used); ok && limited {
			stat := fields(root, dir+"/memory.stat")
			used -= min(used, stat[names.inactive]+stat[names.active])
			most = min(most, limit-min(limit, used)+swapLeft(root, dir, names, swapFree))
		}
		if at == "/" {
			return most
		}
	}
}

// swapLeft returns the swap space that a group may still use.
func swapLeft(root fs.FS, dir string, names groupFiles, free uint64) uint64 {
	used, ok := number(root, dir+"/"+names.swapUsed)
	if !ok {
		return 0
	}
	if limit, limited := number(root, dir+"/"+names.swapLimit); limited {
		return min(free, limit-min(limit, used))
	}
	return free
}

// number reads a file with one number. "max" is none.
func number(root fs.FS, name string) (uint64, bool) {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(data)), 10, 63)
	return n, err == nil
}

// fields reads a file with a name and a number on each line.
func fields(root fs.FS, name string) map[string]uint64 {
	found := map[string]uint64{}
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return found
	}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) < 2 {
			continue
		}
		if n, err := strconv.ParseUint(words[1], 10, 53); err == nil {
			found[words[0]] = n
		}
	}
	return found
}
