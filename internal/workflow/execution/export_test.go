package execution

// CrowdedStep returns the job of a first step of a company that has many executions.
func CrowdedStep(company, execution string) StepArgs {
	return StepArgs{Company: company, Execution: execution, priority: 1 + len(crowds)}
}

// BodyOf calls bodyOf.
func BodyOf(raw []byte, contentType string) (any, string) { return bodyOf(raw, contentType) }

// OnTheWay is onTheWay, for tests.
var OnTheWay = onTheWay
