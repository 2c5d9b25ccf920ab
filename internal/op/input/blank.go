package input

import (
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
)

// blankMessage ends the message for a text of blanks, where a schema's patternDescription says so.
const blankMessage = "more than blanks"

// blanks reports the texts in a value that have to be more than blanks and show nothing. Their pattern, \S, is published for every
// language; Go's takes ASCII's blanks alone for white space, and has reported those.
func blanks(s *huma.Schema, value any, field string) (details []apperr.Detail) {
	if s != nil && s.Ref != "" {
		s = schemas.SchemaFromRef(s.Ref)
	}
	if s == nil {
		return nil
	}
	switch v := value.(type) {
	case string:
		if s.PatternDescription == blankMessage && text.Blank(v) && strings.Trim(v, "\t\n\f\r ") != "" {
			details = append(details, apperr.Detail{Field: field, Message: "must be " + blankMessage})
		}
	case []any:
		for i, one := range v {
			details = append(details, blanks(s.Items, one, fmt.Sprintf("%s[%d]", field, i))...)
		}
	case map[string]any:
		for name, one := range v {
			property := s.Properties[name]
			if field != "" {
				name = field + "." + name
			}
			details = append(details, blanks(property, one, name)...)
		}
	}
	return details
}
