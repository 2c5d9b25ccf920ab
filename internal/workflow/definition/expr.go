package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// Expr is a compiled CEL expression. It is immutable and may be evaluated by many goroutines at once.
type Expr struct {
	source  string // as its author wrote it
	checked *cel.Ast
	program cel.Program
	secrets []string
	path    []string // set if the expression only names a value: request.fields.amount
}

// Source returns the expression as its author wrote it.
func (e *Expr) Source() string { return e.source }

// Secrets returns the names of the secrets that the expression reads, each once, in order of appearance.
func (e *Expr) Secrets() []string { return e.secrets }

// ReadsBody reports whether the expression may read response.body.
func (e *Expr) ReadsBody() bool {
	for _, ident := range ast.MatchDescendants(ast.NavigateAST(e.checked.NativeRep()), ast.KindMatcher(ast.IdentKind)) {
		if of, _ := member(ident); ident.AsIdent() == "response" && of != "status" && of != "headers" {
			return true
		}
	}
	return false
}

// scope says which variables are available in a place besides request, execution, webhook, input and phases.
type scope int

const (
	plain       scope = iota
	inCall            // templates of API_CALL and WEBHOOK_CALLOUT: secrets
	forResponse       // response expressions of API_CALL: response
	forMapping        // an inbound webhook's mapping and its condition: only webhook
	forRequest        // a condition outside of definitions: only request
)

var secretName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// expression compiles source for a place that needs a value of type want (cel.DynType allows any), and collects the
// secrets that it reads. Every fault becomes one row at path, and nil is returned.
func (c *checker) expression(path, source string, s scope, want *cel.Type) *Expr {
	if len(source) > maxSource {
		c.fault(path, "An expression may be at most %d bytes long.", maxSource)
		return nil
	}
	if !c.spend(1, len(source), 0) {
		return nil
	}
	checked := c.compile(path, byName(source, headers))
	if checked == nil {
		return nil
	}
	if !fits(checked.OutputType(), want) {
		c.fault(path, "The expression must give %s, not %s.", typeName(want), typeName(checked.OutputType()))
		return nil
	}
	secrets, ok := c.names(path, checked, s)
	if !ok {
		return nil
	}
	program, err := newProgram(c.env, checked)
	if err != nil {
		c.fault(path, "The expression does not compile: %s.", clip(err.Error()))
		return nil
	}
	return &Expr{source: source, checked: checked, program: program, secrets: secrets, path: pathOf(checked.NativeRep().Expr())}
}

// hyphened finds a name with hyphens at an offset of an expression, and how it is written instead: webhook.body.a-b as
// webhook.body["a-b"].
type hyphened func(source string, at int) (instead string, length int)

// headers finds webhook.headers.x-github-event, which is webhook.headers["x-github-event"]. CEL would read it as a difference, which texts
// have not.
func headers(source string, at int) (string, int) {
	const of = "webhook.headers."
	if !strings.HasPrefix(source[at:], of) || at > 0 && (isWord(rune(source[at-1])) || source[at-1] == '.') {
		return "", 0
	}
	name := hyphenWord.FindString(source[at+len(of):])
	if !strings.Contains(name, "-") {
		return "", 0
	}
	return `webhook.headers["` + strings.ToLower(name) + `"]`, len(of) + len(name)
}

// members finds every other field whose name has hyphens. It is for an expression that is none as it is written, because a difference may
// be meant: webhook.body.total-webhook.body.tax.
func members(source string, at int) (string, int) {
	if source[at] != '.' || at == 0 || !isWord(rune(source[at-1])) && source[at-1] != ']' && source[at-1] != ')' {
		return "", 0
	}
	name := hyphenName.FindString(source[at+1:])
	end := at + 1 + len(name)
	if name == "" || end < len(source) && (source[end] == '(' || source[end] == '.' && slices.Contains(variables, name[strings.LastIndexByte(name, '-')+1:])) {
		return "", 0
	}
	return `["` + name + `"]`, 1 + len(name)
}

// byName writes the names with hyphens in an expression as CEL takes them. It leaves texts and comments alone.
func byName(source string, find hyphened) string {
	var out strings.Builder
	for i := 0; i < len(source); {
		switch {
		case source[i] == '"' || source[i] == '\'':
			end := skipString(source, i)
			out.WriteString(source[i:end])
			i = end
			continue
		case strings.HasPrefix(source[i:], "//"):
			line, _, _ := strings.Cut(source[i:], "\n")
			out.WriteString(line)
			i += len(line)
			continue
		}
		if instead, length := find(source, i); length > 0 {
			out.WriteString(instead)
			i += length
			continue
		}
		out.WriteByte(source[i])
		i++
	}
	return out.String()
}

