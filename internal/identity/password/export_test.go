package password

// Watch makes the Hasher call before at the start of every verification, while it holds a worker.
func (h *Hasher) Watch(before func()) { h.before = before }

// Waiting returns how many callers wait for a worker.
func (h *Hasher) Waiting() int { return int(h.waiting.Load()) }
