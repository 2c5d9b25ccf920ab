package search

import (
	"context"
	"fmt"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/searchdocument"
	"atrium/internal/platform/words"
)

// index writes what is searched for in the words of one database.
type index struct {
	dialect string
	company string
}

// hits returns the documents of the company that match an expression, from before a number, the highest numbers first. Of these only the
// number, the kind and the rows' ids are set. It is the one place that reads search_words and search_vectors, and PostgreSQL's policies do
// not hold for the latter.
func (x index) hits(ctx context.Context, db *ent.Client, expression string, before int64, limit int) ([]*ent.SearchDocument, error) {
	query := `SELECT d.id, d.row_id, coalesce(d.request_id, '') FROM search_words CROSS JOIN search_documents d ON d.id = search_words.rowid
		WHERE search_words MATCH ? AND search_words.rowid < ? AND d.company_id = ? ORDER BY search_words.rowid DESC LIMIT ?`
	args := []any{expression, before, x.company, limit}
	if x.dialect == dialect.Postgres {
		// As a literal, because the planner chooses between the words and the newest rows by how frequent the words are.
		query = "SELECT n, row_id, request_id FROM search_vectors WHERE company_id = $1 AND tokens @@ '" + strings.ReplaceAll(expression, "'", "''") +
			"'::tsquery AND n < $2 ORDER BY n DESC LIMIT $3"
		args = []any{x.company, before, limit}
	}
	var rows sql.Rows
	if err := ent.DriverOf(db).Query(ctx, query, args, &rows); err != nil {
		return nil, fmt.Errorf("search the index: %w", err)
	}
	var out []*ent.SearchDocument
	for rows.Next() {
		d := &ent.SearchDocument{CompanyID: x.company}
		if err := rows.Scan(&d.ID, &d.RowID, &d.RequestID); err != nil {
			return nil, fmt.Errorf("search the index: %w", err)
		}
		d.Kind = kindOf(d.RowID)
		out = append(out, d)
	}
	err := rows.Err()
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("search the index: %w", err)
	}
	return out, nil
}

// kinds are the kinds of documents by the prefixes of their rows' ids.
var kinds = map[string]searchdocument.Kind{
	"req": searchdocument.KindRequest, "cmt": searchdocument.KindComment, "svc": searchdocument.KindService, "off": searchdocument.KindOffering,
	"usr": searchdocument.KindUser,
}

func kindOf(rowID string) searchdocument.Kind {
	prefix, _, _ := strings.Cut(rowID, "_")
	return kinds[prefix]
}

// token returns the expression for a token. Tokens have no quotes: they are letters, digits and hyphens.
func (x index) token(kind byte, token string, prefix bool) string {
	token = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`'"\`, r) {
			return -1
		}
		return r
	}, string(kind)+token)
	switch {
	case x.dialect == dialect.Postgres && prefix:
		return "'" + token + "':*"
	case x.dialect == dialect.Postgres:
		return "'" + token + "'"
	case prefix:
		return `"` + x.company + token + `" *`
	}
	return `"` + x.company + token + `"`
}

// term returns the expression for a term among the tokens of a kind.
func (x index) term(kind byte, t words.Term) string {
	all := make([]string, len(t.Tokens))
	for i, token := range t.Tokens {
		all[i] = x.token(kind, token, t.Prefix && i == len(t.Tokens)-1)
	}
	return x.and(all)
}

func (x index) and(all []string) string { return x.join(all, " & ", " AND ") }

func (x index) or(all []string) string { return x.join(all, " | ", " OR ") }

func (x index) join(all []string, postgres, sqlite string) string {
	if len(all) == 1 {
		return all[0]
	}
	if x.dialect == dialect.Postgres {
		return "(" + strings.Join(all, postgres) + ")"
	}
	return "(" + strings.Join(all, sqlite) + ")"
}

// not returns the expression for what matches one and none of the others.
func (x index) not(one string, none []string) string {
	switch {
	case len(none) == 0:
		return one
	case x.dialect == dialect.Postgres:
		return "(" + one + " & !" + x.or(none) + ")"
	}
	return "(" + one + " NOT " + x.or(none) + ")"
}
