package main

import (
	"context"
	"fmt"
	"strings"

	"atrium/ent/secret"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// openSecrets returns a line for each company with secrets from before secrets had a list of hosts. They go on working, and may be sent to
// any host until somebody of the company lists theirs.
func openSecrets(ctx context.Context, s *store.Store) ([]string, error) {
	sys := principal.System(ctx, "the operator looks at the secrets' names of all companies")
	rows, err := s.Reader().Secret.Query().Where(secret.AllowedHostsIsNil()).Order(secret.ByCompanyID(), secret.ByName()).
		Select(secret.FieldCompanyID, secret.FieldName).All(sys)
	if err != nil {
		return nil, fmt.Errorf("list the secrets without hosts: %w", err)
	}
	var lines []string
	for len(rows) > 0 {
		company, names := rows[0].CompanyID, []string{}
		for len(rows) > 0 && rows[0].CompanyID == company {
			names, rows = append(names, rows[0].Name), rows[1:]
		}
		lines = append(lines, fmt.Sprintf("secrets of %s have no list of hosts and may be sent anywhere: %s", company, strings.Join(names, ", ")))
	}
	return lines, nil
}
