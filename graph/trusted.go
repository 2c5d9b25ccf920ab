package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Documents are the texts of trusted documents by their hex SHA-256.
type Documents map[string]string

// ReadDocuments reads a manifest: a JSON object of documents by their hex SHA-256, as the generators of web frontends
// write it. Returns an error when a document does not have the hash that it stands under.
func ReadDocuments(manifest []byte) (Documents, error) {
	var out Documents
	if err := json.Unmarshal(manifest, &out); err != nil {
		return nil, fmt.Errorf("read the manifest of trusted documents: %w", err)
	}
	for hash, text := range out {
		if hashOf(text) != hash {
			return nil, fmt.Errorf("read the manifest of trusted documents: %s is not the SHA-256 of its document", hash)
		}
	}
	if out == nil {
		out = Documents{} // a manifest of none trusts none
	}
	return out, nil
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
