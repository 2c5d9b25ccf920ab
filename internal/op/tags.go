package op

import (
	"regexp"
	"unicode/utf8"

	"atrium/internal/apperr"
)

// The limits of tags.
const (
	maxTags     = 50
	maxTagValue = 256 // characters
)

var tagKey = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// labels are the body fields that hold a map of texts to texts.
var labels = []string{"tags", "attributes"}

// labelRows checks a body's tags and attributes, whose types the schema has checked.
func labelRows(body map[string]any) []apperr.Detail {
	var details []apperr.Detail
	for _, field := range labels {
		values, ok := body[field].(map[string]any)
		if !ok {
			continue
		}
		if len(values) > maxTags {
			details = append(details, apperr.Detail{Field: field, Message: "must have at most 50 entries"})
		}
		for k, value := range values {
			if !tagKey.MatchString(k) {
				details = append(details, apperr.Detail{Field: field + "." + k, Message: "must have a key of 1 to 64 letters, digits, '_', '.' or '-'"})
			} else if s, ok := value.(string); ok && utf8.RuneCountInString(s) > maxTagValue {
				details = append(details, apperr.Detail{Field: field + "." + k, Message: "must have at most 256 characters"})
			}
		}
	}
	return details
}
