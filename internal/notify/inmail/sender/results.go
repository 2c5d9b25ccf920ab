package sender

import (
	"bytes"
	"errors"
	"strings"
)

// Bounds of a field: its length in bytes and its methods.
const (
	maxField   = 8 << 10
	maxMethods = 50
)

// Results says whether the mail is from the domain of the address as the server with the id said that took it before us (RFC 8601). Only
// the topmost Authentication-Results counts, and only if it is that server's: whoever writes a mail writes what is below.
func Results(raw []byte, from, server string) Verdict {
	var v Verdict
	domain, err := domainOf(from)
	if err == nil {
		err = unambiguous(raw)
	}
	if err != nil {
		v.say("from: %v", err)
		return v
	}
	value, ok := topmost(raw)
	if !ok {
		v.say("authentication-results: there are none")
		return v
	}
	id, results, err := parseResults(value)
	if err != nil {
		v.say("authentication-results: %v", err)
		return v
	}
	if server == "" || !strings.EqualFold(id, server) {
		v.say("authentication-results: of %s instead of %s", short(id), short(server))
		return v
	}
	judge(&v, results, domain)
	return v
}

// judge looks for a method that vouches for the domain. A dmarc that does not pass outweighs what the others say.
func judge(v *Verdict, results []result, domain string) {
	by, denied := "", false
	for _, r := range results {
		v.say("%s: %s", short(r.method), short(r.value))
		pass := r.value == "pass"
		switch r.method {
		case "dmarc":
			of, err := domainOf("x@" + r.props["header.from"])
			switch {
			case !pass:
				denied = denied || r.value != "none"
				v.Temporary = v.Temporary || r.value == "temperror"
			case err == nil && of == domain:
				by = "dmarc"
			}
		case "dkim":
			if d := r.props["header.d"]; pass && by == "" && aligned(d, domain, false) {
				by = "dkim"
			}
		case "spf":
			of := r.props["smtp.mailfrom"]
			if at := strings.LastIndexByte(of, '@'); at >= 0 {
				of = of[at+1:]
			}
			if pass && by == "" && aligned(of, domain, false) {
				by = "spf"
			}
		}
	}
	if by != "" && !denied {
		v.Aligned, v.By, v.Temporary = true, by, false
	}
}

// topmost returns the value of the first Authentication-Results, unfolded.
func topmost(raw []byte) (string, bool) {
	var value strings.Builder
	found := false
	for len(raw) > 0 {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			if found && value.Len() < maxField {
				value.Write(line)
			}
			continue
		}
		if found {
			break
		}
		name, v, _ := bytes.Cut(line, []byte(":"))
		if found = strings.EqualFold(strings.TrimSpace(string(name)), "authentication-results"); found {
			value.Write(v)
		}
	}
	return value.String(), found && value.Len() <= maxField
}

// result is what one method found.
type result struct {
	method, value string            // lower case
	props         map[string]string // such as header.d, by lower-case names
}

// parseResults reads a field. A comment counts as white space; what stands in quotes is one word, whatever is in it.
func parseResults(field string) (id string, results []result, err error) {
	sections, err := tokens(field)
	if err != nil {
		return "", nil, err
	}
	if len(sections[0]) == 0 || len(sections[0]) > 1 && sections[0][1] != "1" {
		return "", nil, errors.New("no server, or another version")
	}
	for _, words := range sections[1:] {
		if len(words) == 0 {
			continue
		}
		method, value, ok := strings.Cut(words[0], "=")
		if !ok {
			continue // "none"
		}
		method, _, _ = strings.Cut(method, "/") // its version
		r := result{method: strings.ToLower(method), value: strings.ToLower(value), props: map[string]string{}}
		for _, word := range words[1:] {
			name, value, ok := strings.Cut(word, "=")
			name = strings.ToLower(name)
			if _, has := r.props[name]; ok && has {
				return "", nil, errors.New("a property twice")
			}
			if ok {
				r.props[name] = value
			}
		}
		if results = append(results, r); len(results) > maxMethods {
			return "", nil, errors.New("too many methods")
		}
	}
	return sections[0][0], results, nil
}

// tokens parts a field at its semicolons, and each section into words. White space around = is left out.
func tokens(field string) ([][]string, error) {
	sections := [][]string{nil}
	var word strings.Builder
	end := func() {
		words := &sections[len(sections)-1]
		if n := len(*words); n > 0 && (strings.HasSuffix((*words)[n-1], "=") || strings.HasPrefix(word.String(), "=")) {
			(*words)[n-1] += word.String()
		} else if word.Len() > 0 {
			*words = append(*words, word.String())
		}
		word.Reset()
	}
	for i := 0; i < len(field); i++ {
		switch c := field[i]; c {
		case ';':
			end()
			sections = append(sections, nil)
		case ' ', '\t', '\r', '\n':
			end()
		case '(':
			n := commentLength(field[i:])
			if n == 0 {
				return nil, errors.New("a comment without an end")
			}
			end()
			i += n - 1
		case '"':
			s, n := unquoted(field[i:])
			if n == 0 {
				return nil, errors.New("a quotation without an end")
			}
			if words := sections[len(sections)-1]; !strings.Contains(word.String(), "=") &&
				(word.Len() > 0 || len(words) == 0 || !strings.HasSuffix(words[len(words)-1], "=")) {
				return nil, errors.New("a quotation in the place of a name")
			}
			word.WriteString(s)
			i += n - 1
		default:
			word.WriteByte(c)
		}
	}
	end()
	return sections, nil
}

// unquoted returns what stands in the quotes at the beginning of s, and the length with them; 0 if they are not closed.
func unquoted(s string) (string, int) {
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return out.String(), i + 1
		case '\\':
			if i++; i == len(s) {
				return "", 0
			}
		}
		out.WriteByte(s[i])
	}
	return "", 0
}

// commentLength returns the length of the comment at the beginning of s, which may hold others; 0 if it is not closed.
func commentLength(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\\':
			i++
		}
	}
	return 0
}
