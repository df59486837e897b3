// Command bench simulates a scene and profiles its steps:
//
//	go run ./bench -scene capstone -ticks 3600 -warmup 300 -seed 1 -level auto -workers 1
//
// It prints the environment, the percentiles of the step against the budget of
// a 60 Hz frame, a table of the phases, allocations, and the hash of the final
// state; with -json the same as one object.
//
// The scene capstone has 2,000 entities in an area of 200 by 200 m: 200 agents
// that all perceive their surroundings in every tick, 256 bodies that are kept
// moving, and scenery. The scene limina is the same world under a published
// protocol, for comparison: 26 agents perceive per tick, bodies are at rest, 400
// ticks of which 60 are warm-up.
//
// The scene everything is that of package internal/proof, in which all that this module can do
// happens at once; make determinism compares its hashes across builds and machines.
//
// The scenes arena, tumbler, pyramid, pyramids, smash, jointgrid, bridge, ragdolls and hinges
// are bodies alone, in a world of package physics. The size -n counts bodies, boxes, rows,
// pyramids of ten rows, boxes, rows and columns of joined discs, planks, dolls, and towers of
// hinged boxes. Bodies that are at rest fall asleep in smash and hinges, or with
// -sleep; continuous collision is on in smash, or with -continuous:
//
//	go run ./bench -scene arena -n 1024 -compare box2d
//
// With -compare the engine of package physics/box2d simulates the same scene in the same
// process; the two take turns of a few steps. What is compared is the median step; in
// brackets stands a bootstrap interval of 95 % confidence. Steps of one worker are measured by
// the CPU time of their thread where the system tells it. The garbage of the other
// engine is collected between the turns, and counts for neither. In the tumbler its
// continuous collision is off, which acts on a kinematic drum and makes a step take four
// times as long; it does not on the drum on a motor of the figures beside it. These are
// what Box2D v3 with AVX2 reached on this scale, on one core of an AMD Zen 4 with a program
// of its own.
//
// The scene rays casts 10,000 rays through an arena, as many batches as -ticks says, each after
// a body has moved; of box2d, ray by ray, the closest hit.
//
// The scene queries has no ticks: it times the spatial index alone, over points
// that are uniform in a cube, on every level that runs here, against the oracle, by
// order, by workers, by number of points and by number of neighbours:
//
//	go run ./bench -scene queries -csv queries.csv
//
// It takes about a minute; with -quick, which leaves out sets of a million points,
// a second or two. Every way to answer is compared with the oracle before it is timed.
//
// The scene ops times operations on columns against plain Go loops, for a thousand to
// eight million rows, against the bandwidth of a copy, with staggered columns and with
// columns that are not, and by workers; and what is done to entities:
//
//	go run ./bench -ops -csv ops.csv
//
// It takes about a minute; with -quick, which leaves out large columns, a second or two.
// What a level leaves in the columns is compared with level go before it is timed.
//
// The scene pacing has no ticks either: it tells how late frames begin, at 60 and at
// 1,000 Hz, and what CPU it takes to wait for them, by each pacing of package loop and by
// what Go programs do by hand:
//
//	go run ./bench -scene pacing
//
// It takes about a minute; with -quick a quarter of one.
//
// Logs of the capstone or of limina, with commands from outside, are made and used by
//
//	go run ./bench record DIR
//	go run ./bench replay verify DIR
//	go run ./bench replay seek -tick 3000 DIR
//	go run ./bench replay fork -tick 1000 -ticks 500 DIR NEWDIR
//	go run ./bench replay diff DIR NEWDIR
//	go run ./bench replay export -format trace -out run.json DIR
//	go run ./bench replay rollback -frames 8
//
// record tells what a command takes in the log, in bytes and in the tick; seek, how long a
// recovery takes from the nearest snapshot, and from tick 0; rollback, what a frame takes
// whose input is late. Their exit status is 0, 1 if runs or logs are not the same, or 2 for
// anything else that fails.
//
// The exit status of everything else is 0, 1 if the run failed, or 2 if a flag is wrong.
package main
