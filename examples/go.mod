module github.com/evertick/evertick/examples

go 1.25.0

require (
	github.com/evertick/evertick v0.0.0
	golang.org/x/term v0.40.0
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
)

replace github.com/evertick/evertick => ../
