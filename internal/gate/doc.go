// Package gate holds, as tests, the checks for "same bits everywhere" that no unit test
// can make.
//
//   - TestSource reads the core packages: nothing in them may depend on map order, wall
//     time, the environment or a library function whose bits differ between machines.
//     TestPlainEnglish searches all texts for words that readers stumble over. Both run
//     with every go test.
//   - TestGoListing and TestCDisassembly read what the compilers made: no fused
//     multiply-add anywhere, no approximate reciprocal, vector instructions in
//     every kernel that claims to be vector, none in portable ones.
//   - TestConsumer builds a module that depends on this one, directly and
//     vendored, with cgo and without.
//   - The …Teeth tests break each rule in a scratch folder and check that the gate
//     notices it.
//
// All but TestSource and TestPlainEnglish need compilers, objdump and half a minute, so
// they run only if EVERTICK_GATE is set: use make gate and make consumer. A missing
// objdump is then a failure; a missing cross compiler is reported as "not run".
package gate
