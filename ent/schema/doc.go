// Package schema holds one entity a file. Fields, edges and indexes are declared here and nowhere else. ent/entc is
// the generator with our templates; the rest of ent/ is generated from this package.
package schema
