package definition

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A fault names its place and says what helps.
func TestFaultsOfAnExpressionHelp(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]Fault{
		`request.titel == "x"`:                     {`The expression does not compile (line 1, column 8): undefined field 'titel'. Did you mean title?`, 1, 8},
		"request.title == \"x\" &&\n  colour == 1": {`The expression does not compile (line 2, column 3): undeclared reference to 'colour'. Texts stand in quotes; what can be read begins with request, phases or webhook.`, 2, 3},
		`request.zzzzzzzz == 1`:                    {`The expression does not compile (line 1, column 8): undefined field 'zzzzzzzz'.`, 1, 8},
		`request.title`:                            {`The expression must give a bool, not a string.`, 0, 0},
		`phases.gone.x == 1`:                       {`No phase has the id "gone", which the expression reads.`, 0, 0},
		strings.Repeat("a", 5000):                  {`An expression may be at most 4096 bytes long.`, 0, 0},
	} {
		e, f := Check(t.Context(), InWorkflow, source, []string{"review"}, true)
		require.Nil(t, e)
		require.Equal(t, want, *f, source)
	}
	for source, says := range map[string]string{`request.title = "x"`: "two signs", `request.title == 1`: "different types", `request.title.contains(1)`: "values of these types", `(request.title == "x"`: "bracket"} {
		_, f := Check(t.Context(), OnRequest, source, nil, true)
		require.Contains(t, f.Message, says, source)
	}
}

func TestTypesOfExpressions(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`request.waiting`: "boolean", `request.title`: "text", `request.assigneeId`: "text", `request.reopenCount + 1`: "number", `request.createdAt`: "time",
		`request.fields.a`: "any", `[request.title]`: "list", `request.fields`: "object", `request.createdAt - request.createdAt`: "duration", `phases.review.outcome`: "any",
	} {
		e, f := Check(t.Context(), InWorkflow, source, []string{"review"}, false)
		require.Nil(t, f, source)
		require.Equal(t, want, e.Type(), source)
	}
}
