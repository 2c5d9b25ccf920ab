package secret

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/secret"
)

// Sample is Use for showing what a call would send: each secret has a random text in place of its value, which Mask hides as it would
// the value. It opens no secret, so nothing that expressions make of one tells anything about it.
func Sample(ctx context.Context, db *ent.Client, names []string) (u Uses, missing string, err error) {
	rows, err := db.Secret.Query().Where(secret.NameIn(names...)).Select(secret.FieldName, secret.FieldAllowedHosts).All(ctx)
	if err != nil {
		return u, "", fmt.Errorf("read the secrets of a call: %w", err)
	}
	u.Values = map[string]string{}
	var values []string
	for _, name := range names {
		i := slices.IndexFunc(rows, func(s *ent.Secret) bool { return s.Name == name })
		if i < 0 {
			return u, name, nil
		}
		value := rand.Text()
		u.Values[name], values = value, append(values, value)
		u.Opened = append(u.Opened, Opened{Name: name, Value: value, Hosts: rows[i].AllowedHosts})
	}
	u.Mask = NewMasker(values...)
	return u, "", nil
}
