package input

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/platform/apperr"
)

// The limits of labels: of a row's tags, and of a person's attributes.
const (
	maxLabels     = 50
	maxLabelValue = 256 // characters
	LabelPattern  = `^[A-Za-z0-9_.-]{1,64}$`
)

var labelKey = regexp.MustCompile(LabelPattern)

// Labels adds the rules of labels to s, if it is the schema of labels, which is a map of strings to strings that has no rules of its own.
// It reports whether it is. huma does not check JSON Schema's rules for keys; see badLabels.
func Labels(s *huma.Schema) bool {
	value, ok := s.AdditionalProperties.(*huma.Schema)
	if !ok || value.Type != huma.TypeString || value.MaxLength != nil {
		return false
	}
	s.MaxProperties, value.MaxLength = new(maxLabels), new(maxLabelValue)
	s.PrecomputeMessages()
	value.PrecomputeMessages()
	return true
}

// badLabels reports the keys of a body's labels that are not valid.
func (in *Input) badLabels(body map[string]any) []apperr.Detail {
	var details []apperr.Detail
	for field, p := range in.Body.Properties {
		labels, ok := body[field].(map[string]any)
		if !ok || p.MaxProperties == nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			if !labelKey.MatchString(key) {
				details = append(details, apperr.Detail{
					Field: fmt.Sprintf("%s.%s", field, key), Message: "must have a key of 1 to 64 letters, digits, '_', '.' or '-'",
				})
			}
		}
	}
	return details
}
