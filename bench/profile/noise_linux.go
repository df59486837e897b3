package profile

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// thisNoise returns the sums since the process began, and how the machine is set up.
func thisNoise() Noise {
	n := unknownNoise()
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err == nil {
		n.Switches, n.Yields, n.Faults = int64(usage.Nivcsw), int64(usage.Nvcsw), int64(usage.Majflt)
	}
	n.StealNs = stolen(content("/proc/stat"))
	n.Load = load(content("/proc/loadavg"))
	n.Governor = strings.TrimSpace(content("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
	n.Pinned = pinnedTo()
	return n
}

func content(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(text)
}
