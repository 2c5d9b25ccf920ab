package definition

import "regexp"

// DefaultEvent is the event of a callout that does not name one.
const DefaultEvent = "workflow.callout"

// CalloutConfig posts a signed event to an outside address.
type CalloutConfig struct {
	URL           *Template
	Event         string
	Data          *Value // nil: none
	SigningSecret string // a secret's name; "": not signed
}

var (
	eventName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)
	secretRef = regexp.MustCompile(`^\$\{\s*secrets\.([A-Z][A-Z0-9_]{0,63})\s*\}$`)
)

// callout reads the config of a WEBHOOK_CALLOUT.
func (c *checker) callout(f fields) (*CalloutConfig, ways) {
	f.keys([]string{"url"}, "event", "data", "signingSecret")
	cfg := &CalloutConfig{
		URL:           f.url("url"),
		Event:         f.str("event", 0),
		Data:          f.value("data"),
		SigningSecret: f.secret("signingSecret"),
	}
	switch {
	case cfg.Event == "":
		cfg.Event = DefaultEvent
	case !eventName.MatchString(cfg.Event):
		c.fault(f.at("event"), "Takes up to 100 letters, digits, dots, - and _.")
	}
	return cfg, ways{must: []string{Next}}
}

// secret reads a template that consists of one secret, and returns the secret's name.
func (f fields) secret(key string) string {
	text := f.str(key, 0)
	if text == "" {
		return ""
	}
	match := secretRef.FindStringSubmatch(text)
	if match == nil {
		f.c.fault(f.at(key), "Must be \"${secrets.NAME}\" and nothing else.")
		return ""
	}
	f.c.refs.Secrets = append(f.c.refs.Secrets, Reference{ID: match[1], Field: f.at(key)})
	return match[1]
}
