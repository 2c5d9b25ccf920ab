package graph

import (
	"net/http"

	"atrium/graph/internal/graphiql"
	"atrium/internal/gate"
)

// GraphiQLPath is the path at which GraphiQL must be mounted, with everything below it, beside /graphql.
const GraphiQLPath = graphiql.Path

// GraphiQL returns the pages of GraphiQL. They need no authentication, contain no company's data and give no rights: a call made
// in them goes to /graphql with the credential that the person has pasted.
func GraphiQL() http.Handler {
	pages := graphiql.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gate.SetRoute(w, GraphiQLPath)
		pages.ServeHTTP(w, r)
	})
}
