// Package sleep decides which bodies of a world are simulated. Bodies that are at rest fall asleep, whole islands at a time,
// and wake when something touches or changes them.
//
// A body that is awake is active. Any other body that was changed is active for one step: a floor that was moved, or a body
// that was disabled. A step works on the active bodies, of which [State.Spans] are the rows, and the bodies that touch
// them. The data of the others stays as it is: their poses, their bounds, and their contacts, which the engine keeps apart.
//
// A step calls [State.UpdateActive] first, which finds the bodies that a program has written to and wakes what was changed;
// [State.WakeTouched] each time it has computed which shapes touch, until that wakes no body; [State.Separated] for
// the bodies of contacts that ended; and at its end [State.EndStep], [State.Rest] for each awake body, and
// [State.SleepIslands].
//
// The package sees no position and no velocity, so it does not know how many dimensions the bodies have. The interface [Engine]
// asks the engine which bodies move. The engine also keeps the poses of bodies at rest, and lists the bodies that contacts and joints
// connect, each as an [Edge].
package sleep
