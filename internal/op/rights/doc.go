// Package rights caches what access policies need for a decision: a company's compiled policies, and the facts about a
// caller that its principal does not hold. Package op asks it for every call; it decides nothing itself. A cached value
// holds only while store.Authority guarantees that changes on any node are heard; otherwise the package reads anew.
package rights
