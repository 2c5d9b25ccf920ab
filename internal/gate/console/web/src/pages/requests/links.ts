// links finds the addresses in what people write. Only those of web pages count, and the text stays as it was written.
export interface Piece { text: string; href?: string }

const address = /\bhttps?:\/\/[^\s<>"\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gi;

// ended leaves out the marks that end a sentence around an address, and a bracket that was not opened in it.
function ended(url: string): string {
  const bare = url.replace(/[.,;:!?'’”]+$/, '');
  const close = bare.at(-1) ?? '';
  const open = { ')': '(', ']': '[', '}': '{' }[close];
  return open && bare.split(open).length <= bare.split(close).length - 1 ? ended(bare.slice(0, -1)) : bare;
}

export function pieces(text: string): Piece[] {
  const out: Piece[] = [];
  let from = 0;
  for (const m of text.matchAll(address)) {
    const url = ended(m[0]);
    if (!URL.canParse(url)) continue;
    if (m.index > from) out.push({ text: text.slice(from, m.index) });
    out.push({ text: url, href: url });
    from = m.index + url.length;
  }
  if (from < text.length) out.push({ text: text.slice(from) });
  return out;
}
