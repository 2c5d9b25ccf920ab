package inmail

import (
	"bytes"
	"strings"
)

const (
	armorSigned    = "-----BEGIN PGP SIGNED MESSAGE-----\n"
	armorSignature = "\n-----BEGIN PGP SIGNATURE-----"
	armorMessage   = "-----BEGIN PGP MESSAGE-----"
)

// unarmor returns a text that was signed by PGP without its signature, which becomes an attachment; an encrypted one becomes one as a
// whole.
func (m *Message) unarmor(s string) string {
	begun := strings.TrimLeft(s, "\n ")
	if strings.HasPrefix(begun, armorMessage) {
		m.note(NoteEncrypted)
		m.attach(Attachment{Name: "message.asc", MediaType: "application/pgp-encrypted", Content: []byte(s)})
		return ""
	}
	rest, ok := strings.CutPrefix(begun, armorSigned)
	if !ok {
		return s
	}
	_, body, ok := strings.Cut(rest, "\n\n") // behind the armor's own header
	end := strings.LastIndex(body, armorSignature)
	if !ok || end < 0 {
		return s
	}
	m.note(NoteSigned)
	m.attach(Attachment{Name: "signature.asc", MediaType: "application/pgp-signature", Content: []byte(body[end+1:])})
	var out strings.Builder
	for l := range strings.Lines(body[:end]) {
		out.WriteString(strings.TrimPrefix(l, "- ")) // dash-escaped
	}
	return out.String()
}

// maxSigned is how many signed mails may stand within each other.
const maxSigned = 3

// opaque reads a mail that stands within its S/MIME signature (CMS SignedData). The signature as it came is an attachment. One whose
// content is not found counts as encrypted: it cannot be read here.
func (w *walker) opaque(a Attachment) (content, error) {
	w.message.attach(a)
	inner, ok := signedContent(a.Content)
	if !ok || w.signed >= maxSigned {
		w.message.note(NoteEncrypted)
		return content{}, nil
	}
	w.message.note(NoteSigned)
	head, body, err := splitHeader(inner)
	if err != nil {
		return content{}, err
	}
	within := &walker{message: w.message, rest: body, parts: w.parts, size: w.size, signed: w.signed + 1}
	c, err := within.entity(readFields(head, func() { w.message.note(NoteHeader) }), 0)
	w.parts, w.size = within.parts, within.size
	return c, err
}

// The identifiers of CMS (RFC 5652), as they are encoded.
var (
	oidSignedData = []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02}
	oidData       = []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01}
)

// The tags of ASN.1 that CMS uses around the content.
const (
	tagOctets, tagOID, tagSequence, tagExplicit = 0x04, 0x06, 0x30, 0xa0
	constructed                                 = 0x20
	maxBER                                      = 12 // levels
)

// signedContent returns what a SignedData signs. Programs write it in BER, with indefinite lengths, which the libraries refuse.
func signedContent(b []byte) ([]byte, bool) {
	outer, _, ok1 := berElement(b, tagSequence)
	kind, rest, ok2 := berElement(outer, tagOID)
	rest, _, ok3 := berElement(rest, tagExplicit)
	data, _, ok4 := berElement(rest, tagSequence)
	if !ok1 || !ok2 || !ok3 || !ok4 || !bytes.Equal(kind, oidSignedData) {
		return nil, false
	}
	for range 2 { // the version and the algorithms
		n, ok := sizeOf(data, 0)
		if !ok {
			return nil, false
		}
		data = data[n:]
	}
	inner, _, ok1 := berElement(data, tagSequence)
	kind, rest, ok2 = berElement(inner, tagOID)
	octets, _, ok3 := berElement(rest, tagExplicit)
	if !ok1 || !ok2 || !ok3 || !bytes.Equal(kind, oidData) {
		return nil, false
	}
	return appendOctets(nil, octets, 0)
}

// appendOctets appends the octet string at the beginning of b, which may come in pieces.
func appendOctets(out, b []byte, depth int) ([]byte, bool) {
	body, _, ok := berElement(b, tagOctets)
	if ok {
		return append(out, body...), true
	}
	body, _, ok = berElement(b, tagOctets|constructed)
	if !ok || depth > maxBER {
		return nil, false
	}
	for len(body) > 0 {
		n, fits := sizeOf(body, 0)
		if !fits {
			return nil, false
		}
		if out, ok = appendOctets(out, body[:n], depth+1); !ok {
			return nil, false
		}
		body = body[n:]
	}
	return out, true
}

// berElement returns the content of the element at the beginning of b, which has the tag, and what follows it.
func berElement(b []byte, tag byte) (body, rest []byte, ok bool) {
	n, ok := sizeOf(b, 0)
	if !ok || b[0] != tag {
		return nil, nil, false
	}
	head, length, _ := lengthOf(b)
	if length < 0 {
		return b[head : n-2], b[n:], true
	}
	return b[head:n], b[n:], true
}

// lengthOf returns the length of the tag and the length of an element, and that of its content, -1 if it is indefinite.
func lengthOf(b []byte) (head, length int, ok bool) {
	switch {
	case len(b) < 2 || b[0]&0x1f == 0x1f:
		return 0, 0, false
	case b[1] < 0x80:
		return 2, int(b[1]), true
	case b[1] == 0x80:
		return 2, -1, b[0]&constructed != 0
	}
	n := int(b[1] & 0x7f)
	if n > 4 || len(b) < 2+n {
		return 0, 0, false
	}
	for _, c := range b[2 : 2+n] {
		length = length<<8 | int(c)
	}
	return 2 + n, length, true
}

// sizeOf returns the size of the element at the beginning of b.
func sizeOf(b []byte, depth int) (int, bool) {
	head, length, ok := lengthOf(b)
	if !ok || depth > maxBER {
		return 0, false
	}
	if length >= 0 {
		return head + length, length <= len(b)-head
	}
	for n := head; n+2 <= len(b); {
		if b[n] == 0 && b[n+1] == 0 {
			return n + 2, true
		}
		size, ok := sizeOf(b[n:], depth+1)
		if !ok {
			return 0, false
		}
		n += size
	}
	return 0, false
}
