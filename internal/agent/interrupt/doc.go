// Package interrupt keeps agents from overwriting the changes of others. Package request calls it in the transaction of every
// change of a request. It declares the jobs of package agent that request and the workflow engine need, because agent imports
// request. It never plans anything itself.
package interrupt
