// Command bench simulates a scene and tells where its steps go, and why the slow ones are slow:
//
//	go run ./bench -scene capstone -ticks 3600 -warmup 300 -seed 1 -level auto -workers 1
//
// It compares the kernels of all levels, prints a report of 80 columns and writes the run into
// out/SCENE: summary.json, steps.csv, bench.txt for benchstat, trace.json for Perfetto, and
// report.html, which needs nothing but a browser. -out names another folder, or none; with
// -json the summary is printed and nothing is written. See package profile for what
// the figures mean, and to record a Sim of one's own.
//
// # Scenes
//
// The scene capstone has 2,000 entities in an area of 200 by 200 m: 200 agents
// that all perceive their surroundings in every tick, 256 bodies that are kept
// moving, and scenery. The scene limina is the same world under a published
// protocol, for comparison: 26 agents perceive per tick, bodies are at rest, 400
// ticks of which 60 are warm-up.
//
// Of these the parameters are flags, with the default in brackets:
//
//	swarm      -n boids (16,384; up to 1,000,000), one a cubic metre, in a cube that begins anew behind
//	           its faces. In every tick each finds its neighbours within -r metres (1.56: 16 of them),
//	           keeps clear of them, to their course and to their middle.
//	clusters   -n entities (8,192; up to 1,000,000) in 64 Gaussian blobs, of a standard deviation of
//	           4 m, in 200 by 200 m. In every tick -q of them (1,024), by turns, ask who is within -r
//	           metres (2).
//	churn      -n entities (10,000; up to 1,000,000). In every tick a tenth goes, as many come, and
//	           a quarter gains or loses a tag, all by Commands.
//	arena      -n bodies (1,024), pushed about; and the other scenes of bodies below.
//	queries    with -n, -q or -r: a table over numbers of points, queries and radii, as in
//	           -n 2256,16384 -q 200 -r 1,2,4.
//
// The scene everything is that of package internal/proof, in which all that this module can do
// happens at once; make determinism compares its hashes across builds and machines.
//
// # Bodies alone
//
// The scenes arena, tumbler, pyramid, pyramids, smash, jointgrid, bridge, ragdolls and hinges
// are bodies alone, in a world of package physics. The size -n counts bodies, boxes, rows,
// pyramids of ten rows, boxes, rows and columns of joined discs, planks, dolls, and towers of
// hinged boxes. Bodies that are at rest fall asleep in smash and hinges, or with
// -sleep; continuous collision is on in smash, or with -continuous:
//
//	go run ./bench -scene arena -n 1024 -compare box2d
//
// Phases are the stages of the solver. With -compare the engine of package physics/box2d simulates the same scene in the same
// process; the two take turns of a few steps. What is compared is the median step; in
// brackets stands a bootstrap interval of 95 % confidence. Steps of one worker are measured by
// the CPU time of their thread where the system tells it. The garbage of the other
// engine is collected between the turns, and counts for neither. In the tumbler its
// continuous collision is off, which acts on a kinematic drum and makes a step take four
// times as long; it does not on the drum on a motor of the figures beside it. These are
// what Box2D v3 with AVX2 reached on this scale, on one core of an AMD Zen 4 with a program
// of its own.
//
// In the capstone and in limina -compare has its bodies moved by that engine, likewise.
//
// The scene rays casts 10,000 rays through an arena, as many batches as -ticks says, each after
// a body has moved; of box2d, ray by ray, the closest hit.
//
// # Measuring
//
// What every run does: the kernels of each level that runs here simulate the beginning of the scene, and no
// times are told if a hash differs from that of pure Go, which is the specification. The warm-up is not
// measured, and its garbage is collected before what is. Behind the run the levels take turns
// in steps of the same scene: the ladder tells how many times as fast as pure Go each is, with a bootstrap interval of
// 95 % confidence. It is left out where it would take more than two seconds; -ladder on or off decide
// otherwise.
//
//	-pin CPU         keeps the thread of the steps to a CPU
//	-hardware        counts instructions, cycles and misses by phase, where the system allows
//	-paced           runs steps when they are due, at 60 Hz, by turns with steps back to back, and reports
//	                 how late they begin and how many times as long each phase takes
//	-causes          with -paced: more turns, each of which takes away or brings about one cause: sleep (spun),
//	                 a CPU just woken (awake), data (read) and code (twin, copy) out of the caches, or all that (cold);
//	                 margin is what evertick.Config.Rehearse makes of it
//	-baseline DIR    compares with the run in a folder, as -out wrote it: what changed, and whether that
//	                 is more than chance
//	-budget 4ms      fails, after the report, if p95 of a step is longer: of many steps one in twenty
//	                 may be, so that an interruption by the machine does not fail a build
//
// How many entities fit the budget of a frame on this machine, of swarm, clusters, churn, arena, tumbler,
// pyramid and queries, tells
//
//	go run ./bench -scene swarm -scale
//
// It doubles -n until p95 of a step breaks the budget (16.67 ms, or -budget), halves the last
// interval, and prints cost against size as a table and a plot, with the exponent of a fit.
//
// Ratios that are kept, in a folder for each machine and commit, are compared by
//
//	go run ./bench compare
//	go run ./bench compare -keep bench/results/zen4-99f2e16
//
// the second of which keeps them as ratios.csv. They are of the levels, in the capstone, in an
// arena of 1,024 bodies and in queries to 16,384 points, and of ours to the engine of package physics/box2d in arenas
// of 256 and 1,024; all are measured by turns, in 20 seconds. What is kept of the same CPU counts first, and the newest of
// that. A ratio is worse if its whole interval lies below 0.6 of the one that is kept, 0.4 on another CPU, in
// three attempts: that is a lost kernel, and not a busy machine. Times are never compared.
//
// # Without ticks
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
// # Logs
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
// # Exit status
//
// The exit status of everything else is 0, 1 if the run failed, the levels differ, p95 is over -budget or a
// ratio is worse, or 2 if a flag is wrong.
package main
