package inmail

import (
	"path"
	"strings"
	"unicode/utf8"
)

// maxTexts bounds the texts of all parts, alternatives included.
const maxTexts = 2 * MaxText

// leaf reads a part that is no multipart: a text to be read, or an attachment.
func (w *walker) leaf(f fields, kind string, params map[string]string, body []byte) (content, error) {
	m := w.message
	raw := decodeTransfer(f.get("content-transfer-encoding"), body, m.note)
	disposition, more := mediaType(f.get("content-disposition"))
	if !strings.Contains(kind, "/") || strings.HasPrefix(kind, "multipart/") { // without a boundary
		kind = "text/plain"
	}
	a := Attachment{
		Name: fileName(m, more["filename"], params["name"]), MediaType: kind, Content: raw,
		ContentID: strings.Trim(short(clean(f.get("content-id"), m.note), maxName), "<> "), Inline: disposition == "inline",
	}
	if (kind == "text/plain" || kind == "text/html") && disposition != "attachment" && a.Name == "" {
		return w.text(a, params), nil
	}
	switch kind {
	case "message/delivery-status":
		if w.report {
			m.readStatus(raw)
		}
	case "message/rfc822", "text/rfc822-headers", "message/rfc822-headers":
		if w.report {
			m.readReturned(raw)
		}
	case "application/ms-tnef", "application/vnd.ms-tnef":
		m.note(NoteTNEF)
	case "application/pkcs7-mime", "application/x-pkcs7-mime":
		if strings.HasPrefix(params["smime-type"], "signed") || strings.HasSuffix(a.Name, ".p7s") {
			return w.opaque(a)
		}
		m.note(NoteEncrypted)
	}
	m.attach(a)
	return content{}, nil
}

// text reads a part that is text.
func (w *walker) text(a Attachment, params map[string]string) content {
	m := w.message
	s, ok := decodeCharset(params["charset"], a.Content)
	if !ok {
		m.note(NoteCharset)
		m.attach(a)
	}
	s = clean(strings.TrimPrefix(s, "\ufeff"), m.note)
	if a.MediaType == "text/html" {
		c, whole := readPage(s)
		if w.size += c.size(); !whole || w.size > maxTexts {
			m.note(NoteLong)
			m.attach(a)
			return content{}
		}
		return c
	}
	if w.size += len(s); len(s) > MaxText || w.size > maxTexts {
		m.note(NoteLong)
		m.attach(a)
		return content{}
	}
	if s = m.unarmor(s); strings.EqualFold(params["format"], "flowed") {
		s = unflowed(s, strings.EqualFold(params["delsp"], "yes"))
	}
	return content{lines: plainLines(s)}
}

// attach adds an attachment, and gives it a name if it has none.
func (m *Message) attach(a Attachment) {
	if a.Name == "" {
		if a.Name = usualNames[a.MediaType]; a.Name == "" {
			kind, sub, _ := strings.Cut(a.MediaType, "/")
			a.Name = map[string]string{"image": "image", "audio": "audio", "video": "video", "text": "text"}[kind]
			if a.Name == "" {
				a.Name, sub = "attachment", map[string]string{"pdf": "pdf", "zip": "zip", "json": "json", "xml": "xml"}[sub]
			}
			if sub != "" && len(sub) <= 10 && strings.Trim(sub, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
				a.Name += "." + sub
			}
		}
	}
	m.Attachments = append(m.Attachments, a)
}

// usualNames are those of parts that come without one.
var usualNames = map[string]string{
	"text/plain": "text.txt", "text/html": "text.html", "text/calendar": "invite.ics", "text/rfc822-headers": "headers.txt",
	"message/rfc822":          "message.eml",
	"message/delivery-status": "delivery-status.txt", "message/disposition-notification": "disposition-notification.txt",
	"application/ms-tnef": "winmail.dat", "application/pgp-signature": "signature.asc", "application/pgp-encrypted": "version.asc",
	"application/pkcs7-signature": "smime.p7s", "application/x-pkcs7-signature": "smime.p7s", "application/pkcs7-mime": "smime.p7m",
	"application/x-pkcs7-mime": "smime.p7m",
}

// fileName returns the first name that there is, without a path.
func fileName(m *Message, names ...string) string {
	for _, name := range names {
		name = decoded(name, m.note)
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
		if name = strings.TrimSpace(name); name == "." || name == ".." || name == "/" {
			continue
		}
		if len(name) > maxName {
			ext := path.Ext(name)
			if len(ext) > 20 {
				ext = ""
			}
			name = short(strings.TrimSuffix(name, ext), maxName-len(ext)) + ext
		}
		return name
	}
	return ""
}

// short cuts a text to a number of bytes, not within a character.
func short(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// unflowed joins the lines of a paragraph (RFC 3676): one that ends in a space goes on in the next of the same quotation.
func unflowed(s string, delsp bool) string {
	var out strings.Builder
	open, depth := false, 0
	for l := range strings.Lines(s) {
		l = strings.TrimSuffix(l, "\n")
		rest := strings.TrimLeft(l, ">")
		quotes := len(l) - len(rest)
		rest = strings.TrimPrefix(rest, " ") // stuffed
		switch {
		case open && quotes == depth && rest != "-- ":
		default:
			if out.Len() > 0 {
				out.WriteByte('\n')
			}
			if out.WriteString(strings.Repeat(">", quotes)); quotes > 0 {
				out.WriteByte(' ')
			}
		}
		depth, open = quotes, strings.HasSuffix(rest, " ") && rest != "-- "
		if open && delsp {
			rest = strings.TrimSuffix(rest, " ")
		}
		out.WriteString(rest)
	}
	return out.String()
}
