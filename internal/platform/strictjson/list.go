package strictjson

import (
	"encoding/json"
	"fmt"
)

// List decodes a list that the product has stored as JSON; an empty list where none is stored. what and id name it in the error.
func List[T any](stored json.RawMessage, what, id string) ([]*T, error) {
	list := []*T{}
	if len(stored) == 0 {
		return list, nil
	}
	if err := json.Unmarshal(stored, &list); err != nil {
		return nil, fmt.Errorf("read the %s of %s: %w", what, id, err)
	}
	return list, nil
}
