// Package lifecycle says which requests, tasks and executions are open, which means that they have not ended. Code that selects, counts
// or ends open work asks here, by a predicate for queries or about one status.
package lifecycle
