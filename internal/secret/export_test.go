package secret

// Shares reports whether the masks of two calls are one in memory, besides what they hide alone.
func (u Uses) Shares(v Uses) bool { return u.Mask.pieces == v.Mask.pieces }

// Memory returns the bytes that a mask takes.
func (u Uses) Memory() int { return u.Mask.pieces.size() + 8*len(u.Mask.alone) }
