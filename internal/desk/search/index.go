package search

import (
	"context"
	"fmt"
	"math"
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

// The statements that read the index: of SQLite, and of PostgreSQL. Their expressions stand in them as literals, because PostgreSQL plans by
// how frequent the words are.
const (
	ofSQLite = `SELECT d.id, d.row_id, coalesce(d.request_id, '') FROM search_words CROSS JOIN search_documents d ON d.id = search_words.rowid
		WHERE search_words MATCH ? AND search_words.rowid < ? AND d.company_id = ? ORDER BY search_words.rowid DESC LIMIT ?`
	ofNewest = `SELECT n, row_id, request_id FROM (SELECT * FROM search_vectors WHERE company_id = $1 AND n < $2 ORDER BY n DESC LIMIT $4) newest
		WHERE tokens @@ '%s'::tsquery ORDER BY n DESC LIMIT $3`
	ofWords = "SELECT n, row_id, request_id FROM search_vectors WHERE company_id = $1 AND tokens @@ '%s'::tsquery AND n < $2 ORDER BY n + 0 DESC LIMIT $3"
)

// Of the newest documents PostgreSQL reads so many first. Where an expression holds for one in frequent of these, it reads on, and else it
// asks the index of words.
const (
	newest   = 2048
	frequent = 40
)

// hits returns the documents of the company that match an expression, from before a number, the highest numbers first. Of these only the
// number, the kind and the rows' ids are set. It is the one place that reads search_words and search_vectors, and PostgreSQL's policies do
// not hold for the latter.
//
// PostgreSQL knows too little of beginnings of words to choose between the newest documents, which serve frequent words, and the index
// of words, which serves the others: it read all of 60,000 documents, in 65 ms, for a word that none has. So each is asked by itself.
func (x index) hits(ctx context.Context, db *ent.Client, expression string, before int64, limit int) ([]*ent.SearchDocument, error) {
	if x.dialect == dialect.SQLite {
		return x.read(ctx, db, ofSQLite, expression, before, x.company, limit)
	}
	literal := strings.ReplaceAll(expression, "'", "''")
	out, err := x.read(ctx, db, fmt.Sprintf(ofNewest, literal), x.company, before, limit, newest)
	switch {
	case err != nil || len(out) == limit:
		return out, err
	case len(out) >= newest/frequent:
		return x.read(ctx, db, fmt.Sprintf(ofNewest, literal), x.company, before, limit, math.MaxInt64)
	}
	return x.read(ctx, db, fmt.Sprintf(ofWords, literal), x.company, before, limit)
}

func (x index) read(ctx context.Context, db *ent.Client, query string, args ...any) ([]*ent.SearchDocument, error) {
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
