// chart draws figures as SVG without a library. Each chart has a name, and a table with the same numbers stands beside it.
import { useLayoutEffect, useRef, useState } from 'react';
import { locale, t } from '../app/text';
import { placed, stretches, ticks } from './ticks';

// Series are numbers under one name; NaN stands where there is none.
export interface Series { name: string; values: number[]; tone: 'accent' | 'good' | 'bad' | 'wait' }

const height = 184;
const bottom = 24; // the numbers beside the axis stand above the labels below it
const least = 1.5; // how high a bar is at least, in pixels: a zero is to be seen, and is not the same as no number

// compact keeps what stands beside the axis as narrow as its place: 1,200,000 is 1.2M.
const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });

// widthOf is how wide a text is in pixels, in the font that charts have.
const pen = globalThis.document.createElement('canvas').getContext('2d');
const widthOf = (text: string) => {
  if (!pen) return text.length * 6.5;
  pen.font = `11px ${getComputedStyle(globalThis.document.body).fontFamily}`;
  return pen.measureText(text).width;
};

// `says` is how a number is said beside the axis; without it numbers are kept short. `go` opens what stands behind a place of the axis: people
// who use no mouse have the links of the table for that.
interface ChartProps { label: string; keys: string[]; series: Series[]; bars?: boolean; says?: (n: number) => string; go?: (i: number) => void }

const short = (n: number) => compact.format(n);

export function Chart({ label, keys, series, bars, says = short, go }: ChartProps) {
  const figure = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(560); // in pixels as it is shown, so that its texts are of one size everywhere
  useLayoutEffect(() => {
    const at = figure.current;
    if (!at) return undefined;
    const measure = () => { setWidth(Math.max(200, Math.round(at.clientWidth))); };
    const seen = new ResizeObserver(measure);
    measure();
    seen.observe(at);
    return () => { seen.disconnect(); };
  }, []);
  const all = series.flatMap((s) => s.values).filter(Number.isFinite);
  const most = Math.max(0, ...all);
  const none = all.length === 0;
  const scale = ticks(most);
  const top = scale.at(-1) ?? 1;
  const left = Math.max(34, ...scale.map((tick) => Math.ceil(widthOf(says(tick))) + 10));
  const inner = width - left - 8;
  const x = (i: number) => left + (keys.length === 1 ? 0.5 : (i + (bars ? 0.5 : 0)) / (bars ? keys.length : keys.length - 1)) * inner;
  const y = (v: number) => 6 + (1 - v / top) * (height - bottom - 6);
  const labels = keys.map((k) => (k.length > 14 ? `${k.slice(0, 13)}…` : k));
  const slot = inner / Math.max(1, keys.length);
  const bar = Math.max(2, Math.min(18, (slot * 0.7) / series.length));
  const number = (n: number | undefined) => (n === undefined || !Number.isFinite(n) ? '–' : says === short ? n.toLocaleString(locale) : says(n));
  // What the mouse points at is a whole place of the axis, with all that stands there: a bar of two pixels is met by nobody.
  const room = bars ? slot : inner / Math.max(1, keys.length - 1);
  const from = (i: number) => Math.max(left, x(i) - room / 2);
  return (
    <figure className="chart" ref={figure}>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={t('{label}; the table says the same', { label })}>
        {scale.map((tick) => <g key={tick}><line x1={left} x2={width} y1={y(tick)} y2={y(tick)} className="grid-line" /><text x={left - 6} y={y(tick) + 4} textAnchor="end">{says(tick)}</text></g>)}
        {placed(labels, x, widthOf, 0, width).map(({ i, x: at }) => <text key={i} x={at} y={height - 4} textAnchor="middle">{labels[i]}</text>)}
        {none && <text x={left + inner / 2} y={height / 2} textAnchor="middle">{t('No data')}</text>}
        {!none && series.map((s, n) => (bars
          ? s.values.map((v, i) => Number.isFinite(v) && <rect key={`${s.name} ${i}`} className={s.tone} x={x(i) - (bar * series.length) / 2 + n * bar} y={Math.min(y(v), y(0) - least)} width={bar - 1} height={Math.max(least, y(0) - y(v))} rx={v > 0 ? 2 : 0} />)
          : (
            <g key={s.name}>
              {stretches(s.values).map((at) => <polyline key={at[0]} className={s.tone} points={at.map((i) => `${x(i)},${y(s.values[i] ?? 0)}`).join(' ')} />)}
              {s.values.map((v, i) => Number.isFinite(v) && <circle key={i} className={s.tone} cx={x(i)} cy={y(v)} r={keys.length === 1 ? 4 : 2} />)}
            </g>
          )))}
        {!none && keys.map((k, i) => (
          <rect key={i} className={`at${go ? ' leads' : ''}`} x={from(i)} y={0} width={Math.min(width, x(i) + room / 2) - from(i)} height={height - bottom} onClick={go && (() => { go(i); })}>
            <title>{[k, ...series.map((s) => `${s.name}: ${number(s.values[i])}`)].join('\n')}</title>
          </rect>
        ))}
      </svg>
      <figcaption className="line">{series.map((s) => <span key={s.name} className="legend"><span className={`swatch ${s.tone}`} aria-hidden />{s.name}</span>)}</figcaption>
    </figure>
  );
}
