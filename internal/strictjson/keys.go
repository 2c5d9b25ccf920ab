package strictjson

import (
	"bytes"
	"hash/maphash"
)

// linearKeys is how many keys of an object are compared one by one; beyond, they are found through a hash table.
const linearKeys = 32

// seed is drawn once per process, so that no caller can prepare keys that collide.
var seed = maphash.MakeSeed()

// keySet holds the keys of all objects that are open, the innermost object's last.
type keySet struct {
	list    []key
	escaped []byte // contents of the keys that had escapes
}

// key is where the contents of one key stand: in the body, or in keySet.escaped.
type key struct {
	start, end int
	hash       uint32
	escaped    bool
}

// objectKeys is one open object's share of a keySet.
type objectKeys struct {
	list, escaped int      // where its keys begin
	table         []uint32 // open addressing: 1 + the index in keySet.list, 0 is free; nil for few keys
}

func (s *keySet) open() objectKeys {
	return objectKeys{list: len(s.list), escaped: len(s.escaped)}
}

func (s *keySet) close(o objectKeys) {
	s.list, s.escaped = s.list[:o.list], s.escaped[:o.escaped]
}

// reset empties the set for the next body.
func (s *keySet) reset() {
	s.list, s.escaped = s.list[:0], s.escaped[:0]
	if cap(s.list) > keepCapacity {
		s.list = nil
	}
	if cap(s.escaped) > keepCapacity {
		s.escaped = nil
	}
}

// add records the key text, which stands at start of body unless it had escapes, as one of o's; false if o has it.
func (s *keySet) add(o *objectKeys, body, text []byte, start int, escaped bool) bool {
	k := key{start: start, end: start + len(text), hash: uint32(maphash.Bytes(seed, text)), escaped: escaped}
	if o.table != nil {
		return s.addHashed(o, body, text, k)
	}
	for _, other := range s.list[o.list:] {
		if other.hash == k.hash && bytes.Equal(s.contents(other, body), text) {
			return false
		}
	}
	s.append(k, text)
	if len(s.list)-o.list > linearKeys {
		s.rehash(o, 8*linearKeys)
	}
	return true
}

// addHashed is add for an object with a table.
func (s *keySet) addHashed(o *objectKeys, body, text []byte, k key) bool {
	mask := uint32(len(o.table) - 1)
	slot := k.hash & mask
	for ; o.table[slot] != 0; slot = (slot + 1) & mask {
		other := s.list[o.table[slot]-1]
		if other.hash == k.hash && bytes.Equal(s.contents(other, body), text) {
			return false
		}
	}
	s.append(k, text)
	o.table[slot] = uint32(len(s.list))
	if 2*(len(s.list)-o.list) > len(o.table) {
		s.rehash(o, 4*len(o.table))
	}
	return true
}

// append stores k, and its contents too when they stand nowhere in the body.
func (s *keySet) append(k key, text []byte) {
	if k.escaped {
		k.start = len(s.escaped)
		s.escaped = append(s.escaped, text...)
		k.end = len(s.escaped)
	}
	s.list = append(s.list, k)
}

// rehash gives o a table of size slots (a power of two).
func (s *keySet) rehash(o *objectKeys, size int) {
	o.table = make([]uint32, size)
	mask := uint32(size - 1)
	for i, k := range s.list[o.list:] {
		slot := k.hash & mask
		for o.table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		o.table[slot] = uint32(o.list + i + 1)
	}
}

func (s *keySet) contents(k key, body []byte) []byte {
	if k.escaped {
		return s.escaped[k.start:k.end]
	}
	return body[k.start:k.end]
}
