package definition

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Defaults of an API_CALL, and the longest time that a definition can give one.
const (
	DefaultRetries        = 3
	DefaultBackoffSeconds = 1
	DefaultTimeoutSeconds = 30
	MaxTimeoutSeconds     = 60
)

// APICallConfig is an HTTP request to an outside address.
type APICallConfig struct {
	Method         string
	URL            *Template // each ${…} is percent-encoded as one component: see Template.Text
	Headers        []Header
	Body           *Value       // nil: none
	Response       []Assignment // over response.status, response.headers, response.body
	StatusRules    []StatusRule
	MaxRetries     int
	BackoffSeconds int
	TimeoutSeconds int
}

// Header is one header of a call.
type Header struct {
	Name  string // canonical
	Value *Template
}

// StatusRule takes its transition when the answer has this status.
type StatusRule struct {
	Status     string // "404", or "4xx" for a class
	Transition string
}

// Matches reports whether the rule applies to this HTTP status.
func (r StatusRule) Matches(status int) bool {
	class, isClass := strings.CutSuffix(r.Status, "xx")
	if isClass {
		return len(class) == 1 && status/100 == int(class[0]-'0')
	}
	return status >= 100 && status <= 999 && r.Status == string([]byte{
		byte('0' + status/100), byte('0' + status/10%10), byte('0' + status%10),
	})
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$") // RFC 9110's token

var statusGrammar = regexp.MustCompile(`^[1-5](?:[0-9][0-9]|xx)$`)

// apiCall reads the config of an API_CALL.
func (c *checker) apiCall(f fields) (*APICallConfig, ways) {
	var w ways
	f.keys([]string{"method", "url"}, "headers", "body", "response", "statusRules", "retries", "timeoutSeconds")
	cfg := &APICallConfig{
		Method: f.oneOf("method", http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
			http.MethodDelete, http.MethodHead),
		URL:            f.url("url"),
		Headers:        f.headers("headers"),
		Body:           f.value("body"),
		TimeoutSeconds: f.whole("timeoutSeconds", 1, MaxTimeoutSeconds, DefaultTimeoutSeconds),
		MaxRetries:     DefaultRetries,
		BackoffSeconds: DefaultBackoffSeconds,
	}
	if f.has("response") {
		cfg.Response = f.assignments("response", forResponse)
	}
	if retries, ok := f.object("retries"); ok {
		retries.keys(nil, "max", "backoffSeconds")
		cfg.MaxRetries = retries.whole("max", 0, 10, DefaultRetries)
		cfg.BackoffSeconds = retries.whole("backoffSeconds", 1, 3600, DefaultBackoffSeconds)
	}
	cfg.StatusRules = f.statusRules(&w)
	w.may = []string{Next}
	if !coversSuccess(cfg.StatusRules) {
		w.must = []string{Next}
	}
	return cfg, w
}

func (f fields) statusRules(w *ways) []StatusRule {
	var rules []StatusRule
	f.objects("statusRules", 0, maxEntries, func(_ int, one fields) {
		one.keys([]string{"status", "transition"})
		rule := StatusRule{Status: one.str("status", 0), Transition: w.name(one, "transition")}
		if rule.Status != "" && !statusGrammar.MatchString(rule.Status) {
			f.c.fault(one.at("status"), "Must be an HTTP status such as \"404\", or a class such as \"4xx\".")
		}
		rules = append(rules, rule)
	})
	return rules
}

// coversSuccess reports whether one rule applies to every 2xx, so that "next" is never needed.
func coversSuccess(rules []StatusRule) bool {
	return slices.ContainsFunc(rules, func(r StatusRule) bool { return r.Status == "2xx" })
}

// ownHeaders are headers that the engine or HTTP itself sets.
var ownHeaders = map[string]bool{
	"Idempotency-Key": true, "Host": true, "Content-Length": true, "Transfer-Encoding": true, "Connection": true,
	"Trailer": true, "Te": true, "Upgrade": true,
}

func (f fields) headers(key string) []Header {
	set, ok := f.object(key)
	if !ok {
		return nil
	}
	var list []Header
	seen := map[string]bool{}
	for i, written := range set.obj.keys {
		name := http.CanonicalHeaderKey(written)
		switch {
		case i == maxEntries:
			f.c.fault(set.path, "May hold at most %d entries.", maxEntries)
			return nil
		case !headerName.MatchString(written):
			f.c.fault(set.at(written), "Is not a header's name.")
		case ownHeaders[name]:
			f.c.fault(set.at(written), "Is a header that the platform sets.")
		case seen[name]:
			f.c.fault(set.at(written), "Is set twice.")
		case !set.has(written):
			f.c.fault(set.at(written), "Needs a value.")
		default:
			list = append(list, Header{Name: name, Value: set.headerValue(written)})
		}
		seen[name] = true
	}
	return list
}

func (f fields) headerValue(name string) *Template {
	t := f.template(name, 0, inCall)
	if t != nil && strings.ContainsFunc(t.sample("x"), func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
		f.c.fault(f.at(name), "Must not hold line breaks or other control characters.")
		return nil
	}
	return t
}

// url reads a template whose own text begins with https:// and is a URL wherever the expressions lead. Which
// addresses may be called is the egress guard's to say when it dials.
func (f fields) url(key string) *Template {
	t := f.template(key, 2048, inCall)
	if t == nil {
		return nil
	}
	if len(t.parts[0].text) < len("https://") || !strings.EqualFold(t.parts[0].text[:len("https://")], "https://") {
		f.c.fault(f.at(key), "Must begin with https:// outside of any expression.")
		return nil
	}
	sample := t.sample("1") // this value is valid in a host, a port, a path and a query
	u, err := url.Parse(sample)
	switch {
	case err != nil || u.Hostname() == "" || strings.ContainsAny(sample, " \t\r\n\\"):
		f.c.fault(f.at(key), "Is not a well-formed URL.")
	case u.User != nil:
		f.c.fault(f.at(key), "Must not hold a user name or password.")
	case u.Fragment != "":
		f.c.fault(f.at(key), "Must not hold a fragment.")
	default:
		return t
	}
	return nil
}
