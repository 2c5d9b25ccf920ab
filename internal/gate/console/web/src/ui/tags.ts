// tags are texts by key. They are written one a line, as env=production; "env: production" is read as well.
type Tags = Record<string, string>;

const lineOf = ([key, value]: [string, string]) => `${key}=${value}`;

export const textOf = (tags: Tags) => Object.entries(tags).map(lineOf).join('\n');

function read(line: string): [string, string] {
  const [, key = line, value = ''] = /^(.*?)(?:=|:\s)(.*)$/.exec(line) ?? /^(.*?):(.*)$/.exec(line) ?? [];
  return [key.trim(), value.trim()];
}

// tagsOf reads the tags that a text of others has become. A line that was there stays the tag that it was, whatever its key holds.
export function tagsOf(text: string, was: Tags): Tags {
  if (text === textOf(was)) return was;
  const known = new Map(Object.entries(was).map((t) => [lineOf(t), t] as const));
  return Object.fromEntries(text.split('\n').filter((l) => l.trim()).map((l) => known.get(l) ?? read(l)));
}
