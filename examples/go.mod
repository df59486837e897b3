module github.com/evertick/evertick/examples

go 1.25.0

require (
	github.com/evertick/evertick v0.0.0
	github.com/evertick/evertick/internal/browser v0.0.0
	github.com/hajimehoshi/ebiten/v2 v2.8.8
	golang.org/x/term v0.40.0
)

require (
	github.com/chromedp/cdproto v0.160.1 // indirect
	github.com/chromedp/chromedp v0.23.1 // indirect
	github.com/coder/websocket v1.8.15 // indirect
	github.com/ebitengine/gomobile v0.0.0-20240911145611-4856209ac325 // indirect
	github.com/ebitengine/hideconsole v1.0.0 // indirect
	github.com/ebitengine/purego v0.8.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/jezek/xgb v1.1.1 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/sync v0.8.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
)

replace github.com/evertick/evertick => ../

replace github.com/evertick/evertick/internal/browser => ../internal/browser
