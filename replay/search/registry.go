package search

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
)

// Task is what the jobs of one call of Pool.Do have in common.
type Task struct {
	// Function is the name of what does the jobs, in the Registry of each worker.
	Function string
	// SimVersion that a worker must have. 0: this program's.
	SimVersion uint32
	// Shared is what the function needs for all jobs.
	Shared []byte
}

// Version returns the SimVersion that a worker must have.
func (t Task) Version() uint32 {
	if t.SimVersion == 0 {
		return evertick.SimVersion
	}
	return t.SimVersion
}

// Function prepares for the jobs of a task, once for each goroutine that does them.
type Function func(shared []byte) (Work, error)

// Work does a job. The result, and whether there is an error, must depend on the task and the job alone. A
// job whose ctx is cancelled should end soon, with any error. One goroutine calls it at a time.
type Work func(ctx context.Context, job []byte) ([]byte, error)

// Registry is what a worker can do. All names of one kind are different. Its functions must
// be safe for concurrent use.
type Registry struct {
	// Scenarios and Failures are for FindSeeds and Shrink.
	Scenarios []replay.Scenario
	Failures  map[string]replay.Failure
	// Functions do other jobs. A name that begins with "search." belongs to a function of this package.
	Functions map[string]Function
}

// tryName is the function of FindSeeds and Shrink.
const tryName = "search.try"

// Open prepares for the jobs of a task. The error wraps evertick.ErrUnsupported and contains the name or the
// version that this registry lacks. A panic in a job is an error of the job.
func (r *Registry) Open(t Task) (Work, error) {
	if v := t.Version(); v != evertick.SimVersion {
		return nil, fmt.Errorf("%w, that of the worker %d", fault.Field(fault.ErrUnsupported, "search: Task.SimVersion", v), evertick.SimVersion)
	}
	open := r.Functions[t.Function]
	if t.Function == tryName {
		open = r.openTry
	}
	if open == nil {
		return nil, lacks("Task.Function", t.Function, slices.Sorted(maps.Keys(r.Functions))) // order-free: sorted
	}
	work, err := open(t.Shared)
	if err != nil {
		return nil, fmt.Errorf("search: function %q: %w", t.Function, err)
	}
	return func(ctx context.Context, job []byte) (result []byte, err error) {
		defer func() {
			if v := recover(); v != nil {
				result, err = nil, fmt.Errorf("panic: %v", v)
			}
		}()
		return work(ctx, job)
	}, nil
}

// lacks returns the error for a name that is not in a registry.
func lacks(field, name string, has []string) error {
	return fmt.Errorf("%w: the worker has %q", fault.Field(fault.ErrUnsupported, "search: "+field, fmt.Sprintf("%.80q", name)), has)
}

// find returns the scenario and the failure with these names.
func (r *Registry) find(scenario, failure string) (sc replay.Scenario, fails replay.Failure, err error) {
	i := slices.IndexFunc(r.Scenarios, func(sc replay.Scenario) bool { return sc.Name == scenario })
	if i < 0 {
		var has []string
		for _, sc := range r.Scenarios {
			has = append(has, sc.Name)
		}
		return sc, nil, lacks("scenario", scenario, has)
	}
	if fails = r.Failures[failure]; fails == nil {
		return sc, nil, lacks("failure", failure, slices.Sorted(maps.Keys(r.Failures))) // order-free: sorted
	}
	return r.Scenarios[i], fails, nil
}
