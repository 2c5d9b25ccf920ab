package op

// Undecided turns an error on the way to a decision into a refusal.
var Undecided = undecided
