// Package graphiql is GraphiQL, the editor for GraphQL, as a page without external resources: build.sh bundles its npm packages,
// at the exact versions of package-lock.json, into dist/.
//
// Package graph serves it for cmd, which mounts it on the operators' listener and nowhere else. The package gives nobody a right:
// it is files. A call made in the page goes to /graphql with the credential that the person has pasted, and without cookies.
package graphiql