// variables are the names that expressions begin with.
var variables = []string{"request", "webhook", "execution", "phases", "input", "response", "secrets"}

// hyphenName is a name in words that are no numbers with hyphens between.
var hyphenName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z_][A-Za-z0-9_]*)+`)

// hyphenWord is a header's name in words with hyphens between. What follows a blank is no part of it.
var hyphenWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*`)

// pathOf returns the names of an expression that only names a value (request.fields.amount, request.fields["amount"]), and
// nil for every other expression.
func pathOf(e ast.Expr) []string {
	switch e.Kind() {
	case ast.IdentKind:
		return []string{e.AsIdent()}
	case ast.SelectKind:
		if of := pathOf(e.AsSelect().Operand()); of != nil && !e.AsSelect().IsTestOnly() {
			return append(of, e.AsSelect().FieldName())
		}
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != operators.Index || call.Args()[1].Kind() != ast.LiteralKind {
			return nil
		}
		name, ok := call.Args()[1].AsLiteral().(types.String)
		if of := pathOf(call.Args()[0]); ok && of != nil {
			return append(of, string(name))
		}
	}
	return nil
}

// compile parses and checks source. If that is no expression, it reads fields with hyphens in their names as they are written.
func (c *checker) compile(path, source string) *cel.Ast {
	checked, issues := c.check(path, source)
	if issues == nil {
		return checked
	}
	if as := byName(source, members); as != source && c.spend(0, len(source), 0) {
		if checked, again := c.check(path, as); again == nil {
			return checked
		}
	}
	c.misread(path, issues)
	return nil
}

// check returns the checked expression, or what CEL finds wrong with it; nothing if it reports a fault itself. It counts loops before the
// check, whose time grows far more than linearly with them.
func (c *checker) check(path, source string) (*cel.Ast, *cel.Issues) {
	parsed, issues := c.env.Parse(source)
	if issues.Err() != nil {
		return nil, issues
	}
	loops, ok := countLoops(ast.NavigateAST(parsed.NativeRep()))
	if !ok {
		c.fault(path, "An expression may hold at most %d loops, and %d inside one another.", maxLoops, maxNestedLoops)
		return nil, nil
	}
	if !c.spend(0, 0, loops) {
		return nil, nil
	}
	checked, issues := c.env.Check(parsed)
	if issues.Err() != nil {
		return nil, issues
	}
	return checked, nil
}

// misread adds the row of an expression that CEL refuses, and keeps its place.
func (c *checker) misread(path string, issues *cel.Issues) {
	c.fault(path, "%s", syntaxMessage(issues))
	if errs := issues.Errors(); len(errs) > 0 && errs[0].Location != nil {
		c.at = errs[0].Location
	}
}

// countLoops returns the number of loops in an expression, and whether it is allowed.
func countLoops(tree ast.NavigableExpr) (int, bool) {
	loops := ast.MatchDescendants(tree, ast.KindMatcher(ast.ComprehensionKind))
	if len(loops) > maxLoops {
		return 0, false
	}
	for _, loop := range loops {
		around := 1
		for parent, ok := loop.Parent(); ok; parent, ok = parent.Parent() {
			if parent.Kind() == ast.ComprehensionKind {
				around++
			}
		}
		if around > maxNestedLoops {
			return 0, false
		}
	}
	return len(loops), true
}

// fits reports whether an expression of type got may stand where want is needed. A value whose type is only known at run
// time (a field of the request, a part of a webhook's body) fits everywhere.
func fits(got, want *cel.Type) bool {
	return want.Kind() == types.DynKind || got.Kind() == types.DynKind || want.IsAssignableType(got)
}

// celNames replaces CEL's names of types by those that authors write.
var celNames = strings.NewReplacer("google.protobuf.Timestamp", "timestamp", "google.protobuf.Duration", "duration",
	"wrapper(string)", "string", "'"+wholeFunction+"'", "a whole number")

func typeName(t *cel.Type) string {
	name := celNames.Replace(t.String())
	if strings.HasPrefix(name, "int") {
		return "an " + name
	}
	return "a " + name
}

