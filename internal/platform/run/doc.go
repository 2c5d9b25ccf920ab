// Package run starts the parts of a server together and stops them one after the other, the last first, so that no part loses what
// it depends on while it still works: the listeners stop before the workers, and the workers before the database. The command line
// calls it. It never restarts a part: when one ends, the server stops. A part has 10 s to stop unless it sets a grace period.
// Drained delays the stop while load balancers are told, and TuneGC lets the heap grow by 400 % before a collection.
package run
