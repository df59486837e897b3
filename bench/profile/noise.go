package profile

import (
	"strconv"
	"strings"
)

// calm is a Noise of which nothing is known.
func calm() Noise {
	return Noise{Switches: -1, Yields: -1, Faults: -1, StealNs: -1, Load: -1, Pinned: -1}
}

// noise returns what has happened since was, a sum of thisNoise.
func (n Noise) since(was Noise) *Noise {
	for _, sum := range []struct{ now, was *int64 }{
		{&n.Switches, &was.Switches}, {&n.Yields, &was.Yields}, {&n.Faults, &was.Faults}, {&n.StealNs, &was.StealNs},
	} {
		if *sum.now < 0 || *sum.was < 0 {
			*sum.now = -1
		} else {
			*sum.now = max(0, *sum.now-*sum.was)
		}
	}
	return &n
}

// userHz is the unit of /proc/stat for programs, whatever the kernel counts in.
const userHz = 100

// stolen reads from /proc/stat the time that a hypervisor gave to others, or -1.
func stolen(stat string) int64 {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	const steal = 8 // behind the name: user, nice, system, idle, iowait, irq, softirq
	if len(fields) <= steal || fields[0] != "cpu" {
		return -1
	}
	ticks, err := strconv.ParseInt(fields[steal], 10, 64)
	if err != nil || ticks < 0 || ticks > maxTimeNs {
		return -1
	}
	return ticks * (1e9 / userHz)
}

// load reads the mean of the last minute from /proc/loadavg, or -1.
func load(text string) float64 {
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	mean, err := strconv.ParseFloat(first, 64)
	if err != nil || !(mean >= 0 && mean < 1e9) {
		return -1
	}
	return mean
}
