package transfer

// Kinds exports kinds, and WorkFactor and MaxLine the bounds of a file.
var Kinds = kinds

const (
	WorkFactor = workFactor
	MaxLine    = maxLine
)
