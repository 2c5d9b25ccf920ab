import { rows, useAll, useRead } from '../../app/data';
import { t } from '../../app/text';
import { DeliveryFigures, WebhookUrls } from '../../gen/documents';
import type { DeliveryFigureFragment } from '../../gen/types';
import { Loaded, Section } from '../../ui/page';
import { Grouped, Timed } from './figured';
import { filled, share, type Keyed } from './table';
import type { Time } from './period';

const none = { succeeded: 0, failed: 0, pending: 0 };
type Stat = Keyed<DeliveryFigureFragment>;
const all = (f: Stat) => f.succeeded + f.failed + f.pending;

// hostOf is what is short enough for an axis; of addresses on one host the path tells them apart.
const hostOf = (url: string) => url.replace(/^https?:\/\//, '');

// DeliveryFigured is how deliveries of webhooks stand, over time and by where they go.
export function DeliveryFigured({ time, note }: { time: Time['utc']; note: string }) {
  const read = useRead(DeliveryFigures, { ...time });
  const urls = new Map(rows(useAll(WebhookUrls, {}).data?.webhookSubscriptions).map((s) => [s.id, hostOf(s.url)]));
  return (
    <Loaded read={read} skeleton={3}>
      {(d) => {
        const list = filled(d.over ?? [], time.from, time.to, time.over, none);
        if (list.every((f) => all(f) === 0)) return <Section title={t('Deliveries of webhooks')}><p className="nothing">{t('Nothing was delivered in this time')}. {t('Deliveries are kept for 30 days.')}</p></Section>;
        return (
          <div className="charts">
            <Timed<Stat> bars title={t('Deliveries of webhooks')} file="deliveries" over={time.over} list={list} intro={`${t('Counted by when the event happened, with the current status. Deliveries are kept for 30 days.')} ${note}`}
              columns={[{ name: t('Succeeded'), tone: 'good', value: (f) => f.succeeded }, { name: t('Failed'), tone: 'bad', value: (f) => f.failed }, { name: t('Pending'), tone: 'wait', value: (f) => f.pending }]} />
            <Grouped title={t('Deliveries, by webhook')} file="deliveries-by-webhook" head={t('Webhook')} list={d.bySubscription ?? []} name={(f) => urls.get(f.key) ?? f.key}
              columns={[{ name: t('Succeeded'), tone: 'good', value: (f) => f.succeeded }, { name: t('Failed'), tone: 'bad', value: (f) => f.failed }, { name: t('Pending'), tone: 'wait', value: (f) => f.pending }, { name: t('Succeeded (% of completed)'), value: (f) => share(f.succeeded, f.succeeded + f.failed) }]} />
          </div>
        );
      }}
    </Loaded>
  );
}
