package decisionlog

// Queued returns how many decisions wait to be written.
func (s *Sampler) Queued() int { return len(s.queue) }
