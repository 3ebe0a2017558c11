/** Activity of Aurora's shoppers: sixty days of blocks and videos, ninety of the popup, two days of events. */

import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { hourMs, minuteMs } from '#runtime/durations'
import { idFromName } from '#runtime/values/ids'
import type { DemoStore } from './demo-store.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { Timeline } from './timeline.ts'

type Day = SeedRow<'widget_daily'> & { resource_id: string }

/** Seeds the activity. Runs after blocks, videos and subscribers were seeded. */
export async function seedActivity(db: RootDatabase, store: DemoStore): Promise<void> {
  const events = eventRows(store.timeline)
  await insertRows(db, 'storefront_events', store.id, events)
  await insertRows(db, 'widget_daily', store.id, [
    ...(await blockDays(db, store)),
    ...(await popupDays(db, store)),
    ...eventDays(events, store.timeline),
  ])
  // All-time counters are the sums of the days.
  for (const [table, id, widget] of [
    ['content_blocks', 'w.id::text', 'content-block'],
    ['video_sliders', 'w.id::text', 'video-slider'],
    ['home_video_sliders', `'home'`, 'video-slider'],
  ] as const) {
    await sql`update ${sql.table(table)} w set (impressions, clicks) = (
      select coalesce(sum(d.impressions), 0), coalesce(sum(d.clicks), 0) from widget_daily d
      where d.store_id = w.store_id and d.widget = ${widget} and d.resource_id = ${sql.raw(id)})
      where w.store_id = ${store.id}`.execute(db)
  }
}

/** The last days, today first. */
const listDays = (timeline: Timeline, count: number) =>
  Array.from({ length: count }, (_none, back) => {
    const noon = timeline.localTime(back, 12)
    return { day: timeline.localDay(noon), isWeekend: timeline.isWeekend(noon) }
  })

/** Daily counters of blocks: higher on weekends, with a different click rate for each block. */
async function blockDays(db: RootDatabase, { id: storeId, timeline }: DemoStore): Promise<Day[]> {
  const random = new Random('aurora content blocks')
  const readIds = async (table: 'content_blocks' | 'video_sliders'): Promise<string[]> => {
    const rows = await db
      .selectFrom(table)
      .select('id')
      .where('store_id', '=', storeId)
      .orderBy('id')
      .execute()
    return rows.map(({ id }) => id)
  }
  const buildRows = (widget: string, resource_id: string, least: number, most: number, rate: number): Day[] =>
    listDays(timeline, 60).map(({ day, isWeekend }): Day => {
      const impressions = Math.round(random.between(least, most) * (isWeekend ? 1.6 : 1))
      const clicks = Math.round(impressions * random.between(rate, rate + 0.005))
      return { widget, resource_id, day, impressions, clicks, visitors: Math.ceil(impressions * 0.8) }
    })
  const blocks = await readIds('content_blocks')
  const sliders = [...(await readIds('video_sliders')), 'home']
  return [
    ...blocks.flatMap((id, at) => buildRows('content-block', id, 60, 110, 0.025 + 0.0075 * at)),
    ...sliders.flatMap((id, at) => buildRows('video-slider', id, 20, 70, 0.08 + 0.03 * at)),
  ]
}

/** Daily counters of the popup, which are never lower than the number of that day's subscribers. */
async function popupDays(db: RootDatabase, { id, timeline }: DemoStore): Promise<Day[]> {
  const random = new Random('aurora impressions')
  const subscribers = await db
    .selectFrom('newsletter_subscribers')
    .select('created_at')
    .where('store_id', '=', id)
    .execute()
  const subscribed = Map.groupBy(subscribers, (each) => timeline.localDay(each.created_at))
  return listDays(timeline, 91).map(({ day, isWeekend }): Day => {
    const usual = isWeekend ? random.whole(110, 190) : random.whole(55, 115)
    const impressions = Math.max(usual, subscribed.get(day)?.length ?? 0)
    const visitors = Math.max(1, Math.floor(impressions * random.between(0.75, 0.95)))
    return {
      widget: 'newsletter',
      resource_id: '',
      day,
      impressions,
      closes: Math.floor(impressions * 0.7),
      visitors,
    }
  })
}

type Event = SeedRow<'storefront_events'>

/** 4,000; twelve people view something right now, so that live counters are not empty. */
function eventRows(timeline: Timeline): Event[] {
  const random = new Random('aurora storefront events')
  const shown = new Set<string>()
  const rows: Event[] = []
  while (rows.length < 4000) {
    const number = rows.length
    const isLive = number < 12
    const ago = isLive ? random.between(0, 4) * minuteMs : wakefulMs(random, timeline)
    const at = new Date(timeline.now.getTime() - ago)
    const row = buildEvent(
      random,
      isLive ? 0 : random.whole(0, 99),
      isLive ? number : random.whole(0, 1099),
      at,
    )
    const once = `${row.visitor_id} ${row.resource_id} ${row.slot}`
    if (row.slot !== null && shown.has(once)) continue
    shown.add(once)
    // Four of them at the same product.
    const product = number < 4 ? { product_id: '1001' } : {}
    rows.push({ ...row, ...product, id: idFromName(`aurora storefront event ${number}`, at.getTime()) })
  }
  return rows
}

/** A random age of up to 48 hours, less often at night. */
function wakefulMs(random: Random, timeline: Timeline): number {
  for (;;) {
    const ago = random.between(4 * minuteMs, 48 * hourMs)
    const hour = timeline.localHour(new Date(timeline.now.getTime() - ago))
    if (hour >= 8 || random.chance(0.15)) return ago
  }
}

/** `kind`, out of a hundred: product views, additions to the cart, seen alerts; the rest are clicked alerts. */
function buildEvent(random: Random, kind: number, visitor: number, at: Date): Omit<Event, 'id'> {
  const bare = {
    resource_id: '',
    product_id: null,
    slot: null,
    visitor_id: `demo-visitor-${String(visitor).padStart(6, '0')}`,
    device: visitor % 10 < 7 ? 'mobile' : 'desktop',
    happened_at: at,
  }
  // A few products are viewed far more than the others.
  const product_id = String(1001 + Math.floor(36 * random.next() ** 2.2))
  if (kind < 76) return { ...bare, type: kind < 66 ? 'product-view' : 'cart-add', widget: 'page', product_id }
  const resource_id = random.chance(0.7) ? 'recent-purchases' : 'live-visitors'
  const alert = { ...bare, widget: 'fomo-alert', resource_id }
  if (kind >= 97) return { ...alert, type: 'click' }
  return { ...alert, type: 'impression', slot: Math.floor(at.getTime() / (30 * minuteMs)) }
}

/** Daily counters of the events, as live counting would produce them. */
function eventDays(events: readonly Event[], timeline: Timeline): Day[] {
  const counted = events.filter(({ type }) => type !== 'product-view')
  const byDay = Map.groupBy(counted, ({ widget, resource_id, happened_at }) =>
    [widget, resource_id, timeline.localDay(happened_at)].join(),
  )
  return [...byDay].map(([key, ofDay]): Day => {
    const [widget, resource_id, day] = key.split(',') as [string, string, string]
    const of = (type: string) => ofDay.filter((each) => each.type === type)
    const seen = of('impression')
    const visitors = new Set(seen.map((each) => each.visitor_id)).size
    const counts = { impressions: seen.length, clicks: of('click').length, cart_adds: of('cart-add').length }
    return { widget, resource_id, day, ...counts, visitors }
  })
}
