//go:build !js

package twin

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

// Run is the main function of the program of a page: it runs in a worker, answers the page, and never returns unless it
// cannot begin. The error is that of Config.Validate or of the Scenario, and ErrUnsupported but for GOOS=js.
func Run(c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	return fmt.Errorf("twin: a page runs this program: build it with inspect/twin/build: %w", fault.ErrUnsupported)
}
