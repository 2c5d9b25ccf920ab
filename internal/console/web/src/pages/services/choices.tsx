interface Choice { id: string; name: string }

// Choices are what can be chosen, and what was chosen before it could not be any more.
export function Choices({ of, now }: { of: Choice[]; now: Choice | null | undefined }) {
  return <>{now && !of.some((c) => c.id === now.id) && <option value={now.id}>{now.name}</option>}{of.map((c) => <option key={c.id} value={c.id}>{c.name}</option>)}</>;
}