// syntaxMessage returns CEL's first error in one line: the place and the fault, without the source.
func syntaxMessage(issues *cel.Issues) string {
	errs := issues.Errors()
	if len(errs) == 0 {
		return "The expression does not compile: " + clip(issues.Err().Error()) + "."
	}
	first := errs[0]
	message := celNames.Replace(strings.TrimSuffix(first.Message, " (in container '')"))
	if first.Location == nil || first.Location == common.NoLocation {
		return "The expression does not compile: " + clip(message) + "."
	}
	return fmt.Sprintf("The expression does not compile (line %d, column %d): %s.",
		first.Location.Line(), first.Location.Column()+1, clip(message))
}

// names checks uses of variables that CEL's types cannot check: phases.<id> names a phase, secrets.NAME is a valid name in
// a place where secrets are available, and response is used where there is one. Returns the secrets that are read.
func (c *checker) names(path string, checked *cel.Ast, s scope) ([]string, bool) {
	before := len(c.rows)
	var secrets []string
	tree := ast.NavigateAST(checked.NativeRep())
	for _, loop := range ast.MatchDescendants(tree, ast.KindMatcher(ast.ComprehensionKind)) {
		c.loopNames(path, loop.AsComprehension())
	}
	for _, ident := range ast.MatchDescendants(tree, ast.KindMatcher(ast.IdentKind)) {
		switch s {
		case forMapping:
			c.mappingNames(path, ident)
			continue
		case forRequest:
			c.requestNames(path, ident)
			continue
		}
		switch ident.AsIdent() {
		case "secrets":
			if name, ok := c.secretUse(path, ident, s); ok {
				secrets = append(secrets, name)
			}
		case "phases":
			c.phaseUse(path, ident)
		case "response":
			if s != forResponse {
				c.fault(path, "The variable response stands only in the response expressions of an API_CALL.")
			}
		}
	}
	c.rows = append(c.rows[:before], slices.Compact(c.rows[before:])...) // has() reads its field twice
	return unique(secrets), len(c.rows) == before
}

// loopNames refuses a loop variable with the name of one of our variables, so that a name always means the same.
func (c *checker) loopNames(path string, loop ast.ComprehensionExpr) {
	for _, name := range []string{loop.IterVar(), loop.IterVar2()} {
		switch name {
		case "request", "execution", "webhook", "response", "phases", "secrets":
			c.fault(path, "A loop variable may not be called %s.", name)
		}
	}
}

// otherThan reports whether a name is that of a variable other than the one that an expression may read.
func otherThan(only string, ident ast.NavigableExpr) bool {
	name := ident.AsIdent()
	return name != only && slices.Contains(variables, name) &&
		(name != "input" || !ofLoop(ident))
}

// ofLoop reports whether a name is that of a loop variable around it. Loops of definitions from before there was the variable input may
// use its name.
func ofLoop(ident ast.NavigableExpr) bool {
	for parent, ok := ident.Parent(); ok; parent, ok = parent.Parent() {
		if parent.Kind() != ast.ComprehensionKind {
			continue
		}
		if loop := parent.AsComprehension(); loop.IterVar() == ident.AsIdent() || loop.IterVar2() == ident.AsIdent() {
			return true
		}
	}
	return false
}

func (c *checker) secretUse(path string, ident ast.NavigableExpr, s scope) (string, bool) {
	name, ok := member(ident)
	switch {
	case s != inCall:
		c.fault(path, "Secrets may be used only in templates of API_CALL and WEBHOOK_CALLOUT%s.", suffix(": secrets.", name))
	case !ok:
		c.fault(path, "Secrets are read one by one, as secrets.NAME.")
	case !secretName.MatchString(name):
		c.fault(path, "No secret can be called %s.", quote(name))
	default:
		return name, true
	}
	return "", false
}

func (c *checker) phaseUse(path string, ident ast.NavigableExpr) {
	name, ok := member(ident)
	switch {
	case !ok:
		c.fault(path, "Phases are read one by one, as phases.<id>.")
	case !c.known[name]:
		c.fault(path, "No phase has the id %s, which the expression reads.", quote(name))
	}
}

// member returns NAME of ident.NAME, has(ident.NAME) or ident["NAME"].
func member(ident ast.NavigableExpr) (string, bool) {
	parent, ok := ident.Parent()
	if !ok {
		return "", false
	}
	switch parent.Kind() {
	case ast.SelectKind:
		return parent.AsSelect().FieldName(), true
	case ast.CallKind:
		call := parent.AsCall()
		if call.FunctionName() != operators.Index || call.Args()[0].ID() != ident.ID() ||
			call.Args()[1].Kind() != ast.LiteralKind {
			return "", false
		}
		name, ok := call.Args()[1].AsLiteral().(types.String)
		return string(name), ok
	default:
		return "", false
	}
}
