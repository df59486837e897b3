// Package stage runs the stages of a step, one after the other, on one worker or on several: over rows, over blocks of
// constraints by colour, over parts, and over spans of active rows. It knows neither bodies nor the number of dimensions, so
// engines share it.
//
//	var r stage.Runner[solver]
//	r.Open(s)
//	err := r.Run(workers, rows, func() {
//		r.ForSpans(active, (*solver).integrate)
//		r.ForRanges(contacts, (*solver).solveContacts)
//	})
//
// A result may depend on spans and parts, but not on where a chunk of rows or blocks begins, because that depends on the number of
// workers. What a stage must merge in order, it merges by spans or parts.
package stage
