// Package twin runs a game in a page of a browser: the same Sim as on the server, compiled to WebAssembly, in a worker of
// the page. The page is that of package inspect, in one file, with no server of its own.
//
// # Model
//
//	main of the program:   twin.Run(twin.Config{Scenario: game.Scenario, Steer: steer})
//	the page:              go run github.com/evertick/evertick/inspect/twin/build -o index.html ./web
//
// The page shows one of three:
//
//   - a Sim of the scenario that no one else runs. The page may pause and step it. Without Config.Alone it is paused at tick 0 at first;
//   - a client of a replica server in mode Simulate, over WebSocket. It gets a snapshot, and then the inputs of each tick,
//     and compares its hash with the server's after each. With Config.Steer it may play: its own inputs take effect
//     at once, in a second Sim that runs ahead. If the connection ends it tries again, after waits that grow;
//   - a log whose files were dropped on the page. It is played in the page, and each hash is compared.
//
// A log may be looked at while the client stays connected.
//
// # Building a page
//
// A game whose package is shared by its server and its page needs a program of some ten lines for the page, such as
// examples/web, and the command inspect/twin/build, which needs Go alone. The file works from any web server and from a
// disk. It requests nothing but the connection that its user asks for. A page from a disk, or of another host, must be
// allowed by ws.Config.Origins.
//
// A page that simulates has the whole state: games with secrets must refuse the mode in replica.Config.Authorize.
package twin
