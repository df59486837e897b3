// Package replica sends the state of a Sim to many clients, and takes their inputs.
package replica
