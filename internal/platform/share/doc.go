// Package share divides the places of a process among companies, so that one that asks for many leaves some to others. Operations,
// streams and the engine of workflows take a place for work that costs much; one that no company can be named for takes none here.
// It counts places of one process only: places of all nodes are ratelimit.Seats.
package share
