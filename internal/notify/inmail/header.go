package inmail

import (
	"bytes"
	"io"
	"mime"
	"net/mail"
	"slices"
	"strings"
	"time"
)

// Bounds of lists in a header.
const (
	maxAddresses  = 500
	maxReferences = 100
	maxSubject    = 1000 // bytes
	maxName       = 200  // bytes
	maxEmail      = 320  // bytes
)

// splitHeader returns the header and what follows the first empty line. Lines end in \r\n or \n.
func splitHeader(raw []byte) (head, body []byte, err error) {
	rest := raw
	for len(rest) > 0 {
		line, after := cutLine(rest)
		if len(line) == 0 {
			head = raw[:len(raw)-len(rest)]
			if len(head) > MaxHeader {
				return nil, nil, &LimitError{LimitHeader}
			}
			return head, after, nil
		}
		if len(raw)-len(after) > MaxHeader {
			return nil, nil, &LimitError{LimitHeader}
		}
		rest = after
	}
	return raw, nil, nil
}

// cutLine returns the first line without its end, and the rest.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// fields are those of a header, by their names in lower case, with the values of each in their order, unfolded and undecoded.
type fields map[string][]string

// readFields reads a header. bad is called for each line that is none of a field.
func readFields(head []byte, bad func()) fields {
	out := fields{}
	last := ""
	for len(head) > 0 {
		var line []byte
		line, head = cutLine(head)
		if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
			if values := out[last]; last != "" {
				values[len(values)-1] += " " + string(bytes.TrimSpace(line))
			}
			continue
		}
		if len(line) == 0 {
			continue // the end
		}
		key, value, ok := bytes.Cut(line, []byte(":"))
		key = bytes.TrimRight(key, " \t")
		if !ok || !isName(key) {
			last = ""
			if !bytes.HasPrefix(line, []byte("From ")) && !bytes.HasPrefix(line, []byte(">From ")) { // the first line of a mailbox file
				bad()
			}
			continue
		}
		last = strings.ToLower(string(key))
		out[last] = append(out[last], string(bytes.TrimSpace(value)))
	}
	return out
}

// isName reports whether a name is one of fields (RFC 5322).
func isName(key []byte) bool {
	return len(key) > 0 && !slices.ContainsFunc(key, func(c byte) bool { return c <= ' ' || c >= 0x7f })
}

