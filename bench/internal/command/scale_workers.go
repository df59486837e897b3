package command

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/native"
)

// workerTurns compares one worker with several at one size, by turns.
type workerTurns struct {
	N       int         `json:"n"`
	Workers int         `json:"workers"`
	One     []phaseCost `json:"one_worker"`
	Several []phaseCost `json:"several_workers"`
	Gain    float64     `json:"gain"`   // of the median step
	Serial  []string    `json:"serial"` // phases that the workers do not share
	Share   float64     `json:"serial_share"`
	Amdahl  float64     `json:"amdahl"` // the gain if the workers shared all other phases evenly
}

const (
	sharedSteps = 40                     // in which sharedPhases looks for helpers
	helpersPart = 0.25                   // of the CPU time of a phase that is shared, at least
	helpersRest = 200 * time.Microsecond // of CPU time, after which helpers no longer look for work
	sharedGain  = 1.1                    // of a phase that is shared, at least
)

// sharedPhases reports for each phase whether helpers do a part of its work: whether threads besides that of the caller
// take CPU time in it. That does not depend on how busy the machine is. The result is nil where the system does not
// report these times.
func sharedPhases(s *stepper) (map[string]bool, error) {
	if _, ok := ThreadTime(); !ok || s.watch == nil {
		return nil, nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func(was bool) { pace.Always = was }(pace.Always)
	pace.Always = true // else a busy machine gets no helpers
	var own, all time.Duration
	helped, total := map[string]time.Duration{}, map[string]time.Duration{}
	stop := s.watch(func() {
		for from, _ := ThreadTime(); own < from+helpersRest; { // so that helpers of the phase before do not count
			own, _ = ThreadTime()
		}
		all, _ = ProcessTime()
		own, _ = ThreadTime()
	}, func(phase string) {
		allNow, _ := ProcessTime()
		ownNow, _ := ThreadTime()
		helped[phase] += allNow - all - (ownNow - own)
		total[phase] += allNow - all
	})
	defer stop()
	for range sharedSteps {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	shared := map[string]bool{}
	for phase, t := range total {
		shared[phase] = float64(helped[phase]) >= helpersPart*float64(t)
	}
	return shared, nil
}

// takeWorkerTurns measures n entities with one worker and with several, by turns.
func (o *Options) takeWorkerTurns(s *sizeRange, n int, level native.Level, p patience, progress *Progress) (*workerTurns, error) {
	one := *o
	one.Workers = 1
	var sims [2]stepper
	var times [2]stepTimes
	for i, from := range []*Options{&one, o} {
		var err error
		if sims[i], err = s.open(from, n, level); err != nil {
			return nil, err
		}
	}
	p.least /= turn
	err := p.rounds(2, func(i, round int) error {
		progress.Show("%s -n %d: %d worker(s), turn %d", o.Scene, n, []int{1, o.Workers}[i], round)
		for range turn {
			if err := times[i].add(&sims[i], round >= 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(times[0].phases) == 0 {
		return nil, err
	}
	shared, err := sharedPhases(&sims[1])
	return compareWorkers(o.Workers, times[0].cost(n), times[1].cost(n), shared), err
}

// compareWorkers finds the phases that stay serial, and what these leave to gain. A nil shared is unknown: then the phases
// that gain a tenth count as shared.
func compareWorkers(workers int, one, several cost, shared map[string]bool) *workerTurns {
	t := &workerTurns{N: one.N, Workers: workers, One: one.Phases, Several: several.Phases, Gain: float64(one.P50) / float64(max(several.P50, 1))}
	serial := int64(0)
	for i, p := range one.Phases {
		isShared := shared[p.Name]
		if shared == nil {
			isShared = float64(p.P50) > sharedGain*float64(several.Phases[i].P50)
		}
		if !isShared {
			t.Serial = append(t.Serial, p.Name)
			serial += p.P50
		}
	}
	t.Share = float64(serial) / float64(max(sumOf(one.Phases), 1))
	t.Amdahl = 1 / (t.Share + (1-t.Share)/float64(workers))
	return t
}

func (t *workerTurns) write(w io.Writer) {
	table := TextTable(fmt.Sprintf("by turns, %s", Count(t.N)), "one worker, µs", fmt.Sprintf("%d workers, µs", t.Workers), "times as fast")
	for i, p := range t.One {
		gain := any(nil)
		if several := t.Several[i].P50; several > 0 {
			gain = fmt.Sprintf("%.2f", float64(p.P50)/float64(several))
		}
		table.Add(p.Name, micros(p.P50), micros(t.Several[i].P50), gain)
	}
	fmt.Fprintln(w)
	table.WriteText(w)
	fmt.Fprintf(w, "A step is %.2f times as fast with %d workers.\n", t.Gain, t.Workers)
	if len(t.Serial) > 0 {
		fmt.Fprintf(w, "Phases that stay serial take %.1f %% of a step with one worker:\n%s.\n", 100*t.Share, strings.Join(t.Serial, ", "))
	}
	fmt.Fprintf(w, "If the workers shared all other phases evenly, it would be %.2f times as fast.\n", t.Amdahl)
}
