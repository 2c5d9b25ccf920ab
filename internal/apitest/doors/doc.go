// Package doors holds REST and GraphQL against each other: one operation, called through both by every kind of caller,
// has the same outcome. It has tests and nothing else; they are the only ones that know both doors.
package doors
