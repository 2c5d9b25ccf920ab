// Package fault reports what is wrong with the arguments of an operation, field by field.
//
// GraphQL's own validation stops at the first fault of a variable, accepts numbers as strings and enums in any case, and repeats
// values in its messages. The details made here say what each field must be, as package input does for REST's bodies, and never
// what it was.
//
// Package graph calls it before an operation runs. It reads nothing but the schema and the call.
package fault