// get returns the first value of a field.
func (f fields) get(name string) string {
	if values := f[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// words decodes encoded words (RFC 2047) in every charset of charset.go.
var words = &mime.WordDecoder{CharsetReader: func(charset string, input io.Reader) (io.Reader, error) {
	b, err := io.ReadAll(input)
	if err != nil {
		return nil, err
	}
	s, _ := decodeCharset(charset, b)
	return strings.NewReader(s), nil
}}

// decoded returns the value of a field as a text of one line.
func decoded(value string, note func(Note)) string {
	value = relabelled(value)
	s := value
	if strings.Contains(value, "=?") {
		if d, err := words.DecodeHeader(value); err == nil {
			s = d
		} else {
			note(NoteEncoding)
		}
	}
	s = strings.ToValidUTF8(s, "\ufffd") // of words that are cut within a character, the decoder joins those of UTF-8
	if strings.Contains(s, "\ufffd") && !strings.Contains(value, "\ufffd") {
		note(NoteCharset)
	}
	return strings.Join(strings.Fields(clean(s, note)), " ")
}

// relabelled returns a header of bare 8 bit as UTF-8, and encoded words of iso-8859-1 as windows-1252, as decodeCharset reads it.
func relabelled(value string) string {
	return strings.NewReplacer("=?iso-8859-1?", "=?windows-1252?", "=?ISO-8859-1?", "=?windows-1252?").Replace(undeclared([]byte(value)))
}

// readHeader fills in what the header says.
func (m *Message) readHeader(head []byte, o Options, note func(Note)) fields {
	f := readFields(head, func() { note(NoteHeader) })
	if ids := messageIDs(f["message-id"]); len(ids) == 1 {
		m.ID = ids[0]
	}
	m.InReplyTo = messageIDs(f["in-reply-to"])
	m.References = messageIDs(f["references"])
	m.From = author(f["from"], note)
	m.To, m.Cc = addresses(f["to"], note), addresses(f["cc"], note)
	for _, name := range []string{"delivered-to", "x-original-to", "envelope-to"} {
		for _, a := range addresses(f[name], note) {
			m.DeliveredTo = append(m.DeliveredTo, a.Email)
		}
	}
	m.readSubject(short(decoded(f.get("subject"), note), maxSubject))
	if at, err := mail.ParseDate(f.get("date")); err == nil && at.Year() >= 1970 && at.Year() < 10000 {
		m.Date = at.UTC().Truncate(time.Second)
	}
	m.ReturnPath = strings.Trim(short(clean(f.get("return-path"), note), maxEmail), "<> ")
	if o.Sender != nil {
		m.ReturnPath = *o.Sender
		f["return-path"] = []string{"<" + *o.Sender + ">"}
	}
	return f
}

// author returns the one address of the one From. A field that breaks the rules may have only one @: programs differ in which of two
// addresses they take, and whoever signed the mail may have taken the other.
func author(values []string, note func(Note)) Address {
	all := addresses(values, note)
	_, err := (&mail.AddressParser{WordDecoder: words}).ParseList(relabelled(strings.Join(values, ", ")))
	switch {
	case len(values) > 1 || len(all) > 1 || err != nil && strings.Count(strings.Join(values, ""), "@") > 1:
		note(NoteManyFroms)
	case len(all) == 0:
		note(NoteNoFrom)
	default:
		return all[0]
	}
	return Address{}
}

// addresses reads lists of addresses. What is no list by the letter is searched for addresses in angle brackets or bare.
func addresses(values []string, note func(Note)) []Address {
	var out []Address
	parser := mail.AddressParser{WordDecoder: words}
	for _, value := range values {
		list, err := parser.ParseList(relabelled(value))
		if err != nil {
			list = loose(undeclared([]byte(value)))
		}
		for _, a := range list {
			if a = checked(a); a != nil && len(out) < maxAddresses {
				out = append(out, Address{Name: short(decoded(a.Name, note), maxName), Email: a.Address})
			}
		}
	}
	return out
}

// checked returns an address that has one local part and one domain, or nil.
func checked(a *mail.Address) *mail.Address {
	at := strings.LastIndexByte(a.Address, '@')
	if at <= 0 || at == len(a.Address)-1 || len(a.Address) > maxEmail ||
		strings.ContainsFunc(a.Address, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xfffd || r == '<' || r == '>' }) {
		return nil
	}
	return a
}

// loose finds the addresses of a list that breaks the rules, such as: Ada, Dr. [Acme] <ada@x.test>; Bob <bob@x.test>
func loose(value string) []*mail.Address {
	var out []*mail.Address
	for piece := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ';' }) {
		name, rest, ok := strings.Cut(piece, "<")
		email, _, _ := strings.Cut(rest, ">")
		if !ok {
			name, email = "", piece
		}
		if email = strings.TrimSpace(email); strings.Contains(email, "@") {
			out = append(out, &mail.Address{Name: strings.Trim(strings.TrimSpace(name), `"`), Address: email})
		}
	}
	return out
}

// messageIDs returns what stands in angle brackets.
func messageIDs(values []string) []string {
	var out []string
	for _, value := range values {
		for {
			_, after, ok := strings.Cut(value, "<")
			if !ok {
				break
			}
			id, rest, closed := strings.Cut(after, ">")
			if id = clean(id, func(Note) {}); closed && id != "" && len(id) <= 998 && !strings.ContainsAny(id, "< \t") {
				out = append(out, id)
			}
			value = rest
		}
	}
	if len(out) > maxReferences {
		out = append(out[:1:1], out[len(out)-maxReferences+1:]...)
	}
	return out
}

// The prefixes of subjects, lower case, without the colon.
var (
	replyPrefixes = []string{"re", "aw", "sv", "vs", "antw", "odp", "ynt", "res", "rif", "r", "ref", "bls", "atb", "на", "отв", "ha",
		"回复", "回覆", "答复", "返信", "답장"}
	forwards = []string{"fw", "fwd", "wg", "tr", "vb", "vl", "vs", "doorst", "pd", "i", "enc", "rv", "tov", "továbbítás", "trs",
		"i̇lt", "ilt", "пересл", "转发", "轉寄", "転送", "전달"}
)

// readSubject parts a subject from its prefixes: Re:, AW:, Re[2]:, WG: and those of other languages. Some are a reply's in one language and
// pass a mail on in another (VS, RV): they count as a reply's, whose quotation is cut and kept.
func (m *Message) readSubject(s string) {
	first := true
	for range 20 {
		word, rest, ok := strings.Cut(strings.Replace(s, "：", ":", 1), ":")
		if !ok || len(word) > 30 {
			break
		}
		word, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(word)), "[")
		reply, forward := slices.Contains(replyPrefixes, strings.TrimSpace(word)), slices.Contains(forwards, strings.TrimSpace(word))
		if !reply && !forward {
			break
		}
		if first {
			m.Reply, m.Forward, first = reply, forward && !reply, false
		}
		s = strings.TrimSpace(rest)
	}
	m.Subject = s
}
