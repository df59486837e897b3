package loop_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/loop"
)

func TestValidateAccepts(t *testing.T) {
	for _, c := range []loop.Config{
		{},
		{RateNum: 30},
		{RateNum: 60000, RateDen: 1001},
		{RateNum: 1, RateDen: 100_000_000},
		{RateNum: 100_000_000, RateDen: 100},
		{MaxSteps: 1, MaxDeltaNs: 1, Policy: loop.Keep},
		{MaxSteps: 1 << 30, MaxDeltaNs: math.MaxInt64},
		{StallNs: math.MaxInt64, MaxAccumNs: math.MaxInt64, JitterFix: 500, Phases: math.MaxUint64, Batch: true, SpinBudget: 1000},
		{MaxAccumNs: 16_666_667, CapScales: true, ClipTime: true, SmoothDelta: true, Policy: loop.Realtime},
		channels(loop.ChannelConfig{Min: 1, Max: 1}),
		channels(loop.ChannelConfig{Max: 100, Rest: 100}),
	} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestValidateNamesEachFault(t *testing.T) {
	for _, tc := range []struct {
		config loop.Config
		want   []string
	}{
		{loop.Config{RateNum: -1}, []string{"loop: Config.RateNum = -1: out of range"}},
		{loop.Config{RateDen: 1001}, []string{"loop: Config.RateNum = 0: out of range"}},
		{loop.Config{RateNum: 100_000_001}, []string{"loop: Config.RateNum = 100000001: out of range"}},
		{loop.Config{RateNum: 60, RateDen: -2}, []string{"loop: Config.RateDen = -2: out of range"}},
		{loop.Config{MaxSteps: 1<<30 + 1}, []string{"loop: Config.MaxSteps = 1073741825: out of range"}},
		{loop.Config{RateNum: 1_000_001}, []string{"loop: Config.RateNum/RateDen = 1000001/1: out of range"}},
		{loop.Config{StallNs: -1}, []string{"loop: Config.StallNs = -1: out of range"}},
		{loop.Config{MaxAccumNs: -1}, []string{"loop: Config.MaxAccumNs = -1: out of range"}},
		{loop.Config{MaxAccumNs: 16_666_666}, []string{"loop: Config.MaxAccumNs (less than a step) = 16666666: out of range"}},
		{loop.Config{SpinBudget: -1}, []string{"loop: Config.SpinBudget = -1: out of range"}},
		{loop.Config{SpinBudget: 1001}, []string{"loop: Config.SpinBudget = 1001: out of range"}},
		{loop.Config{JitterFix: -1}, []string{"loop: Config.JitterFix = -1: out of range"}},
		{loop.Config{JitterFix: 501}, []string{"loop: Config.JitterFix = 501: out of range"}},
		{channels(loop.ChannelConfig{Min: 2}), []string{"loop: Config.Channels[Juice].Rest = 1: out of range"}},
		{channels(loop.ChannelConfig{Min: 2, Max: 1}), []string{"loop: Config.Channels[Juice].Min = 2: out of range"}},
		{channels(loop.ChannelConfig{Min: -1}), []string{"loop: Config.Channels[Juice].Min = -1: out of range"}},
		{channels(loop.ChannelConfig{Max: 101}), []string{"loop: Config.Channels[Juice].Max = 101: out of range"}},
		{channels(loop.ChannelConfig{Rest: -0.5}), []string{"loop: Config.Channels[Juice].Rest = -0.5: out of range"}},
		{
			loop.Config{RateNum: math.MinInt64, RateDen: math.MaxInt64, MaxSteps: -1, MaxDeltaNs: -1, Policy: 7},
			[]string{
				"loop: Config.RateNum = -9223372036854775808: out of range",
				"loop: Config.RateDen = 9223372036854775807: out of range",
				"loop: Config.MaxSteps = -1: out of range",
				"loop: Config.MaxDeltaNs = -1: out of range",
				"loop: Config.Policy = Policy(7): out of range",
			},
		},
	} {
		l, err := loop.New(tc.config)
		if l != nil || !errors.Is(err, loop.ErrRange) {
			t.Errorf("%+v: New = %v, %v; want an ErrRange", tc.config, l, err)
			continue
		}
		if want := strings.Join(tc.want, "\n"); err.Error() != want {
			t.Errorf("%+v:\n got %q\nwant %q", tc.config, err, want)
		}
	}
}

func channels(juice loop.ChannelConfig) (c loop.Config) {
	c.Channels[loop.Juice] = juice
	return c
}

func TestValidateChannelsAreFinite(t *testing.T) {
	for _, c := range []loop.ChannelConfig{
		{Min: math.NaN()}, {Max: math.NaN()}, {Rest: math.NaN()}, {Min: math.Inf(-1)}, {Max: math.Inf(1)}, {Rest: math.Inf(1)},
	} {
		if l, err := loop.New(channels(c)); l != nil || !errors.Is(err, loop.ErrNotFinite) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestPolicyString(t *testing.T) {
	for p, want := range map[loop.Policy]string{
		loop.DropToCap: "DropToCap", loop.Keep: "Keep", loop.DropAll: "DropAll", loop.SlowMotion: "SlowMotion",
		loop.CatchUp: "CatchUp", loop.Realtime: "Realtime", loop.KeepAll: "KeepAll", 200: "Policy(200)",
	} {
		if got := p.String(); got != want {
			t.Errorf("Policy %d: %q, want %q", uint8(p), got, want)
		}
	}
}
