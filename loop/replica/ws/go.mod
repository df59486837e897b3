module github.com/evertick/evertick/loop/replica/ws

go 1.25.0

require (
	github.com/coder/websocket v1.8.15
	github.com/evertick/evertick v0.0.0
)

require (
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
)

replace github.com/evertick/evertick => ../../..
