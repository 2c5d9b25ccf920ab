package schema

import "entgo.io/ent/schema"

// Shown says how the doors show a column: REST's answers, GraphQL's type and expressions are generated from it (ent.Entity.Fields).
// The name is the column's in camel case, and the type follows from the column's, unless something else is said here.
type Shown struct {
	Doc     string
	Key     string  // the name at the doors
	Type    string  // GraphQL's, such as "ID!"
	Filled  string  // REST's Go type, of a value that a function in package rest makes: requestSLAOut for the sla of a request
	Example string  // at REST
	Also    []Shown // shown after it: what is no column, but made from the row
}

// Name is where templates find it.
func (Shown) Name() string { return "Shown" }

type showing func(*Shown)

// shown describes a column that answers show.
func shown(doc string, options ...showing) schema.Annotation {
	s := Shown{Doc: doc}
	for _, o := range options {
		o(&s)
	}
	return s
}

// typed sets GraphQL's type, where it does not follow from the column.
func typed(t string) showing { return func(s *Shown) { s.Type = t } }

// filled sets REST's Go type of a value that package rest makes.
func filled(t string) showing { return func(s *Shown) { s.Filled = t } }

// eg sets the example at REST.
func eg(example string) showing { return func(s *Shown) { s.Example = example } }

// of sets an id of that prefix as the example.
func of(prefix string) showing { return eg(ExampleID(prefix)) }

// ExampleID is the id that examples have.
func ExampleID(prefix string) string { return prefix + "_01k9ye4ryzf7stj6dqnm8x2v3b" }

// also shows something after the column that is no column.
func also(key, typ, doc string, options ...showing) showing {
	more, _ := shown(doc, options...).(Shown)
	more.Key, more.Type = key, typ
	return func(s *Shown) { s.Also = append(s.Also, more) }
}
