// Package e2e holds the tests that see ctxd as its callers do: through REST, MCP over HTTP and stdio, and the command line.
//
// One suite runs through every door, so that no rule can hold at one and not at another; further tests try what only one door
// has: raw sockets, event streams, sessions, signals. There is no code in it beside tests, and nothing imports it.
package e2e
