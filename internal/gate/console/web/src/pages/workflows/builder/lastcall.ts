// lastcall is the call of an inbound webhook of which people choose values, and on which a workflow is tried.
import { parse } from '../../../app/digits';
import { object } from './shape';

// Call is a call of an inbound webhook. The body is what its JSON says.
export interface Call { headers: Record<string, string>; body: unknown }
// A Kept call is one as the history has it: of a long body the beginning alone.
interface Kept { headers: Record<string, string>; body: string; bodyBytes: number; execution?: { variables: unknown } | null }
interface Sample { sampleHeaders: Record<string, string>; sampleBody: unknown }

// lastCallOf is the last call that has started something, or else the last one that was ignored, or else the sample of the sender; null for
// none. Pings and what could not be taken are passed over, as the server does for conditions.
export function lastCallOf(accepted: Kept | undefined, ignored: Kept | undefined, sample: Sample | undefined): Call | null {
  for (const call of [accepted, ignored]) {
    const body = call && whole(call);
    if (call && body !== undefined) return { headers: call.headers, body };
  }
  return sample ? { headers: sample.sampleHeaders, body: sample.sampleBody } : null;
}

// whole is the body of a call: where the history has only a part of it, from the execution that it started. undefined where it is no JSON,
// or no more than a part is there.
function whole(call: Kept): unknown {
  if (new TextEncoder().encode(call.body).length < call.bodyBytes) return object(object(call.execution?.variables)['webhook'])['body'];
  try { return parse(call.body); } catch { return undefined; }
}
