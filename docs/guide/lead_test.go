package guide_test

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

func Example_lead() {
	const period, player = 1_000_000_000 / 60, 7
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	clock := new(loop.ManualClock) // a server leaves Config.Clock out
	// guide:begin measure
	arrivals, err := loop.NewArrivals(loop.ArrivalsConfig{}) // 99 % of the inputs of the last seconds
	check(err)
	sim, err := evertick.New(evertick.Config{
		Clock:  clock,
		Inputs: evertick.InputConfig{PerSource: 64, Arrivals: arrivals},
	})
	check(err)
	// guide:end

	// guide:begin aim
	// aim returns the input of somebody who acts at a time, with a lead.
	aim := func(at uint64, lead int64) evertick.Input {
		tick, fraction := sim.Timeline().TickAt(at + uint64(lead))
		return evertick.Input{Source: player, Seq: at, Tick: tick, Fraction: fraction, At: at}
	}
	// guide:end

	// The player acts in each frame, and the network takes three of them.
	var network []evertick.Input
	play := func(frames int, lead int64) {
		for range frames {
			network = append(network, aim(sim.Timeline().WallNs(), lead))
			if len(network) > 3 {
				check(sim.Push(network[0]))
				network = network[1:]
			}
			clock.Add(period)
			_, err := sim.Advance(period)
			check(err)
		}
	}
	play(303, 0)
	// guide:begin ask
	st, _ := arrivals.Source(player)
	fmt.Println(st.Late, "of", st.Pushed, "inputs were late")
	fmt.Println("lead:", st.LeadNs/1_000_000, "ms, or", sim.Timeline().Ticks(st.LeadNs), "ticks")
	// guide:end
	play(303, st.LeadNs)
	after, _ := arrivals.Source(player)
	fmt.Println(after.Late-st.Late, "of", after.Pushed-st.Pushed, "with the lead")

	// Output:
	// 298 of 300 inputs were late
	// lead: 50 ms, or 4 ticks
	// 3 of 303 with the lead
}
