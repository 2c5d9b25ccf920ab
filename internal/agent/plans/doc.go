// Package plans decides: it reads what an agent may read about a request or a task, has the engine history or a language model decide
// on writes, and checks those. It performs no write; packages runner, custom and evaluation do that, or roll it back.
//
// # The mode of a tool call
//
// The strictest of the autonomy level, the tool's own mode and the company's policies applies. Deny refuses a call,
// RequireApproval makes it wait for a person. Both are evaluated before the transaction, on the row as it is and as it would
// become: the request, the task, or the comment to be created. In the transaction op.Tx evaluates them again for every write of an
// agent that nobody has approved, and refuses what slipped past: the run is handed over with the refusal. A decline always waits,
// and so does a move to another offering. Calls of agents on their own runs never wait, because they do nothing yet.
//
// # The engine model
//
// The system message consists of the frame and the version's instructions. The request's text, its comments, similar requests,
// teams and people are in one data message of at most 32 KiB of JSON. It is read with the rights of the agent and its requester,
// and secrets are masked (secret.Hide). Reads run at once. A write is checked against the version's tools, the operation's rules,
// the ids that were read, the agent's rights and the policies, and then kept. Any node can rebuild a conversation from its turns
// (Conversation.AddExchange); a replay does the same without calling the model.
//
// A run has 8 steps, 12 model calls, 32,000 tokens and 10 minutes, unless its version says otherwise. An answer that ends the work
// beyond a budget is not used either. The inputs of runs are kept for seven days. An erasure deletes all of the company's, because
// they quote other requests.
//
// # Phases
//
// About a task the model gets the task with its outcomes and its form, and has one tool that writes: completeTask, with arguments
// narrowed to the phase (Conversation.offers, Subject.narrow). The tools of the version are only for incoming requests. Who is
// consulted has createComment alone, whose body is the opinion.
package plans
