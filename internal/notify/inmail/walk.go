package inmail

import (
	"bytes"
	"strings"
)

// walker reads the parts of a mail in one pass: each byte is looked at once for boundaries, however deep the parts are nested. A
// boundary of an outer multipart ends the inner ones, so none has to be closed. The multipart readers of the libraries go through the bytes
// once a level, and end at the first line that is wrong.
type walker struct {
	message    *Message
	rest       []byte
	boundaries []string // of the multiparts that are open, the outermost first
	level      int      // of the boundary that ended what was read last; -1 for the end of the mail
	last       bool     // it was the last one of its multipart
	parts      int
	size       int  // bytes of the texts
	signed     int  // signatures around
	report     bool // a multipart/report of deliveries has begun
}

// content is the text of a part.
type content struct {
	lines  []line
	html   bool
	marked bool // HTML that tells its quotation apart
}

// size returns the bytes of the text.
func (c content) size() int {
	n := 0
	for _, l := range c.lines {
		n += len(l.text) + 1
	}
	return n
}

func (c content) blank() bool {
	for _, l := range c.lines {
		if strings.TrimSpace(l.text) != "" {
			return false
		}
	}
	return true
}

// entity reads the part whose header has been read, up to the next boundary.
func (w *walker) entity(f fields, depth int) (content, error) {
	if w.parts++; w.parts > MaxParts {
		return content{}, &LimitError{LimitParts}
	}
	kind, params := mediaType(f.get("content-type"))
	boundary := params["boundary"]
	if !strings.HasPrefix(kind, "multipart/") || boundary == "" || len(boundary) > 200 {
		return w.leaf(f, kind, params, w.next())
	}
	if depth++; depth > MaxDepth {
		return content{}, &LimitError{LimitDepth}
	}
	return w.multipart(kind, params, depth)
}

// multipart reads the parts up to their last boundary, and the text after it up to the next boundary outside.
func (w *walker) multipart(kind string, params map[string]string, depth int) (content, error) {
	switch kind {
	case "multipart/signed":
		w.message.note(NoteSigned)
	case "multipart/encrypted":
		w.message.note(NoteEncrypted)
	case "multipart/report":
		if strings.EqualFold(params["report-type"], "delivery-status") {
			w.report = true
		}
	}
	w.boundaries = append(w.boundaries, params["boundary"])
	var children []content
	preamble := w.next()
	for w.level == depth-1 && !w.last {
		head, err := w.head()
		if err != nil {
			return content{}, err
		}
		child, err := w.entity(readFields(head, func() { w.message.note(NoteHeader) }), depth)
		if err != nil {
			return content{}, err
		}
		children = append(children, child)
	}
	w.boundaries = w.boundaries[:depth-1]
	if w.level == depth-1 {
		w.next() // the epilogue
	} else {
		w.message.note(NoteUnclosed)
	}
	switch {
	case len(children) == 0: // no boundary as announced
		return w.leaf(fields{}, "text/plain", nil, preamble)
	case kind == "multipart/alternative":
		return best(children), nil
	}
	return joined(children), nil
}

// head returns the header of a part. A boundary ends it as well as an empty line.
func (w *walker) head() ([]byte, error) {
	all := w.rest
	for len(w.rest) > 0 {
		line, rest := cutLine(w.rest)
		if _, _, hit := w.delimiter(line); hit {
			break
		}
		if w.rest = rest; len(line) == 0 {
			break
		}
		if len(all)-len(rest) > MaxHeader {
			return nil, &LimitError{LimitHeader}
		}
	}
	return all[:len(all)-len(w.rest)], nil
}

// next returns what stands before the next boundary, and goes behind it.
func (w *walker) next() []byte {
	all := w.rest
	if len(w.boundaries) == 0 {
		w.rest = nil
	}
	for len(w.rest) > 0 {
		line, rest := cutLine(w.rest)
		level, last, hit := w.delimiter(line)
		if !hit {
			w.rest = rest
			continue
		}
		body := all[:len(all)-len(w.rest)] // the line end before the boundary belongs to the boundary
		w.rest, w.level, w.last = rest, level, last
		return bytes.TrimSuffix(bytes.TrimSuffix(body, []byte("\n")), []byte("\r"))
	}
	w.level, w.last = -1, true
	return all
}

// delimiter returns of which open multipart a line is the boundary, and whether it is its last one.
func (w *walker) delimiter(line []byte) (level int, last, hit bool) {
	if !bytes.HasPrefix(line, []byte("--")) {
		return 0, false, false
	}
	line = bytes.TrimRight(line[2:], " \t\r")
	for level := len(w.boundaries) - 1; level >= 0; level-- {
		switch rest, ok := bytes.CutPrefix(line, []byte(w.boundaries[level])); {
		case ok && len(rest) == 0:
			return level, false, true
		case ok && string(rest) == "--":
			return level, true, true
		}
	}
	return 0, false, false
}

// best chooses of the alternatives the text to be read: HTML that tells its quotation apart, whatever the language; otherwise plain text.
func best(children []content) content {
	for _, c := range children {
		if c.marked && !c.blank() {
			return c
		}
	}
	for _, c := range children {
		if !c.html && !c.blank() {
			return c
		}
	}
	for _, c := range children {
		if !c.blank() {
			return c
		}
	}
	return content{}
}

// joined puts texts below each other, with an empty line between.
func joined(children []content) content {
	var out content
	for _, c := range children {
		if c.blank() {
			continue
		}
		if len(out.lines) > 0 {
			out.lines = append(out.lines, line{})
		} else {
			out.html = c.html
		}
		out.lines = append(out.lines, c.lines...)
		out.marked = out.marked || c.marked
	}
	return out
}
