package password

// Watch makes the Hasher call before at the start of every verification, while it holds a worker.
func (h *Hasher) Watch(before func()) { h.before = before }

// Waiting returns how many callers wait for a worker.
func (h *Hasher) Waiting() int {
	h.turns.mu.Lock()
	defer h.turns.mu.Unlock()
	return h.turns.waiting
}
