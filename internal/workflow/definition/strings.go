package definition

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"

	"atrium/internal/platform/text"
)

// TextFunctions are the functions on texts, besides CEL's own. What they give is no longer than what they take, except for replace and split, whose
// bindings here have limits that CEL's have not.
var TextFunctions = []string{"charAt", "fold", "indexOf", "lastIndexOf", "lowerAscii", "replace", "split", "substring", "trim", "upperAscii"}

func texts() []cel.EnvOption {
	str, list := cel.StringType, cel.ListType(cel.StringType)
	return []cel.EnvOption{
		ext.Strings(ext.StringsVersion(0)),
		counted("charAt", 1, 0), counted("indexOf", 2, 1), counted("lastIndexOf", 2, 1), counted("substring", 1, 0), counted("substring", 2, 0),
		counted("replace", 3, 2), counted("split", 2, 1),
		cel.Function("fold", cel.Overload("fold_dyn", []*cel.Type{cel.DynType}, cel.DynType, cel.UnaryBinding(folded))),
		cel.Function("replace",
			cel.MemberOverload("string_replace_string_string", []*cel.Type{str, str, str}, str, cel.FunctionBinding(replaced)),
			cel.MemberOverload("string_replace_string_string_int", []*cel.Type{str, str, str, cel.IntType}, str, cel.FunctionBinding(replaced))),
		cel.Function("split",
			cel.MemberOverload("string_split_string", []*cel.Type{str, str}, list, cel.FunctionBinding(parted)),
			cel.MemberOverload("string_split_string_int", []*cel.Type{str, str, cel.IntType}, list, cel.FunctionBinding(parted))),
	}
}

// words returns the leading texts of a call, and the number after them: all, which is -1, when there is none. False if they are
// anything else.
func words(values []ref.Val, n int) (texts []string, most int, ok bool) {
	most = -1
	for i, v := range values {
		switch v := v.(type) {
		case types.String:
			texts = append(texts, string(v))
		case types.Int:
			most = int(max(v, -1))
		}
		if len(texts) != min(i+1, n) {
			return nil, 0, false
		}
	}
	return texts, most, true
}

// folded returns a text as texts are searched, without case and accents, and anything else as it is: null is no text.
func folded(v ref.Val) ref.Val {
	if s, ok := v.(types.String); ok {
		return types.String(text.Fold(string(s)))
	}
	return v
}

func replaced(values ...ref.Val) ref.Val {
	w, most, ok := words(values, 3)
	if !ok {
		return types.MaybeNoSuchOverloadErr(values[0])
	}
	if n := strings.Count(w[0], w[1]); n > 0 && len(w[0])+n*len(w[2]) > maxGivenBytes {
		return types.NewErr("replace() gives more than %d bytes", maxGivenBytes)
	}
	return types.String(strings.Replace(w[0], w[1], w[2], most))
}

func parted(values ...ref.Val) ref.Val {
	w, most, ok := words(values, 2)
	if !ok {
		return types.MaybeNoSuchOverloadErr(values[0])
	}
	if strings.Count(w[0], w[1]) >= maxCompared {
		return types.NewErr("split() gives more than %d texts", maxCompared)
	}
	return types.DefaultTypeAdapter.NativeToValue(strings.SplitN(w[0], w[1], most))
}
