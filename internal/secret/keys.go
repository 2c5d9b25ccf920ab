package secret

import (
	"bytes"
	"slices"
	"strings"
)

// WithKeys returns a masker that hides the values of m and the credentials that people pasted without storing them as secrets. It
// recognises them by their form:
//
//   - our own: API keys, access and ID tokens (any JWT), refresh tokens and client secrets, session cookies and mailed links,
//     signing secrets (whsec_);
//   - private keys in PEM; AWS access key ids, and secret keys within 256 bytes of an id or of the words "secret access key";
//   - tokens of GitHub, Slack (and Slack webhook URLs), OpenAI and Anthropic.
//
// It finds them unencoded, percent-encoded and escaped as JSON strings like a Masker does, in base64 with either alphabet, in
// hexadecimal, in both also wrapped into lines, and in base64 of base64. An encoded run that contains a key is hidden as a
// whole. Credentials without a prefix (refresh tokens, sessions) are recognised by their exact length and alphabet, and must be
// delimited. In a JSON value, the members of one list or object count as near each other.
func (m *Masker) WithKeys() *Masker {
	c := *m
	c.keys = true
	return &c
}

// The character classes of a byte, as bits.
const (
	upper = 1 << iota
	lower
	digit
	hexadecimal
	base32 // A to Z and 2 to 7
	dash   // and the underscore: the characters of base64url besides letters and digits
	slash  // and the plus sign: the characters of base64 besides letters and digits
	dot
	pad // padding of base64

	alphanum = upper | lower | digit
	random   = alphanum | dash // most issuers generate tokens from these
)

var alphabets = func() (of [256]uint16) {
	for alphabet, members := range map[uint16]string{
		upper: "ABCDEFGHIJKLMNOPQRSTUVWXYZ", lower: "abcdefghijklmnopqrstuvwxyz", digit: "0123456789",
		hexadecimal: "0123456789abcdefABCDEF", base32: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
		dash: "-_", slash: "+/", dot: ".", pad: "=",
	} {
		for i := range len(members) {
			of[members[i]] |= alphabet
		}
	}
	return of
}()

// form is the form of a kind of credential: a prefix followed by characters of certain classes.
type form struct {
	prefix string
	rest   uint16 // each character is in one of these classes
	least  int    // characters after the prefix: fewer than issuers use, because people cut keys short
	exact  bool   // least is also the most
	has    uint16 // each of these classes occurs after the prefix
	apart  bool   // no letter or digit may precede the prefix, because words end like it
	check  func(rest []byte) bool
}

var forms = []form{
	{prefix: "key_live_", rest: alphanum, least: 20},
	{prefix: "key_test_", rest: alphanum, least: 20},
	{prefix: "whsec_", rest: random | slash | pad, least: 16},
	{prefix: "__Host-atrium_session=", rest: random, least: 20},
	{prefix: "eyJ", rest: random | dot, least: 40, check: isJWT},
	{prefix: "AKIA", rest: upper | digit, least: 16, exact: true},
	{prefix: "ASIA", rest: upper | digit, least: 16, exact: true},
	{prefix: "IQoJb3JpZ2lu", rest: alphanum | slash | pad, least: 40}, // an AWS session token
	{prefix: "ghp_", rest: alphanum, least: 16},
	{prefix: "gho_", rest: alphanum, least: 16},
	{prefix: "ghu_", rest: alphanum, least: 16},
	{prefix: "ghs_", rest: alphanum | dash | dot, least: 16},
	{prefix: "ghr_", rest: alphanum, least: 16},
	{prefix: "github_pat_", rest: random, least: 20},
	{prefix: "xoxa-", rest: random, least: 10, has: digit},
	{prefix: "xoxb-", rest: random, least: 10, has: digit},
	{prefix: "xoxc-", rest: random, least: 10, has: digit},
	{prefix: "xoxd-", rest: random | slash | pad, least: 10, has: digit},
	{prefix: "xoxe-", rest: random, least: 10, has: digit},
	{prefix: "xoxe.xox", rest: random, least: 10, has: digit},
	{prefix: "xoxp-", rest: random, least: 10, has: digit},
	{prefix: "xoxr-", rest: random, least: 10, has: digit},
	{prefix: "xoxs-", rest: random, least: 10, has: digit},
	{prefix: "xapp-", rest: random, least: 20, has: digit | upper, apart: true},
	{prefix: "hooks.slack.com/services/", rest: alphanum | slash, least: 20},
	{prefix: "hooks.slack.com/workflows/", rest: alphanum | slash, least: 20},
	{prefix: "hooks.slack.com/triggers/", rest: alphanum | slash, least: 20},
	{prefix: "sk-", rest: alphanum, least: 20, has: digit, apart: true},
	{prefix: "sk-proj-", rest: random, least: 20, has: alphanum, apart: true},
	{prefix: "sk-svcacct-", rest: random, least: 20, has: alphanum, apart: true},
	{prefix: "sk-admin-", rest: random, least: 20, has: alphanum, apart: true},
	{prefix: "sk-ant-", rest: random, least: 20, has: digit | upper, apart: true},
}

