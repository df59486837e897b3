package profile

import (
	"fmt"
	"strconv"
	"strings"
)

// unknownNoise is the Noise of a system that reports nothing.
func unknownNoise() Noise {
	return Noise{Switches: -1, Yields: -1, Faults: -1, StealNs: -1, Load: -1, Pinned: -1}
}

// since returns the difference to was, an earlier result of thisNoise.
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

// stolen returns the time that a hypervisor gave to others, from /proc/stat, or -1.
func stolen(stat string) int64 {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	const steal = 8 // after the name: user, nice, system, idle, iowait, irq, softirq
	if len(fields) <= steal || fields[0] != "cpu" {
		return -1
	}
	ticks, err := strconv.ParseInt(fields[steal], 10, 64)
	if err != nil || ticks < 0 || ticks > maxTimeNs {
		return -1
	}
	return ticks * (1e9 / userHz)
}

// load returns the mean of the last minute, from /proc/loadavg, or -1.
func load(text string) float64 {
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	mean, err := strconv.ParseFloat(first, 64)
	if err != nil || !(mean >= 0 && mean < 1e9) {
		return -1
	}
	return mean
}

// words describes what else the machine did, as far as the system reports it.
func (n *Noise) words() (parts []string) {
	if n == nil {
		return nil
	}
	add := func(known bool, format string, value any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add(n.Load >= 0, "load %s", figure(n.Load))
	add(n.Switches >= 0, "taken off its CPU %s", plural(n.Switches, "time"))
	add(n.StealNs > 0, "%s of the CPUs given to other guests", duration(float64(n.StealNs)))
	add(n.Faults > 0, "%s read from disk", plural(n.Faults, "page"))
	add(n.Governor != "", "governor %s", n.Governor)
	add(n.Pinned >= 0, "pinned to CPU %d", n.Pinned)
	return parts
}
