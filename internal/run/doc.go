// Package run starts the parts of a server in order and stops them in reverse order, so that no part loses what it depends on
// while it still works: the listeners stop before the workers, and the workers before the database. The command line calls it.
// It never restarts a part: when one ends, the server stops.
package run