// formsOf holds the indexes of the forms whose prefix begins with a byte.
var formsOf = func() (of [256][]int) {
	for i, f := range forms {
		of[f.prefix[0]] = append(of[f.prefix[0]], i)
	}
	return of
}()

// awsLabels are the words that announce an AWS secret key. Case does not matter.
var awsLabels = []string{"secret_access_key", "secretaccesskey", "secret access key", "secret-access-key"}

// isJWT reports whether three consecutive parts are long enough for a header, claims and a signature.
func isJWT(rest []byte) bool {
	long := 0
	for part := range bytes.SplitSeq(rest, []byte(".")) {
		if len(part) < 8 {
			long = 0
		} else if long++; long == 3 {
			return true
		}
	}
	return false
}

// seeker looks for keys in a text and calls hide for each.
type seeker struct {
	hide func(from, to int)
	aws  bool // an AWS key id or label is near the text
}

// besides is the maximum distance in bytes between an AWS secret key and its id or label.
const besides = 256

// seek hides the keys in a text, and the encoded runs that contain keys, encoded at most deep times.
func (s seeker) seek(text []byte, deep int) {
	anchors := s.forms(text)
	s.words(text)
	s.awsSecrets(text, anchors)
	s.pem(text)
	if deep == 0 {
		return
	}
	for _, n := range numerals {
		n.runs(text, func(from, to int, values []byte, _ []int) {
			if n.holdsKey(values, s.aws, deep-1) {
				s.hide(from, to)
			}
		})
	}
}

// forms hides the credentials with a known form, and returns the positions of AWS key ids and labels. It reads each run once
// per form: if a form does not match at the start of a run, it does not match later in the run either.
func (s seeker) forms(text []byte) (anchors []int) {
	read := make([]int, len(forms)) // per form, the end of the run that was read last
	for i, b := range text {
		for _, n := range formsOf[b] {
			f := &forms[n]
			from := i + len(f.prefix)
			if i < read[n] || from > len(text) || string(text[i:from]) != f.prefix {
				continue
			}
			if f.apart && i > 0 && alphabets[text[i-1]]&alphanum != 0 {
				continue
			}
			end, has := from, uint16(0)
			for end < len(text) && alphabets[text[end]]&f.rest != 0 && (!f.exact || end <= from+f.least) {
				has |= alphabets[text[end]]
				end++
			}
			if !f.exact {
				read[n] = end
			}
			length := end - from
			if length < f.least || f.exact && length > f.least || has&f.has != f.has || f.check != nil && !f.check(text[from:end]) {
				continue
			}
			s.hide(i, end)
			if f.exact {
				anchors = append(anchors, i)
			}
		}
		if (b == 's' || b == 'S') && labelled(text[i:]) {
			anchors = append(anchors, i)
		}
	}
	return anchors
}

func labelled(text []byte) bool {
	return slices.ContainsFunc(awsLabels, func(label string) bool {
		return len(text) >= len(label) && (text[1]|0x20) == 'e' && strings.EqualFold(string(text[:len(label)]), label)
	})
}

// runsOf yields the longest runs of characters of certain classes.
func runsOf(text []byte, alphabet uint16, yield func(from, to int)) {
	for from := 0; from < len(text); from++ {
		if alphabets[text[from]]&alphabet == 0 {
			continue
		}
		to := from + 1
		for to < len(text) && alphabets[text[to]]&alphabet != 0 {
			to++
		}
		yield(from, to)
		from = to
	}
}

