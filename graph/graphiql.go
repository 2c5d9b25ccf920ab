package graph

import (
	"net/http"

	"atrium/graph/internal/graphiql"
	"atrium/internal/gate"
)

// GraphiQLPath is where GraphiQL has to be mounted, with all below it, beside /graphql.
const GraphiQLPath = graphiql.Path

// GraphiQL returns the pages of GraphiQL. They ask nobody who they are, hold nothing of any company, and give no rights:
// what is run in them comes to /graphql with the credential that the person has pasted.
func GraphiQL() http.Handler {
	pages := graphiql.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gate.SetRoute(w, GraphiQLPath)
		pages.ServeHTTP(w, r)
	})
}
