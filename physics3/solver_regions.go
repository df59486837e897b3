package physics3

import (
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/stage"
)

// regions is what solveRegions works in.
type regions struct {
	stages  stage.Regions[solver]
	cut     regionCut // for which the rows were cut
	age     int       // steps since then
	pause   int       // steps without regions that are left, since they were of no use
	bounces [graph.MaxRegions]bool
}

// regionCut is what decides how rows are cut, about.
type regionCut struct{ regions, rows, bytes int }

// leastRegionBytes is the memory of blocks that justifies regions: with less a colour is over before the next worker begins it.
const leastRegionBytes = 256 << 10

// keptCut is the number of steps for which regions keep their rows, and for which there are none after they were of no use.
const keptCut = 64

// mostCrossing is the share of contacts and joints between regions up to which regions are of use.
const mostCrossing = 0.1

// splitRegions lays out the blocks that are in no group by region, one for each worker, and reports whether there are any. There are none if
// there is one worker or little to do, if many contacts join different regions, or if hashes of sub-steps or a recorder need stages.
func (s *solver) splitRegions() bool {
	r, sys, t := &s.regions, &s.sys, &s.stages.Team
	want := regionCut{t.Workers(), s.rows(), sys.RestBytes()}
	if want.regions == 1 || want.regions > graph.MaxRegions || s.stages.Hashes.On || t.Record != nil {
		return false
	}
	if want.bytes < leastRegionBytes && !pace.Always {
		return false
	}
	if r.pause--; r.pause > 0 && !pace.Always {
		return false
	}
	if r.age++; r.age > keptCut || !r.cut.like(want) {
		r.cut, r.age = want, 0
	}
	if r.age == 0 {
		sys.ForgetRegions()
	}
	if !sys.RegionsFit() {
		r.cut = regionCut{}
		return false
	}
	if r.age == 0 {
		sys.CutRegions(want.regions, sys.RestRows())
		if sys.Crossing() > mostCrossing && !pace.Always {
			r.cut, r.pause = regionCut{}, keptCut
			return false
		}
	}
	chunks := (len(s.contacts) + pairChunk - 1) / pairChunk
	sys.Colours.ReserveRegions(&sys.Regions)
	s.stages.ForParts(chunks, (*solver).markRegions)
	s.stages.ForParts(chunks, (*solver).countRegions)
	sys.LayOutRegions()
	s.stages.ForParts(chunks, (*solver).fillRegions)
	return true
}

// like reports whether rows that are cut for c are cut well enough for d.
func (c regionCut) like(d regionCut) bool {
	return c.regions == d.regions && c.rows == d.rows && 8*max(c.bytes-d.bytes, d.bytes-c.bytes) <= c.bytes
}

func (s *solver) markRegions(lo, hi int) {
	s.sys.MarkRegions(lo*pairChunk, min(hi*pairChunk, len(s.contacts)))
}

func (s *solver) countRegions(lo, hi int) {
	s.sys.CountRegions(lo*pairChunk, min(hi*pairChunk, len(s.contacts)))
}

func (s *solver) fillRegions(lo, hi int) {
	s.sys.FillRegions(lo*pairChunk, min(hi*pairChunk, len(s.contacts)))
}

// solveRegions is runSolveStages for blocks by region. All sub-steps of a region are done by one worker, which waits at each stage only for the
// regions that share bodies with its own.
func (s *solver) solveRegions() {
	r, sys := &s.regions, &s.sys
	contacts, joints := &sys.Regions, &sys.JointRegions
	r.stages.Begin(contacts.Count, contacts.Of, sys.RestRows())
	inner := contacts // of these, one region waits for the others only where they share bodies: of joints only if no contact shares others
	if sys.Colours.Coloured() == 0 {
		inner = joints
	}
	r.stages.Inner(inner)
	r.stages.Bodies((*solver).prepareBodies)
	r.stages.Whole((*solver).prepareRegion)
	pace.Name((*solver).prepareRegion)
	r.stages.Run(&s.stages, contacts, joints)
	bounces := false
	for _, b := range r.bounces[:contacts.Count] {
		bounces = bounces || b
	}
	for sub := range sys.SubSteps {
		if sub == 0 {
			r.stages.Bodies((*solver).integrateFirst)
			r.stages.Blocks(joints, (*solver).warmStartJoints)
			r.stages.Blocks(contacts, (*solver).warmStart)
		} else {
			r.stages.Bodies((*solver).integrateNext)
		}
		r.stages.Blocks(joints, (*solver).solveJoints)
		r.stages.Blocks(contacts, (*solver).solveContacts)
		r.stages.Bodies((*solver).integratePositions)
		r.stages.Blocks(joints, (*solver).relaxJoints)
		r.stages.Blocks(contacts, (*solver).relaxContacts)
		if bounces {
			r.stages.Blocks(contacts, (*solver).applyRestitution)
		}
	}
	r.stages.Whole((*solver).storeRegion)
	r.stages.Bodies((*solver).finalizeStates)
	pace.Name((*solver).solveRegions)
	r.stages.Run(&s.stages, contacts, joints)
}

// prepareRegion prepares the joints and contacts of a region.
func (s *solver) prepareRegion(region int) {
	lo, hi := s.sys.JointRegions.Blocks(region)
	s.sys.PrepareJoints(lo, hi)
	lo, hi = s.sys.Regions.Blocks(region)
	s.sys.PrepareContacts(lo, hi)
	s.regions.bounces[region] = s.sys.HasRestitution(lo, hi)
}

// storeRegion stores the impulses of a region.
func (s *solver) storeRegion(region int) {
	lo, hi := s.sys.JointRegions.Blocks(region)
	s.sys.StoreJointImpulses(lo, hi)
	s.sys.StoreImpulses(s.sys.Regions.Blocks(region))
}

func (s *solver) integrateFirst(lo, hi int) { s.sys.IntegrateVelocities(0, lo, hi) }
func (s *solver) integrateNext(lo, hi int)  { s.sys.IntegrateVelocities(1, lo, hi) }
