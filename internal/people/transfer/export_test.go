package transfer

// Kinds exports kinds.
var Kinds = kinds
