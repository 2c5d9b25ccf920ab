package execution

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"atrium/internal/op"
	"atrium/internal/platform/text"
)

// What a sender outside writes may be longer than requests have it, and what it calls a label becomes a tag, whose key has fewer
// characters. A call is worth more than the end of a text, so nothing of it is refused.
const (
	maxTitle       = 300    // characters of a request's
	maxDescription = 10_000 // characters of a request's
	maxTags        = 50
	maxTagKey      = 64
	maxTagValue    = 256 // characters
)

// titled returns a title as long as requests have it at most; the webhook's name where it shows nothing.
func titled(given *string, webhook string) string {
	title := op.Or(given, "")
	if text.Blank(title) {
		return webhook
	}
	return text.Short(title, maxTitle)
}

// described returns a description as long as requests have it at most.
func described(given *string) *string {
	if given == nil {
		return nil
	}
	return new(text.Short(*given, maxDescription))
}

var noKey = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// tagsOf returns labels as tags. "team=ops" and "kind: bug" have a value; what keys cannot hold becomes a hyphen.
func tagsOf(labels []string) map[string]string {
	tags := map[string]string{}
	for _, label := range labels {
		key, value := label, ""
		if i := strings.IndexAny(label, "=:"); i > 0 {
			key, value = label[:i], text.Short(strings.TrimSpace(label[i+1:]), maxTagValue)
		}
		key = strings.Trim(noKey.ReplaceAllString(plain(key), "-"), "-")
		if key = key[:min(len(key), maxTagKey)]; key != "" && (len(tags) < maxTags || tags[key] != "") {
			tags[key] = value
		}
	}
	if len(tags) == 0 {
		return nil
	}
	return tags
}

// plain returns a text without accents.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(strings.TrimSpace(s)))
}
