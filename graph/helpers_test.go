package graph_test

import (
	"errors"
	"log/slog"
)

var discard = slog.New(slog.DiscardHandler)

// explosive is a sealer that panics.
type explosive struct{}

func (explosive) Seal(plaintext, _ []byte) ([]byte, error) {
	if string(plaintext) == "PANICS" {
		panic("kaboom")
	}
	return nil, errors.New("kaboom")
}

func (explosive) Unseal([]byte, []byte) ([]byte, error) { return nil, errors.New("kaboom") }

// introspection is the query that GraphiQL sends when it opens.
const introspection = `query IntrospectionQuery {
  __schema {
    description queryType { name kind } mutationType { name kind } subscriptionType { name kind }
    types { ...FullType }
    directives { name description isRepeatable locations args(includeDeprecated: true) { ...InputValue } }
  }
}
fragment FullType on __Type {
  kind name description specifiedByURL
  fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason }
  inputFields(includeDeprecated: true) { ...InputValue }
  interfaces { ...TypeRef }
  enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  possibleTypes { ...TypeRef }
}
fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue isDeprecated deprecationReason }
fragment TypeRef on __Type {
  kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name
    ofType { kind name ofType { kind name } } } } } } } } }
}`
