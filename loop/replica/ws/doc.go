// Package ws is a placeholder.
package ws
