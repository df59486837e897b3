package native

import "testing"

func TestInfo(t *testing.T) { t.Log(Info()) }
