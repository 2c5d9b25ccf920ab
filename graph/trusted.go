package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Documents maps the hex SHA-256 of trusted documents to their texts.
type Documents map[string]string

// ReadDocuments reads a manifest: a JSON object that maps the hex SHA-256 of each document to its text, as the generators of web
// frontends write it. Returns an error when a hash is not that of its document.
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
		out = Documents{} // null is an empty manifest, which trusts no document
	}
	return out, nil
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
