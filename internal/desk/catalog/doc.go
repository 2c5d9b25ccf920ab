// Package catalog holds what a company offers: services, their offerings and the offerings' forms.
//
// REST and GraphQL run its operations. Package request files requests against these offerings; this package
// does not.
package catalog
