package text

// Lengths of columns that several packages write, in bytes.
const (
	MaxEmail     = 254 // RFC 5321: a path has 256, with its brackets
	MaxID        = 64  // of a row, or of a call
	MaxUserAgent = 300
)
