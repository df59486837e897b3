// Module wasi pins the runtime in which prove runs wasip1, away from the module that others import.
module github.com/evertick/evertick/internal/proof/wasi

go 1.25.0

tool github.com/tetratelabs/wazero/cmd/wazero

require (
	github.com/tetratelabs/wazero v1.12.0 // indirect
	golang.org/x/sys v0.44.0 // indirect
)
