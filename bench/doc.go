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
// The scenes arena, tumbler, pyramid and pyramids are bodies alone, in a world of package
// physics whose bodies never sleep. The size -n counts bodies, boxes, rows, and
// pyramids of ten rows:
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
// The exit status is 0, 1 if the run failed, or 2 if a flag is wrong.
package main
