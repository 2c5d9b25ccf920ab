// chart draws figures as SVG without a library. Each chart has a name, and a table with the same numbers stands beside it.
import { ticks } from './ticks';

export interface Series { name: string; values: number[]; tone: 'accent' | 'good' | 'bad' | 'wait' }

const width = 560;
const height = 180;
const left = 34;
const bottom = 20;

// compact keeps what stands beside the axis as narrow as its place: 1,200,000 is 1.2M.
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

interface ChartProps { label: string; keys: string[]; series: Series[]; bars?: boolean }

export function Chart({ label, keys, series, bars }: ChartProps) {
  const scale = ticks(Math.max(0, ...series.flatMap((s) => s.values)));
  const top = scale.at(-1) ?? 1;
  const x = (i: number) => left + (keys.length === 1 ? 0.5 : (i + (bars ? 0.5 : 0)) / (bars ? keys.length : keys.length - 1)) * (width - left - 8);
  const y = (v: number) => 6 + (1 - v / top) * (height - bottom - 6);
  const every = Math.max(1, Math.ceil(keys.length / 7));
  const slot = (width - left - 8) / Math.max(1, keys.length);
  const bar = Math.max(2, Math.min(18, (slot * 0.7) / series.length));
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${label}; the table says the same`}>
        {scale.map((t) => <g key={t}><line x1={left} x2={width} y1={y(t)} y2={y(t)} className="grid-line" /><text x={left - 6} y={y(t) + 4} textAnchor="end">{compact.format(t)}</text></g>)}
        {keys.map((k, i) => (i % every === 0 ? <text key={k} x={x(i)} y={height - 4} textAnchor={i === 0 && !bars ? 'start' : 'middle'}>{k.length > 14 ? `${k.slice(0, 13)}…` : k}</text> : null))}
        {series.map((s, n) => (bars
          ? s.values.map((v, i) => <rect key={`${s.name} ${keys[i]}`} className={s.tone} x={x(i) - (bar * series.length) / 2 + n * bar} y={y(v)} width={bar - 1} height={Math.max(0, y(0) - y(v))} rx="2"><title>{`${keys[i]}, ${s.name}: ${v.toLocaleString()}`}</title></rect>)
          : <polyline key={s.name} className={s.tone} points={s.values.map((v, i) => `${x(i)},${y(v)}`).join(' ')} />))}
      </svg>
      <figcaption className="line">{series.map((s) => <span key={s.name} className="legend"><span className={`swatch ${s.tone}`} aria-hidden />{s.name}</span>)}</figcaption>
    </figure>
  );
}
