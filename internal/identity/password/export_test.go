package password

// Watch makes the Hasher call before at the start of every verification, while it holds a worker.
func (h *Hasher) Watch(before func()) { h.before = before }

// Cheapen makes hashing cheap, for tests that need many hashes.
func (h *Hasher) Cheapen() {
	h.params.Memory = 64
	h.nobody = "$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
}

// Waiting returns how many callers wait for a worker.
func (h *Hasher) Waiting() int { return int(h.waiting.Load()) }
