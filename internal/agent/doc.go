// Package agent keeps the automated participants of a company: what takes requests out of queues and works phases of
// workflows. Its operations take a person; both what an agent does and how autonomous it is are decided elsewhere, by
// the workflows that name it. The GraphQL door calls it.
package agent
