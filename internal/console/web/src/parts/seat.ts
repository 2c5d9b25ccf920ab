// seat says whose turn it is to decide.
interface Approval { approvers: { type: string; id: string }[]; decisions: { by: string }[]; sequential: boolean }

// decides reports whether a person may decide an approval now: they or a team of theirs are an approver, in turn where the approvers
// take turns. teams is null for those who are shown nothing but what they decide.
export function decides(a: Approval, me: string, teams: string[] | null): boolean {
  if (a.decisions.some((d) => d.by === me)) return false;
  if (teams === null) return true;
  const place = a.approvers.findIndex((p, i) => (p.type === 'user' ? p.id === me : teams.includes(p.id)) && (!a.sequential || i === a.decisions.length));
  return place >= 0;
}
