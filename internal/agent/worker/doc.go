// Package worker holds what the workers of the agents' jobs share: the server that they work for, their queues and attempts, and the
// limit of concurrent calls of a company. The other rooms of package agent call it; it knows none of them.
//
// Model calls, evaluations and pushes have a limit for each company on each node, so that calls that take a minute delay nothing
// else. A limit of that kind for runs was refused: with four workers it would slow every company down, and the queue would still be
// worked in the order of arrival.
package worker
