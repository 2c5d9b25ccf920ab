// Package policies embeds the Rego modules and the roles' data that package authz evaluates.
package policies
