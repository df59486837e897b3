module github.com/evertick/evertick

go 1.25.0

require (
	github.com/ByteArena/box2d v1.0.2
	github.com/coder/websocket v1.8.15
	github.com/google/jsonschema-go v0.4.3
	github.com/klauspost/compress v1.20.3
	github.com/klauspost/cpuid/v2 v2.3.0
	github.com/zeebo/xxh3 v1.1.0
	golang.org/x/sys v0.41.0
	pgregory.net/rapid v1.3.0
)

require github.com/pmezard/go-difflib v1.0.0 // indirect
