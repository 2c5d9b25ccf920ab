// Package run starts the server's parts in order and stops them in the opposite order, so that nobody loses what stands
// under it while it still works: the listeners stop before the workers, the workers before the database.
package run
