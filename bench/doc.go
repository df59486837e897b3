// Command bench measures where the time of a scene's steps goes, and why the slow ones are slow:
//
//	go run ./bench -scene capstone -ticks 3600 -warmup 300 -seed 1 -level auto -workers 1
//	go run ./bench -list
//
// The second command lists the scenes with their flags. The first compares the kernels of all
// levels, prints a report of 80 columns and writes the run into out/SCENE: summary.json, steps.csv,
// bench.txt for benchstat, trace.json for Perfetto, and report.html, which needs only a browser.
// -out names another folder, or none; with -json the command prints the summary and writes nothing.
// See package profile for the meaning of the figures, and for recording a Sim of your own.
//
// # Measuring
//
// Before a run, the kernels of each level simulate the beginning of the scene. No times are
// reported if a hash differs from that of pure Go, which is the specification. The warm-up is not
// measured, and its garbage is collected before the measured steps. After the run the levels take
// turns in steps of the same scene: the ladder reports how many times as fast as pure Go each level
// is, with a bootstrap interval of 95 % confidence. It is left out where it would take more than
// two seconds, unless -ladder says otherwise.
//
// -paced runs steps that wait until they are due, at 60 Hz, by turns with steps back to back. It
// reports how late they begin and how many times as long each phase takes. -causes adds turns, each
// of which removes or causes one thing: sleep (spun), a CPU just woken (awake), data (read) and
// code (twin, copy) that have left the caches, or all of that (cold). The turn margin shows what
// evertick.Config.Rehearse recovers.
//
// -baseline compares with an earlier run: what changed, and whether that is more than chance.
// -budget 4ms fails, after the report, if p95 of a step is longer. One step in twenty may be
// longer, so that an interruption by the machine does not fail a build.
//
// # Looking into a scene
//
//	go run ./bench/serve -scene swarm -n 100000 -view
//
// runs a simulation or a scene of bodies alone at 60 Hz, and prints the address of a page that shows
// its world, columns and times, and that can pause and step it. It measures nothing else, and ends
// with Ctrl-C. -addr chooses the address. See package inspect. Command bench/serve is this one with pages, logs and the
// scenes that serve clients, and takes all of its arguments: it links net/http, which takes longer to build than the
// profiler.
//
// # Other engines
//
// In scenes with bodies another engine can simulate the same scene in the same process, by turns of
// a few steps:
//
//	go run ./bench -scene arena -n 1024 -compare box2d
//
// The comparison is of median steps; brackets hold a bootstrap interval of 95 % confidence. Steps
// of one worker are measured by the CPU time of their thread where the system reports it. Garbage
// is collected between the turns, and counts for neither engine. All scenes of bodies run on box2d, with stand-ins for what
// it lacks: in the spinner segments for the chain and polygons for capsules, and no springs in the hinges. The steps of the
// rain are measured without the creation and destruction of dolls. In the tumbler the continuous
// collision of box2d is off: with the kinematic drum of this scene it makes a step take four times
// as long, but not with the motor-driven drum of the published figures. The published figures are
// what Box2D v3 with AVX2 reached on this scale, on one core of an AMD Zen 4 with a program of its
// own.
//
// After the run, the scene columns reports how long each column of boxes stood, how far it tilted and how much it sagged.
// With -sleep, bodies fall asleep.
//
// # Sizes
//
//	go run ./bench -scene swarm -scale
//
// reports how many entities fit the budget of a frame on this machine. It doubles -n until p95 of a
// step exceeds the budget (16.67 ms, or -budget), halves the last interval, and prints cost against
// size as a table and a plot, with the exponent of a fit, for the step and for each phase of it.
//
//	go run ./bench -scene swarm -scale -bodies 16384 -r 2.03 -workers 2
//
// answers how many agents with 30 neighbours each fit beside the bodies of an arena, in one world:
// agents perceive bodies, and bodies perceive agents. -spread clusters puts them into blobs, and
// -spread tail puts a few very far away. With several workers the same size runs once more, by turns
// with one worker: the report lists the phases that stay serial, and what Amdahl's law leaves.
//
// # Workers
//
//	go run ./bench -scene arena -n 16384 -stages
//	go run ./bench -scene swarm -n 100000 -bodies 16384 -stages -workers 2 -ticks 200
//
// reports what helpers gain in each stage of a step. It steps equal worlds by turns: one with one worker, one that always has
// helpers, and one world for each CPU at the same time, which is about the most that a second worker can gain on this machine at this time. A
// stage is called as the function that does it. Its row has the time that it takes one worker and several; what these gain; calls
// and chunks a step; how long the leader, which is the caller's goroutine, and the helpers work in it, and how long the leader waits for the
// last chunks; the inflation, which is how long all of them work, divided by how long one worker does; and the share of the chunks that
// helpers do. Between the stages are what the leader does alone before a stage, and before the first one also what the scene does before a step.
// A stage of one chunk has a row of its own. While stages are watched, one worker runs them one after the other as well, and not the
// solver in one call, so a step takes longer; the gain at the end is of steps that nobody watches. The results must be the same.
//
// -paced leaves out the stages and steps worlds with one worker and with several by turns when they are due, at 60 Hz, as a game does: between
// steps helpers sleep and caches grow cold. -first opens fresh worlds again and again, and compares their first 40 steps: from which step on
// helpers take part where they save time, and from which on there are none where they do not. All of these reports say how long a line of the
// caches takes from one CPU to the other and back: with some 100 ns helpers gain, with 500 hardly.
//
// With -busy, a busy loop competes for the CPUs, and helpers take part only while they save time, as in any program. The gain at the end is then what
// two workers are worth on a machine that has other work: about 1.
//
// Where helpers do hardly any chunks, something else needs their CPUs. Where the inflation is far above 1, data go from the cache of
// one CPU to that of the other, or the CPUs share more than memory, as the two threads of a core do.
//
// # Ratios
//
//	go run ./bench compare
//	go run ./bench compare -keep bench/results/zen4-99f2e16
//
// compare measures ratios, by turns, in half a minute: levels, in the capstone, in an arena of 1,024
// bodies and in queries of 16,384 points; our engine against the other one in arenas of 256 and
// 1,024; and the index against a plain cell list, in Go on level go and in C on the best level, for
// 200 queries of 2,256 and of 16,384 points and for every point of 16,384. Index and list must find
// the same points. With two CPUs or more it measures as well what a second worker gains in an arena of 16,384 bodies and in a
// pyramid, unless two worlds stepped at the same time show that the second CPU is worth less than 1.4 at this time, or a line of the caches takes more than 250 ns
// from one CPU to the other and back. The second command writes them as ratios.csv into a folder for the machine and commit. The
// first compares them with the newest such file, if possible of the same CPU. A ratio has fallen if
// in three attempts its whole interval lies below 0.6 of the baseline's, or 0.4 on another CPU: a
// busy machine does not cause that, but a lost kernel does. Of the gain of workers these shares are 0.65 and 0.5. Times are never compared.
//
// # Clients
//
//	go run ./bench/serve -scene clients -n 10000 -clients 1000 -hz 30
//
// reports what it costs to send a world to many clients by package replica. All of the n entities
// walk (x, y and angle change in every tick), in a square of such a size that a client sees -visible of
// them on average, fewer at the walls. Each client owns one and sends an input about every second tick.
// -slow is the share of clients that read 1 kB a second; the figures leave them out, and the slow
// ones have lines of their own.
//
// The clients are in a process of their own, connected by TCP. The cost of the server is the CPU time of
// its process. As many clients as -decode says decode their updates; the others count frames and bytes. Both
// processes read the same clock, and the report has three spans of time: from the arrival of an input to
// the beginning of the tick that applies it; from the end of a tick to the receipt of its update; and, measured
// directly, from the moment at which A sends an input to that at which B receives the update that shows its effect.
// The rate of ticks sets a floor for the first, which is printed beside it. With -lead clients stamp
// their inputs for a later tick, by their estimate of the lead. If the two processes have too few CPUs, spans
// are longer, and so are the phases, which are wall time. CPU time, bytes and counts are less affected.
//
// # Relays
//
//	go run ./bench/serve -scene relays -n 10000 -relays 10 -clients 1000 -hz 30
//
// reports what it costs to serve more viewers than one process can: a master runs the crowd of the scene clients, with a log
// and with inputs for -players of its walkers, and each of -relays processes follows the log, compares the hash of every tick, and
// serves -clients viewers, which are in a process of their own as those of the scene clients. For each relay the report has the
// CPU time of following and of serving; how many ticks it lacks when the master ends a tick, at least 1; and the bytes of the log that it reads beside those that its viewers get. All of that shares the CPUs of one machine: the
// report says LATE if the master or a relay did not keep up: the machine is then too small for the figures to count.
//
// # Worlds of one process
//
//	go run ./bench/serve -scene host -workers 2
//
// adds capstones to a host.Host until admission refuses one, and runs them for -ticks of real time at -hz. It reports how many
// worlds there are, how many of their ticks were late or dropped, quantiles of the time of a tick and of its lateness, and
// the CPU time of the process, which has as many CPUs as workers. -n admits fewer.
//
// # Logs
//
// Logs of the capstone or of limina, with commands from outside:
//
//	go run ./bench/serve record DIR
//	go run ./bench/serve replay verify DIR
//	go run ./bench/serve replay seek -tick 3000 DIR
//	go run ./bench/serve replay fork -tick 1000 -ticks 500 DIR NEWDIR
//	go run ./bench/serve replay diff DIR NEWDIR
//	go run ./bench/serve replay export -format trace -out run.json DIR
//	go run ./bench/serve replay rollback -frames 8
//	go run ./bench/serve replay view DIR
//
// record reports what a command costs in the log, in bytes and in time of the tick. seek reports
// how long a recovery takes from the nearest snapshot, and from tick 0. rollback reports what a
// frame costs if its input is late. view opens a page in which the log is played forwards and
// backwards, and compared with a second one.
//
// # Exit status
//
// The exit status is 0, 1 if the run failed, the levels differ, p95 is over -budget or a ratio has
// fallen, or 2 if a flag is wrong. Of commands on logs it is 1 if runs or logs are not the same,
// and 2 for every other error.
package main
