// markdown shows what people write as the server has read it. It builds elements of a tree of nodes, and never HTML of a string.
import { createContext, useContext, type CSSProperties, type ReactNode } from 'react';
import { t } from '../app/text';

interface Node { type: string; text?: string; level?: number; start?: number; checked?: boolean; href?: string; align?: string; children?: Node[] }

const within = (n: Node): ReactNode => n.children?.map((c, i) => <Shown key={i} node={c} />);

// Headings of a text are below those of the page, whatever levels it uses: the first of them is the page's next.
const headings = ['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const;
const Levels = createContext<number[]>([]);
const levelsOf = (list: Node[]): number[] => [...new Set(list.flatMap((n) => [...(n.type === 'heading' ? [n.level ?? 1] : []), ...levelsOf(n.children ?? [])]))].sort((a, b) => a - b);

function Heading({ node }: { node: Node }) {
  const H = headings[useContext(Levels).indexOf(node.level ?? 1)] ?? 'h6';
  return <H dir="auto">{within(node)}</H>;
}

// Named are the names of people by their e-mail addresses and ids. Who is mentioned by one is shown by the name.
export const Named = createContext<ReadonlyMap<string, string>>(new Map());

export function Mentions({ text }: { text: string }) {
  const named = useContext(Named);
  if (!text.includes('@')) return <>{text}</>;
  return <>{text.split(/(@usr_[0-9a-z]{26}|@[^\s@<>(),;:"]+@[A-Za-z0-9.-]*[A-Za-z0-9])/).map((part, i) => {
    const name = i % 2 === 1 ? named.get(part.slice(1).toLowerCase()) ?? (part.startsWith('@usr_') ? t('Somebody') : undefined) : undefined;
    return name ? <span key={i} className="mention" title={part.slice(1)} dir="auto">@{name}</span> : part;
  })}</>;
}

function Table({ node }: { node: Node }) {
  const row = (r: Node, Cell: 'td' | 'th') => r.children?.map((c, i) => <Cell key={i} style={(c.align ? { textAlign: c.align } : {}) as CSSProperties}>{within(c)}</Cell>);
  const [head, ...rows] = node.children ?? [];
  return <div className="scroll"><table>{head && <thead><tr>{row(head, 'th')}</tr></thead>}<tbody>{rows.map((r, i) => <tr key={i}>{row(r, 'td')}</tr>)}</tbody></table></div>;
}

function Shown({ node: n }: { node: Node }): ReactNode {
  switch (n.type) {
    case 'text': return <Mentions text={n.text ?? ''} />;
    case 'strong': return <strong>{within(n)}</strong>;
    case 'emphasis': return <em>{within(n)}</em>;
    case 'strike': return <s>{within(n)}</s>;
    case 'code': return <code>{n.text}</code>;
    case 'link': return <a href={n.href} target="_blank" rel="noopener noreferrer nofollow">{within(n)}</a>;
    case 'break': return <br />;
    case 'paragraph': return <p dir="auto">{within(n)}</p>;
    case 'heading': return <Heading node={n} />;
    case 'quote': return <blockquote dir="auto">{within(n)}</blockquote>;
    case 'list': return n.start ? <ol start={n.start}>{within(n)}</ol> : <ul>{within(n)}</ul>;
    case 'item': return <li className={n.checked === undefined ? undefined : 'task'}>{n.checked !== undefined && <input type="checkbox" checked={n.checked} disabled aria-hidden />}{within(n)}</li>;
    case 'codeBlock': return <pre><code>{n.text}</code></pre>;
    case 'rule': return <hr />;
    case 'table': return <Table node={n} />;
    default: return within(n);
  }
}

// Prose is a text in Markdown by its blocks, or a plain one as it stands.
export function Prose({ content, children }: { content: unknown; children: ReactNode }) {
  if (!Array.isArray(content)) return <p className="prose" dir="auto">{children}</p>;
  return <Levels value={levelsOf(content as Node[])}><div className="rich">{(content as Node[]).map((n, i) => <Shown key={i} node={n} />)}</div></Levels>;
}
