package paging

// Folded returns the SQL of text.Fold.
var Folded = folded
