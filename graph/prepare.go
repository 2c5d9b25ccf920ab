package graph

import (
	"context"
	"errors"
	"maps"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"

	"atrium/graph/internal/fault"
	"atrium/graph/internal/limit"
	"atrium/internal/gate"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// costPerCall is the cost that counts as one additional call against the caller's rate limit.
const costPerCall = 1_000

// costlyCalls is how many additional calls an operation counts as from which it is costly: it waits for the others of its company. The
// costliest take a processor for hundreds of milliseconds.
const costlyCalls = 5

// prepare makes a call ready to run, in this order: it looks up and parses the document, checks its size and charges for its
// cost, validates it, and reads the variables. It sends no database statement.
func (s *Server) prepare(ctx context.Context, c *call) (*graphql.OperationContext, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return nil, apperr.Unauthenticated(nil)
	}
	query, err := s.queryOf(p, c)
	if err != nil {
		return nil, err
	}
	schema := s.schema.Schema()
	doc, err := s.documents.parse(query)
	if err != nil {
		return nil, err
	}
	operation := doc.ast.Operations.ForName(c.OperationName)
	if operation == nil {
		return nil, apperr.InvalidField("operationName", "must name one of the document's operations")
	}
	wholes(schema, operation, c.Variables)
	if err := s.admit(ctx, p, schema, doc.ast, operation, c.Variables); err != nil {
		return nil, err
	}
	if err := s.documents.validate(schema, doc); err != nil {
		return nil, invalid(schema, doc.ast, operation, c.Variables, err)
	}
	if len(fault.Variables(schema, operation, c.Variables)) > 0 {
		return nil, invalid(schema, doc.ast, operation, c.Variables, nil)
	}
	variables, err := validator.VariableValues(schema, operation, doc.defaults(operation, c.Variables))
	if err != nil {
		return nil, invalid(schema, doc.ast, operation, c.Variables, err)
	}
	maps.Copy(variables, doc.numbers)
	return &graphql.OperationContext{
		RawQuery: query, OperationName: c.OperationName, Variables: variables, Doc: doc.ast, Operation: operation,
		RecoverFunc:            s.recovered,
		DisableIntrospection:   !mayIntrospect(p),
		ResolverMiddleware:     func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) },
		RootResolverMiddleware: func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) },
	}, nil
}

// admit checks an operation against the limits, including those of the caller's company, and charges for its cost.
func (s *Server) admit(
	ctx context.Context, p *principal.Principal, schema *ast.Schema, doc *ast.QueryDocument, o *ast.OperationDefinition,
	variables map[string]any,
) error {
	limits, ok := gate.Limit(ctx)
	if !ok {
		return errors.New("graph: the call did not come through the gate")
	}
	size, err := limit.Measure(schema, doc, o, variables, limits.QueryCost)
	if err != nil {
		return err
	}
	if size.Introspects && !mayIntrospect(p) {
		return apperr.New(apperr.Validation, "Introspection is for admins and owners.")
	}
	further := furtherCalls(o, size)
	if further == 0 {
		return nil
	}
	if err := gate.Charge(ctx, further); err != nil || further < costlyCalls || o.Operation == ast.Subscription {
		return err
	}
	return gate.TakeCostly(ctx)
}

// furtherCalls returns how many calls an operation counts against the caller's rate limit in addition to the first: one for every
// thousand of its cost, rounded, and one for every mutation after the first.
func furtherCalls(o *ast.OperationDefinition, size limit.Size) int {
	n := (size.Cost + costPerCall/2) / costPerCall
	if o.Operation == ast.Mutation {
		n += size.RootFields - 1
	}
	return n
}

// mayIntrospect reports whether the caller may read the schema.
func mayIntrospect(p *principal.Principal) bool {
	return p.Role == principal.Admin || p.Role == principal.Owner
}

// queryOf returns the text of a call's document. With a session cookie only registered documents may run if there are trusted
// documents, or if a page's script sent the call and the documents of the product's pages are known.
func (s *Server) queryOf(p *principal.Principal, c *call) (string, error) {
	id := c.DocumentID
	if id == "" {
		id = c.Extensions.PersistedQuery.Hash
	}
	known, registered := s.document(id)
	switch {
	case registered && (c.Query == "" || c.Query == known):
		return known, nil
	case registered:
		return "", apperr.InvalidField("query", "is not the document with this id")
	case p.Method == principal.MethodSession && (s.Trusted != nil || s.Pages != nil && c.fromPage):
		if text, ok := s.document(hashOf(c.Query)); ok && id == "" {
			return text, nil
		}
		return "", apperr.InvalidField("query", "is no registered document")
	case c.Query == "" && id != "":
		return "", apperr.InvalidField("documentId", "is no registered document")
	case c.Query == "":
		return "", apperr.InvalidField("query", "is required")
	}
	return c.Query, nil
}

// document returns the registered document with this hash.
func (s *Server) document(hash string) (string, bool) {
	if text, ok := s.Trusted[hash]; ok {
		return text, true
	}
	text, ok := s.Pages[hash]
	return text, ok
}
