// Package proof shows that a simulation computes the same bits on every machine: one scenario with everything in it (Scene), a file of its hashes (Recording), the
// state at one tick as bytes that other machines can read (Photo), and what differs
// between two of either. Command internal/proof/prove builds, runs and compares.
package proof
