// Package limit measures an operation before it is validated or run, and refuses one that is too large. Package graph calls it.
//
// A fragment is measured once, however often it is spread. So measuring takes time in proportion to the document's length, even
// if its fragments would expand to astronomical sizes. The package runs and validates nothing: fields that the schema does not
// know count like any other.
package limit
