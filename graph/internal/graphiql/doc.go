// Package graphiql is GraphiQL, the editor for GraphQL, as a page that needs nothing from elsewhere: its npm packages, at the
// exact versions of package-lock.json, bundled into dist/ by build.sh.
//
// Who calls it: graph, for cmd, which mounts it on the operators' listener and nowhere else. What it never does: give
// anybody a right. It is files; what is run in it goes to /graphql with the credential that the person has pasted, and
// without cookies.
package graphiql
