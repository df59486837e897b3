// Package inspector answers what a page asks about simulations: about a Sim that runs, and about the past in
// its log. It uses neither HTTP nor files, so it also runs in a page, as js/wasm. Looking never changes a
// Sim: it has the same hashes without an Inspector.
//
// # Model
//
//	pages ──▶ Answer ──▶ routes ──▶ handler ──▶ subject "live", "log" or "other"
//	                                                │ do(key, task), doCopy(key, copying), pictures
//	                                                ▼
//	safe points: after a tick, after ─────────▶ hub    requests that wait, and what was recorded
//	a frame, and Between                            │ copies
//	                                                ▼
//	                                              reader filters, sorts and formats
//
// A subject is a Sim that pages look at. Only one goroutine may touch a Sim, so a request leaves a task
// with the hub of its subject, and waits. The goroutine of the Sim runs it at a safe point. Requests
// with the same key that wait for the same safe point share one run: ten pages cost what one costs. A task
// reads little, or it only copies what it needs: then the reader, one goroutine of the hub, makes the answer.
//
// The live subject has its safe points in the hooks AfterTick and AfterFrame of a Sim that the program
// steps. A Sim that has frames while time is paused keeps answering. A host that neither steps nor has
// frames calls [Inspector.Between]. The subjects of logs have goroutines of their own, which make safe
// points whenever a request waits, and between the ticks while they go to another one. Answer waits for
// channels and timers only, so it also works where one thread has to do everything, as in js/wasm, if it
// runs on a goroutine of its own there.
//
// # Without a safe point
//
// A request that has waited for a second gets status 503 with "stalled". After the failure of a Sim no
// safe point comes, and what the failed tick has left half-way must not be read from another goroutine.
// Then each request gets what was read last for its key, with "stale", and GET frame the last picture; a
// request that nobody has made before gets 503. A host that still owns the failed Sim may go on to call
// Between, at least twice a second: then pages see the state in which it stopped. After a Restore and a tick
// all is as before. A Sim whose Run has ended is stalled, since the host may run it again. Requests that wait
// at a Close get 503.
//
// # Cost
//
// While no page asks, a tick records its hash and its duration and looks whether requests wait; it
// allocates nothing. See BenchmarkIdleTick.
//
// While pages ask, safe points have a budget, however many pages there are and whatever they ask for. It is counted in bytes
// that are copied: 256 MiB a second, and 4.3 MiB at one safe point, where the last piece of work may exceed that: then
// later safe points do nothing until the rate has made up for it. A piece is a task, one picture, or for the columns of a world as many
// columns as the budget allows. Tasks that read little, tasks that copy, and pictures alternate; so do tasks of different clients
// (Request.Client). At most two copies exist at a time. A request whose turn has not come after 8 s gets status 503.
// The Sims of logs have no budget: nobody waits for them but those that look.
//
// Pictures of one Sim are at least 1/60 s apart, farther if they took long, so that they take at most a quarter of its time.
//
// # Requests
//
// The parameter "of" names the subject: "live", "log" or "other". Without it, it is the live Sim if there is
// one, and otherwise the log. Numbers that JSON lacks are strings: "NaN", "+Inf", "-Inf". A hash has 16
// hexadecimal digits. A tick is a number of completed ticks. An answer of status 400 or more is an object
// whose "error" names the parameter and its value.
//
//	GET status        what runs, and how; never waits
//	GET frame         a picture, in binary: below
//	GET geometry?id=  the triangles of a content that a picture in space names, in binary: see the function geometry
//	GET world         columns, tags and systems
//	GET hashes?after= hashes of the last 4,096 ticks, as "own"; in a twin also its server's
//	GET steps?after=  durations of the last 4,096 ticks, in ns; 0 under Config.Untimed; never waits
//
// The other files of this package document their requests.
//
// # Pictures
//
// GET frame?after=SEQ waits up to 250 ms for a picture later than SEQ, and answers 204 without a body if
// none came. Equal seq means the same state, which changes with a tick, a spawn, a Restore, or a Touch;
// so a Sim that is paused has no new pictures. After 0 any picture will do: a page asks so at first, after
// run has changed, and after it has changed its options. The state in the head is that at the time of the
// picture; status has the present one. The options are
//
//	by=NAME        colour entities by a number: a column such as "hp" or "position.x", or a number in a
//	               column of arrays such as "vel[1]": see the type numberName
//	tag=NAME       colour them by a tag, as 0 or 1
//	shapes=0       leave out circles, polygons and lines
//	contacts=1     add lines and circles for contacts, joints=1 for joints,
//	velocities=1   for velocities, boxes=1 for the boxes around shapes
//	space=1        bodies in space instead of those in the plane: see below
//	selected=SLOT  add lines for the forces on the body of an entity in the last step, in space also for its velocity, spin and contacts
//	have=V         leave out the section slots if slots_version is V, since it has not changed
//
// The body begins with the length n of the head, a little-endian uint32, and the head: JSON of n bytes,
// padded with spaces so that 4+n is a multiple of 8. Each section begins at the multiple of 8, counted
// from the start of the body, that the head names. Sections hold little-endian arrays, in this order; a section
// without elements is left out. count is the number of elements of type, not of rows.
//
//	slots           u32 × N   live slots, ascending
//	x, y            f32 × N   positions along the two axes of the plane, which status names
//	by              f32 × N   the number to colour by
//	circles         f32 × 5k  centre x and y, radius, and the first axis of the body, 0 and 0 for a mark
//	circle_colours  u32 × k   0xRRGGBBAA: physics.Color with AA = 0xff after it
//	polygons        u32 × 2k  first vertex and count, in points/2; two vertices are a capsule or a segment
//	polygon_radius  f32 × k   all points within this distance belong to it
//	polygon_colours u32 × k
//	points          f32 × 2p  vertices x and y
//	lines           f32 × 4k  from x and y to x and y
//	line_colours    u32 × k
//	extent          f32 × 4   least x and y, greatest x and y of all that has finite positions
//
// A picture in space has slots and by as above, x and y along the axes of the world, no other section of the above, and
//
//	z                 f32 × N
//	instances         f32 × 10k  of each shape the position, the rotation as x, y, z, w, and the size
//	instance_colours  u32 × k    0xRRGGBBFF, where FF has the bits of internal/draw3: asleep, sensor, static, disabled
//	instance_rows     u32 × k    the row of the entity, 0xffffffff if there is none
//	lines3            f32 × 6m   from x, y, z to x, y, z
//	line3_colours     u32 × m
//	extent3           f32 × 6    least and greatest x, y and z of what moves, or else of all
//
// Its head has "space": {"up", the unit vector against gravity, and "batches"}. A batch is instances of one form, from "first" on, "count" of them; all
// batches follow each other. The form "box" has half its edge lengths as size; "round", a ball or a capsule along its y axis, the radius and half the length
// without the ends. The forms "hull" and "surface" have 1, 1, 1, and "geometry" names what GET geometry returns.
//
// # More requests
//
// A handler is a method of Inspector in a table of its own file; see routes. It calls ask with a key that
// holds all parameters on which the result depends, and a task. Records that need every tick are added to
// hub.eachTick by New.
package inspector
