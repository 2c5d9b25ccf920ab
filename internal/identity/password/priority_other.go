//go:build !linux

package password

// lowerPriority does nothing: elsewhere a priority is the whole process's.
func lowerPriority() {}
