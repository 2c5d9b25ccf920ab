// Package rights remembers what access policies decide by: a company's policies, compiled, and what they ask of a caller
// beyond its principal. Package op asks it for every call; it decides nothing itself. What it remembers holds only while
// store.Authority says that it would hear of a change, on any node; else it reads anew.
package rights
