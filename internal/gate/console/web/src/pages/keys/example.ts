// example is a first call by a new key: of something that its scopes let it read. Without any such scope there is none.
const paths = [
  ['requests:read', 'requests'], ['services:read', 'services'], ['workflows:read', 'workflows'], ['users:read', 'users'], ['teams:read', 'teams'],
  ['organizations:read', 'organizations'], ['secrets:read', 'secrets'], ['billing:read', 'billing/credits'], ['audit:read', 'audit'],
] as const;

export function example(baseUrl: string, value: string, scopes: readonly string[]): string | null {
  const path = paths.find(([scope]) => scopes.includes(scope))?.[1];
  return path ? `curl ${baseUrl}/v1/${path} -H 'x-api-key: ${value}'` : null;
}

// signsItself reports whether the server is one on this machine or named by its address, for which no public authority signs: it has a
// certificate of its own.
export const signsItself = (baseUrl: string): boolean => /^https:\/\/(localhost|[^/:]+\.(localhost|local)|\d+(\.\d+){3}|\[[0-9a-f:]+\])(:\d+)?(\/|$)/i.test(baseUrl);
