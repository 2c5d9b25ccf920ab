package graph

import (
	"errors"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"atrium/internal/platform/apperr"
)

const (
	maxTokens  = 10_000   // in a document
	keepLength = 16 << 10 // bytes of the longest document that is cached
	keepBytes  = 1 << 20  // of all cached documents; their parsed form takes about twenty times as much
)

// document is a parsed document.
type document struct {
	ast     *ast.QueryDocument
	text    string
	valid   bool
	numbers map[string]any // the values of variables that stand for number literals (see literalsToVariables)
}

// documents parses and validates documents, and caches the valid ones. Safe for concurrent use.
type documents struct {
	rules *rules.Rules

	mu    sync.Mutex
	kept  *lru.LRU[string, *document]
	bytes int
}

func newDocuments() *documents {
	d := &documents{rules: quietRules()}
	kept, err := lru.NewLRU(keepBytes, func(text string, _ *document) { d.bytes -= len(text) })
	if err != nil {
		panic(err) // the size is a positive constant
	}
	d.kept = kept
	return d
}

// quietRules returns GraphQL's validation rules in the variants without suggestions, which would reveal names of the schema.
func quietRules() *rules.Rules {
	r := rules.NewDefaultRules()
	for loud, quiet := range map[string]core.Rule{
		rules.FieldsOnCorrectTypeRule.Name: rules.FieldsOnCorrectTypeRuleWithoutSuggestions,
		rules.KnownArgumentNamesRule.Name:  rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRule.Name:      rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ScalarLeafsRule.Name:         rules.ScalarLeafsRuleWithoutSuggestions,
		rules.ValuesOfCorrectTypeRule.Name: rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
	} {
		r.ReplaceRule(loud, quiet.RuleFunc)
	}
	return r
}

// parse returns the document of a text. Returns validation_error with the position of a syntax error, and query_too_complex for
// too many tokens.
func (d *documents) parse(text string) (*document, error) {
	d.mu.Lock()
	known, ok := d.kept.Get(text)
	d.mu.Unlock()
	if ok {
		return known, nil
	}
	whole, ok := joinSurrogates(text)
	if !ok {
		return nil, apperr.InvalidField("query", "has half of a surrogate pair as an escape")
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: whole}, maxTokens)
	if err != nil {
		if strings.Contains(err.Error(), "exceeded token limit") {
			return nil, apperr.New(apperr.QueryTooComplex, "The document may have %d tokens.", maxTokens)
		}
		return nil, syntaxError(err)
	}
	if len(doc.Operations) == 0 {
		return nil, apperr.InvalidField("query", "must hold an operation")
	}
	return &document{ast: doc, text: text}, nil
}

// syntaxError reports the position of a syntax error. It leaves out the text there, which may be part of a value.
func syntaxError(err error) error {
	if e, ok := errors.AsType[*gqlerror.Error](err); ok && len(e.Locations) > 0 {
		at := e.Locations[0]
		return apperr.InvalidField("query", "is not valid GraphQL at line %d, column %d", at.Line, at.Column)
	}
	return apperr.InvalidField("query", "is not valid GraphQL")
}

// validate checks a document against the schema, once, and caches it if it is valid.
func (d *documents) validate(schema *ast.Schema, doc *document) error {
	if doc.valid {
		return nil
	}
	literals, err := numbersIn(schema, doc.ast)
	if err != nil {
		return err
	}
	if errs := validator.ValidateWithRules(schema, doc.ast, d.rules); len(errs) > 0 {
		return errs
	}
	doc.numbers = literalsToVariables(literals)
	doc.valid = true
	if len(doc.text) > keepLength {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept.Contains(doc.text) {
		return nil
	}
	d.kept.Add(doc.text, doc)
	for d.bytes += len(doc.text); d.bytes > keepBytes; {
		d.kept.RemoveOldest()
	}
	return nil
}
