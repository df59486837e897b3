package main

import "github.com/evertick/evertick/bench/internal/command"

func main() { command.Main() }
