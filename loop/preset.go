package loop

// Classic returns the configuration of the textbook loop: 60 steps a second, at
// most 5 in a frame, frames clamped to 0.25 s, the rest dropped in whole steps
// and counted. It is what the zero Config means.
func Classic() Config {
	return Config{
		RateNum: defaultRateNum, RateDen: defaultRateDen,
		MaxSteps:   defaultMaxSteps,
		MaxDeltaNs: defaultMaxDeltaNs,
		Policy:     DropToCap,
	}
}

// Arcade returns the configuration of an action game that prefers losing time to
// running many steps at once:
//
//   - 60 steps a second; a frame counts at most 33 ms;
//   - after more than 0.2 s the accumulator is zeroed and the frame skipped;
//   - what has accumulated is bounded to 0.25 s of simulated time;
//   - at most max(4, ceil(4 × scale)) steps in a frame, and if another one is
//     due then, the accumulator drains to zero;
//   - the scale is Dilation × Speed × Juice, with Juice from 0.1 to 1.
//
// A hit-freeze is [Loop.Freeze], which lasts its wall time. With Config.FreezeFrames it is as in a loop which takes the capped time of each
// frame from the freeze: 300 ms hold ten frames of 100 ms back, as each counts 33. To slow down all of a test run set
// Channels[Dilation].Rest, to which Dilation returns when a freeze ends.
func Arcade() Config {
	c := Config{
		RateNum: 60, RateDen: 1,
		MaxSteps:   4,
		CapScales:  true,
		MaxDeltaNs: 33_000_000,
		ClipTime:   true,
		StallNs:    200_000_000,
		MaxAccumNs: 250_000_000,
		Policy:     DropAll,
	}
	c.Channels[Juice] = ChannelConfig{Min: 0.1, Max: 1, Rest: 1}
	return c
}

// Modules returns the configuration for a program of modules, each updated once a tick and rendered once a frame, such as
// examples/modules: that of Classic.
func Modules() Config { return Classic() }

// Show returns the configuration for showing what was trained under Training:
// 120 steps a second in real time, frames clamped to 0.25 s, which is 30 steps.
func Show() Config {
	c := Classic()
	c.RateNum, c.MaxSteps = 120, 30
	return c
}

// Training returns the configuration of a trainer: the steps of Show, one for
// each Advance, and no clock. MaxSteps may be raised to run more at once.
func Training() Config {
	return Config{RateNum: 120, RateDen: 1, MaxSteps: 1, Batch: true}
}
