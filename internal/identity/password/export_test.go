package password

import "slices"

// Watch makes the Hasher call before ahead of every verification's work, while it holds a worker.
func (h *Hasher) Watch(before func()) {
	perform := h.perform
	h.perform = func(t task) (done, error) {
		if t.Hash != "" {
			before()
		}
		return perform(t)
	}
}

// Cheapen makes the Hasher's hashes cheap, for tests that need many.
func (h *Hasher) Cheapen() {
	h.params.Memory = 64
	h.nobody = "$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
}

// Waiting returns how many callers wait for a worker.
func (h *Hasher) Waiting() int { return int(h.waiting.Load()) }

// Helpers returns the process ids of the helpers that have nothing to do.
func (h *Hasher) Helpers() []int {
	h.helpers.mu.Lock()
	defer h.helpers.mu.Unlock()
	var pids []int
	for _, p := range h.helpers.idle {
		pids = append(pids, p.cmd.Process.Pid)
	}
	slices.Sort(pids)
	return pids
}

// Tire lets the helpers go as if they had been idle for long.
func (h *Hasher) Tire() {
	h.helpers.mu.Lock()
	idle := slices.Clone(h.helpers.idle)
	h.helpers.mu.Unlock()
	for _, p := range idle {
		h.helpers.rest(p)
	}
	h.helpers.gone.Wait()
}
