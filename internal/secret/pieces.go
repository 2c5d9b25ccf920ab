package secret

import (
	"context"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// leastRow is how many bytes of secrets stand in a row before pieces are hidden that are not hidden alone. Pieces of eight bytes of
// all secrets of a company stand in innocent texts: "https://" begins many of them.
const leastRow = 32

// pieces are all sequences of eight bytes of values, folded: a hash table of their places in the values, with a Bloom filter before
// it. It takes about nine bytes of memory for each byte of the values, and less where they repeat themselves.
type pieces struct {
	data   []byte              // the folded values, without what stands in them before
	count  int                 // of pieces
	slots  []uint32            // a piece's place in data, plus one; 0 is empty. At most three of four are taken
	maybe  bitset              // settles most positions of a text; its length is a power of two
	wholes map[string]struct{} // folded values of 8 to leastRow-1 bytes
}

// seeds make it impossible to choose values whose pieces collide.
var seeds = [2]uint64{rand.Uint64(), rand.Uint64() | 1}

// newPieces returns the pieces of values, and of values with their escapes resolved. It returns the cause of the context's end.
func newPieces(ctx context.Context, values []string) (*pieces, error) {
	p := &pieces{wholes: map[string]struct{}{}}
	total := 0
	for _, value := range values {
		total += len(value)
	}
	if total >= piece {
		p.data = make([]byte, 0, total)
		p.resize(total + total/3 + 2)
	}
	for _, value := range values {
		for _, s := range layersOf(value) {
			p.addText(folded([]byte(s)))
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// some reports whether there are any.
func (p *pieces) some() bool { return p != nil && p.count > 0 }

// hash mixes a piece.
func hash(h uint64) uint64 {
	hi, lo := bits.Mul64(h^seeds[0], seeds[1])
	return hi ^ lo
}

// addText adds the pieces of a folded text. Pieces that follow each other share their bytes in data.
func (p *pieces) addText(text []byte) {
	if piece <= len(text) && len(text) < leastRow {
		p.wholes[string(text)] = struct{}{}
	}
	before := -2 // where the last new piece begins
	for i, h := range rolling(text) {
		if 4*(p.count+1) > 3*len(p.slots) {
			p.resize(len(p.slots) + len(p.slots)/2 + 64)
		}
		slot, found := p.probe(hash(h), h)
		if found {
			continue
		}
		if before == i-1 {
			p.data = append(p.data, text[i+piece-1])
		} else {
			p.data = append(p.data, text[i:i+piece]...)
		}
		p.put(slot, len(p.data)-piece, h)
		p.count++
		before = i
	}
}

func (p *pieces) put(slot, at int, h uint64) {
	p.slots[slot] = uint32(at) + 1
	p.maybe.set(p.bit(hash(h)))
}

// bit returns a piece's bit in the Bloom filter.
func (p *pieces) bit(mixed uint64) int { return int(mixed) & (64*len(p.maybe) - 1) }

// resize moves the pieces to a table of a size.
func (p *pieces) resize(slots int) {
	before := p.slots
	p.slots = make([]uint32, slots)
	p.maybe = newBitset(1 << bits.Len(uint(6*len(p.slots))))
	for _, at := range before {
		if at != 0 {
			h := binary.BigEndian.Uint64(p.data[at-1:])
			slot, _ := p.probe(hash(h), h)
			p.put(slot, int(at)-1, h)
		}
	}
}

// probe returns the slot of a piece; or the empty one for it, and false.
func (p *pieces) probe(mixed, h uint64) (slot int, found bool) {
	first, _ := bits.Mul64(mixed, uint64(len(p.slots)))
	for slot = int(first); ; slot++ {
		if slot == len(p.slots) {
			slot = 0
		}
		at := p.slots[slot]
		if at == 0 {
			return slot, false
		}
		if binary.BigEndian.Uint64(p.data[at-1:]) == h {
			return slot, true
		}
	}
}

// find returns the slot of a piece; false when it is in no value.
func (p *pieces) find(h uint64) (slot int, found bool) {
	mixed := hash(h)
	if !p.maybe.has(p.bit(mixed)) {
		return 0, false
	}
	return p.probe(mixed, h)
}

// of returns the slots of the pieces of values, which are among those from which p was made.
func (p *pieces) of(values []string) bitset {
	set := newBitset(len(p.slots))
	for _, value := range values {
		for _, s := range layersOf(value) {
			for _, h := range rolling([]byte(s)) {
				if slot, found := p.find(h); found {
					set.set(slot)
				}
			}
		}
	}
	return set
}

// size returns the bytes of memory that p takes, or a little more.
func (p *pieces) size() int {
	return cap(p.data) + 4*len(p.slots) + 8*len(p.maybe) + 64*len(p.wholes)
}

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (s bitset) set(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s bitset) has(i int) bool { return i>>6 < len(s) && s[i>>6]&(1<<(i&63)) != 0 }

// seek calls hide for what a text shows of the values.
func (m *Masker) seek(text []byte, hide func(from, to int)) {
	from, last := 0, -2 // the row of pieces: where the first begins and where the last does
	for i, h := range rolling(text) {
		slot, found := m.pieces.find(h)
		if !found {
			continue
		}
		if m.alone == nil || m.alone.has(slot) {
			hide(i, i+piece)
		}
		if m.alone == nil {
			continue
		}
		if i != last+1 {
			m.row(text, from, last, hide)
			from = i
		}
		last = i
	}
	m.row(text, from, last, hide)
}

// row hides a row of pieces if it is long enough, and whole values in it otherwise.
func (m *Masker) row(text []byte, from, last int, hide func(from, to int)) {
	switch to := last + piece; {
	case last < from:
	case to-from >= leastRow:
		hide(from, to)
	default:
		short := folded(append([]byte(nil), text[from:to]...))
		for a := range short {
			for b := a + piece; b <= len(short); b++ {
				if _, whole := m.pieces.wholes[string(short[a:b])]; whole {
					hide(from+a, from+b)
				}
			}
		}
	}
}

// seekIn is seek for a text's runs of encoded bytes.
func (m *Masker) seekIn(carrier numeral, text []byte, hide func(from, to int)) {
	var decoded []byte
	carrier.runs(text, func(_, _ int, values []byte, at []int) {
		for shift := range carrier.shifts {
			decoded = carrier.decode(values[shift:], decoded[:0])
			eachLayer(decoded, func(v view) {
				m.seek(v.text, func(from, to int) {
					from, to = v.at(from, to)
					first, end := (8*from+carrier.bits-1)/carrier.bits, 8*to/carrier.bits // the digits that hold no bit of other bytes
					hide(at[shift+first], at[shift+end-1]+1)
				})
			})
		}
	})
}