// words hides our tokens without a prefix: 32 bytes in 43 characters of base64url, and 52 characters of base32.
func (s seeker) words(text []byte) {
	runsOf(text, random, func(from, to int) {
		switch word := text[from:to]; {
		case len(word) == 43 && drawn(word):
			fingerprint := bytes.HasSuffix(text[:from], []byte("SHA256:"))
			if padded := to < len(text) && text[to] == '='; !fingerprint && !padded { // our tokens are never padded
				s.hide(from, to)
			}
		case len(word) == 52 && bytes.ContainsAny(word, "234567") && !bytes.ContainsFunc(word, notBase32):
			s.hide(from, to)
		}
	})
}

func notBase32(r rune) bool { return r > 127 || alphabets[r]&base32 == 0 }

// drawn reports whether a word looks like 32 random bytes in base64url. It misses about 10 of 10,000 such words. Natural words
// joined by hyphens, or written together, change less often between lower case, upper case and digits.
func drawn(word []byte) bool {
	changes, before, digits := 0, uint16(0), 0
	for _, b := range word {
		now := alphabets[b] & alphanum
		if now == 0 {
			continue
		}
		if now != before && before != 0 {
			changes++
		}
		if now == digit {
			digits++
		}
		before = now
	}
	return changes >= 15 && digits > 0 && strings.IndexByte("AEIMQUYcgkosw048", word[len(word)-1]) >= 0
}

// awsSecrets hides runs of 40 characters near an AWS key id or label.
func (s seeker) awsSecrets(text []byte, anchors []int) {
	if len(anchors) == 0 && !s.aws {
		return
	}
	runsOf(text, alphanum|slash, func(from, to int) {
		for len(anchors) > 0 && anchors[0] < from-besides {
			anchors = anchors[1:]
		}
		near := s.aws || len(anchors) > 0 && anchors[0] <= to+besides
		if near && to-from == 40 && holds(text[from:to], upper) && holds(text[from:to], lower) && holds(text[from:to], digit|slash) {
			s.hide(from, to)
		}
	})
}

func holds(text []byte, alphabet uint16) bool {
	return bytes.ContainsFunc(text, func(r rune) bool { return r < 128 && alphabets[r]&alphabet != 0 })
}

// pem hides private keys in PEM. A key without an end line is hidden as far as its lines are base64.
func (s seeker) pem(text []byte) {
	begun, body := -1, 0
	unended := func() {
		if begun >= 0 {
			s.hide(begun, pemBody(text, body))
		}
	}
	word := []byte("PRIVATE")
	for at := bytes.Index(text, word); at >= 0; {
		before, behind := text[max(0, at-40):at], at+len(word)+len(" KEY")
		if behind <= len(text) && string(text[behind-3:behind]) == "KEY" {
			if bytes.HasPrefix(text[min(behind+1, len(text)):], []byte("BLOCK")) { // PGP
				behind += len(" BLOCK")
			}
			behind += len(text[behind:]) - len(bytes.TrimLeft(text[behind:], "-"))
			line, _, begins := bytes.Cut(before, []byte("BEGIN"))
			if line = bytes.TrimRight(line, " +"); begins && bytes.HasSuffix(line, []byte("--")) {
				unended()
				begun, body = at-len(before)+len(bytes.TrimRight(line, "-")), behind
			} else if bytes.Contains(before, []byte("END")) && begun >= 0 {
				s.hide(begun, behind)
				begun = -1
			}
		}
		next := bytes.Index(text[at+1:], word)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	unended()
}

// pemBody returns the end of the base64 lines that begin at from.
func pemBody(text []byte, from int) int {
	to := from
	for i := from; ; {
		for i < len(text) && strings.IndexByte(" \t\r\n\\", text[i]) >= 0 {
			i++
		}
		line := i
		for i < len(text) && alphabets[text[i]]&(alphanum|slash|pad) != 0 {
			i++
		}
		if i-line < 16 {
			return to
		}
		to = i
	}
}

// near returns m, or a masker that looks for AWS secret keys, when an AWS key id or label is a text or a name in the list or
// object v.
func (m *Masker) near(v any) *Masker {
	if !m.keys || m.aws {
		return m
	}
	found, s := false, seeker{hide: func(int, int) {}}
	look := func(v any) {
		if text, ok := v.(string); ok && !found {
			eachLayer([]byte(text), func(v view) { found = found || len(s.forms(v.text)) > 0 })
		}
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			look(item)
		}
	case map[string]any:
		for name, item := range v {
			look(name)
			look(item)
		}
	}
	if !found {
		return m
	}
	c := *m
	c.aws = true
	return &c
}
