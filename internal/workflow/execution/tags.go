package execution

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"atrium/internal/platform/text"
)

// What a sender outside calls a label becomes a tag of the request, whose key may be shorter and has fewer characters. A call is worth
// more than a label, so nothing of it is refused.
const (
	maxDescription = 10_000 // characters of a request's
	maxTags        = 50
	maxTagKey      = 64
	maxTagValue    = 256 // characters
)

// described returns a description as long as requests have it at most.
func described(given *string) *string {
	if given == nil {
		return nil
	}
	return new(text.Short(*given, maxDescription-1))
}

var noKey = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// tagsOf returns labels as tags. "team=ops" and "kind: bug" have a value; what keys cannot hold becomes a hyphen.
func tagsOf(labels []string) map[string]string {
	tags := map[string]string{}
	for _, label := range labels {
		key, value := label, ""
		if i := strings.IndexAny(label, "=:"); i > 0 {
			key, value = label[:i], text.Short(strings.TrimSpace(label[i+1:]), maxTagValue-1)
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
