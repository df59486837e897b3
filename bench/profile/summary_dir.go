package profile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/evertick/evertick/internal/fault"
)

// The files of a run.
const (
	nameOfSummary = "summary.json"
	nameOfSteps   = "steps.csv"
	nameOfBench   = "bench.txt"
	nameOfTrace   = "trace.json"
	nameOfHTML    = "report.html"
)

// WriteDir writes summary.json, steps.csv, bench.txt, trace.json and report.html into a folder,
// which it creates if necessary, and returns their paths, also as Report.Files. It writes drafts
// and renames them when all are complete, so that no file is incomplete, and the files of two runs do
// not mix. With an error it returns the paths of the files that it had already renamed.
func (rep *Report) WriteDir(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	rep.Files = nil
	files := []struct {
		name  string
		write func(io.Writer) error
	}{
		{nameOfSummary, rep.WriteSummary},
		{nameOfSteps, rep.Run.writeSteps},
		{nameOfBench, rep.Run.writeBench},
		{nameOfTrace, rep.Run.writeTrace},
		{nameOfHTML, rep.writeHTML},
	}
	var drafts []string
	defer func() {
		for _, draft := range drafts {
			_ = os.Remove(draft) // which exists unless it was renamed
		}
	}()
	for _, f := range files {
		draft, err := writeDraft(filepath.Join(dir, f.name), f.write)
		if err != nil {
			return nil, fmt.Errorf("profile: %s: %w", f.name, err)
		}
		drafts = append(drafts, draft)
	}
	for i, f := range files {
		path := filepath.Join(dir, f.name)
		if err := os.Rename(drafts[i], path); err != nil {
			return rep.Files, fmt.Errorf("profile: %s: %w", f.name, err)
		}
		rep.Files = append(rep.Files, path)
	}
	return rep.Files, nil
}

func writeDraft(path string, write func(io.Writer) error) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return "", err
	}
	if err := errors.Join(write(file), file.Chmod(0o644), file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// ReadDir reads a run from the summary.json and steps.csv of a folder. Beside the errors of
// ReadSummary and readSteps it returns ErrCorrupt if they are not of the same run, or if the run
// does not pass Run.Validate.
func ReadDir(dir string) (*Run, error) {
	summary, err := readFile(filepath.Join(dir, nameOfSummary), ReadSummary)
	if err != nil {
		return nil, err
	}
	steps, err := readFile(filepath.Join(dir, nameOfSteps), readSteps)
	if err != nil {
		return nil, err
	}
	if steps.Len() != summary.Steps {
		return nil, fmt.Errorf("profile: %s: %d steps in %s, %d in %s: %w", dir, summary.Steps, nameOfSummary, steps.Len(), nameOfSteps, fault.ErrCorrupt)
	}
	run := summary.Run()
	run.Steps = *steps
	if err := run.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", dir, err, fault.ErrCorrupt)
	}
	return run, nil
}

func readFile[T any](path string, read func(io.Reader) (T, error)) (T, error) {
	file, err := os.Open(path)
	if err != nil {
		var none T
		return none, fmt.Errorf("profile: %w", err)
	}
	defer file.Close()
	value, err := read(file)
	if err != nil {
		return value, fmt.Errorf("%s: %w", path, err)
	}
	return value, nil
}
