// Package tools holds the operations that agents may use on a request or a task, the arguments that a model has of them, and the
// writes that an engine decides on. Nothing here decides or stores anything: plans, actions and calls with an agent's key run it.
//
// A tool has the GraphQL name of its operation. A model cannot change the text of a request: of updateRequest it has only team,
// assignee, priority and tags, of moveRequest only the offering, and it adds no files to a comment (FieldsOf).
package tools
