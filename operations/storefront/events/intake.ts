/** Takes the events of one visitor: what may count is kept and counted in one transaction (rules 6 and 7). */
import { sql } from 'kysely'
import { columnsOf, days, recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { readEmail } from '#runtime/schema'
import { cut } from '#runtime/values/cut'
import { parsePhone } from '#runtime/values/phone'
import { seen } from '#runtime/values/signs'
import * as snapshots from '../catalog/snapshots.ts'
import type { EventsBody, GivenEvent } from './schema.ts'
import type { Counted, EventSpec, EventType, StorefrontEvent } from './specs.ts'

const slotMs = 1_800_000

interface KnownEvent extends StorefrontEvent {
  widget: string
}

/** Refuses events of widgets that no section has. */
export function refuseUnknown({ wired }: Context, { events }: EventsBody): void {
  for (const [at, { widget }] of events.entries()) {
    if (wired.events[widget]) continue
    throw refuse('bad_request', `events.${at}.widget: must be one of ${Object.keys(wired.events).join(', ')}`)
  }
}

/**
 * What is unknown, of a widget that the plan lacks or of a resource that cannot be counted is dropped in silence; an
 * event that came before, and an impression of the same visitor, resource and half hour, count nothing.
 */
export async function takeEvents(
  ctx: Context,
  features: ReadonlySet<string>,
  { visitorId, device, events }: EventsBody,
): Promise<void> {
  const known = await countable(ctx, features, events)
  if (known.length === 0) return
  const batch = known.map((event): KnownEvent => ({ ...event, visitorId, device: device ?? null }))
  await ctx.transaction(async (tx) => {
    // One visitor at a time: two tabs would wait for each other's impressions, and count one visitor twice.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`storefront:${tx.store.id}:${visitorId}`}, 0))`.execute(
      tx.db,
    )
    const kept = await keep(tx, batch)
    if (kept.length === 0) return
    await count(tx, visitorId, kept)
    await apply(tx, inOrder(kept, events))
  })
}

/** As the browser told them: a wish that is taken back and made again is not the same the other way round. */
function inOrder(kept: readonly KnownEvent[], given: readonly GivenEvent[]): KnownEvent[] {
  const place = new Map(given.map(({ id }, at) => [id.toLowerCase(), at] as const).reverse())
  return [...kept].sort((a, b) => place.get(a.id)! - place.get(b.id)!)
}

type Unplaced = Omit<KnownEvent, 'visitorId' | 'device'>

/** In the order in which rows are locked: by widget, resource and id. */
async function countable(
  ctx: Context,
  features: ReadonlySet<string>,
  events: readonly GivenEvent[],
): Promise<Unplaced[]> {
  const byWidget = Map.groupBy(firstOfEach(events), (event) => event.widget)
  const kept: Unplaced[] = []
  for (const [widget, ofWidget] of [...byWidget].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const spec = ctx.wired.events[widget]
    if (!spec || !mayUse(features, spec)) continue
    const placed = ofWidget
      .map((event) => eventOf(ctx, spec, event))
      .filter((event) => spec.types.includes(event.type) && isComplete(event))
    const existing = spec.existing && (await spec.existing(ctx, [...new Set(placed.map(resourceOf))]))
    const found = existing ? placed.filter((event) => existing.has(event.resourceId)) : placed
    const there = await withProducts(ctx, found)
    kept.push(...there.sort((a, b) => compare(resourceOf(a), resourceOf(b)) || compare(a.id, b.id)))
  }
  return kept
}

const aboutProducts: readonly EventType[] = ['product-view', 'cart-add']

/** What is counted of a product is so where the mirror of the catalog has it, and its variant; one alone names it. */
async function withProducts(ctx: Context, events: Unplaced[]): Promise<Unplaced[]> {
  const isAbout = ({ type }: Unplaced) => aboutProducts.includes(type)
  const about = events.filter(isAbout)
  const alone = about.flatMap(({ productId, variantId }) =>
    productId === null && variantId !== null ? variantId : [],
  )
  const ofVariant = await snapshots.productsOfVariants(ctx, alone)
  const named = about.flatMap(({ productId }) => productId ?? [])
  const products = await snapshots.find(ctx, [...new Set(named)])
  return events.flatMap((event) => {
    const { productId, variantId } = event
    if (!isAbout(event) || (productId === null && variantId === null)) return event
    if (productId === null) {
      const found = ofVariant.get(variantId!)
      return found === undefined ? [] : { ...event, productId: found }
    }
    return snapshots.statusOf(products.get(productId), variantId) === 'missing' ? [] : event
  })
}

const firstOfEach = (events: readonly GivenEvent[]): GivenEvent[] => [
  ...new Map([...events].reverse().map((event) => [event.id.toLowerCase(), event])).values(),
]
const mayUse = (features: ReadonlySet<string>, { feature }: EventSpec): boolean =>
  feature === null ? features.size > 0 : features.has(feature)
const resourceOf = (event: { resourceId: string }): string => event.resourceId
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A wish without a product, a cart without anything, or a contact that reaches nobody, says nothing. */
function isComplete({ type, resourceId, productId, variantId, contact }: Unplaced): boolean {
  if (type === 'wishlist-contact') return contact !== null
  if (type === 'cart-add') return resourceId !== '' || productId !== null || variantId !== null
  return productId !== null || !['product-view', 'wishlist-add', 'wishlist-remove'].includes(type)
}

function eventOf(ctx: Context, spec: EventSpec, event: GivenEvent): Unplaced {
  const { id, type, widget, resourceId, productId = null, variantId = null, contact } = event
  return {
    id: id.toLowerCase(),
    type,
    widget,
    resourceId: spec.existing ? (resourceId ?? '') : '',
    productId,
    variantId,
    contact: contact ? reachable(ctx, contact) : null,
  }
}

function reachable(
  ctx: Context,
  contact: NonNullable<GivenEvent['contact']>,
): NonNullable<StorefrontEvent['contact']> | null {
  const email = readEmail(contact.email ?? '')
  const phone = parsePhone(contact.phone ?? '', ctx.store.country)
  if (email === null && phone === null) return null
  return {
    email,
    phone,
    name: cut(seen(contact.name) ?? '', 120) || null,
    consent: contact.consent,
  }
}

const types = {
  id: 'uuid',
  type: 'text',
  widget: 'text',
  resource_id: 'text',
  product_id: 'text',
  variant_id: 'text',
  visitor_id: 'text',
  device: 'text',
  slot: 'integer',
  happened_at: 'timestamptz',
}
const columns = columnsOf(types)

/** Those that are new. */
async function keep(ctx: Context, events: readonly KnownEvent[]): Promise<KnownEvent[]> {
  const now = ctx.now()
  const rows = events.map((event) => ({
    id: event.id,
    type: event.type,
    widget: event.widget,
    resource_id: event.resourceId,
    product_id: event.productId,
    variant_id: event.variantId,
    visitor_id: event.visitorId,
    device: event.device,
    slot: event.type === 'impression' ? slotOf(now) : null,
    happened_at: now.toISOString(),
  }))
  const inserted = await ctx.db
    .insertInto('storefront_events')
    .columns(columns)
    .expression((db) => db.selectFrom(recordset(types, rows)).select(columns))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute()
  const ids = new Set(inserted.map(({ id }) => id))
  return events.filter((event) => ids.has(event.id))
}

const slotOf = (at: Date): number => Math.floor(at.getTime() / slotMs)

interface Daily extends Counted {
  widget: string
  visitors: number
}

const counters: Partial<Record<EventType, 'impressions' | 'clicks' | 'closes' | 'cartAdds'>> = {
  impression: 'impressions',
  click: 'clicks',
  close: 'closes',
  'cart-add': 'cartAdds',
}

/**
 * All-time counters first, the day's afterwards: who deletes a resource locks it before the days that go with it.
 */
async function count(ctx: Context, visitorId: string, events: readonly KnownEvent[]): Promise<void> {
  const sums = await sumsOf(ctx, visitorId, events)
  for (const [widget, ofWidget] of Map.groupBy(sums, (sum) => sum.widget)) {
    await ctx.wired.events[widget]?.count?.(ctx, ofWidget)
  }
  await addDays(ctx, sums)
}

async function apply(ctx: Context, events: readonly KnownEvent[]): Promise<void> {
  for (const [widget, ofWidget] of Map.groupBy(events, (event) => event.widget)) {
    await ctx.wired.events[widget]?.apply?.(ctx, ofWidget)
  }
}

async function sumsOf(ctx: Context, visitorId: string, events: readonly KnownEvent[]): Promise<Daily[]> {
  const sums = new Map<string, Daily>()
  for (const { widget, resourceId, type } of events) {
    const counter = counters[type]
    if (!counter) continue
    const key = `${widget} ${resourceId}`
    const sum = sums.get(key) ?? {
      ...{ widget, resourceId, impressions: 0, clicks: 0, closes: 0, cartAdds: 0, visitors: 0 },
    }
    sum[counter] += 1
    sums.set(key, sum)
  }
  if (events.some((event) => event.type === 'impression')) {
    const seen = await seenToday(ctx, visitorId)
    for (const [key, sum] of sums) if (sum.impressions > 0 && !seen.has(key)) sum.visitors = 1
  }
  return [...sums.values()]
}

/** What this visitor had seen before on this day of the store, as `widget resource`. */
async function seenToday(ctx: Context, visitorId: string): Promise<ReadonlySet<string>> {
  const now = ctx.now()
  const today = sql`${days.localDay(now, ctx.store.timezone)}::date`
  const begins = days.firstInstantOf(today, sql`${ctx.store.timezone}::text`)
  const rows = await ctx.db
    .selectFrom('storefront_events')
    .select(['widget', 'resource_id'])
    .distinct()
    .where('visitor_id', '=', visitorId)
    .where('slot', '<', slotOf(now))
    .where('slot', '>', slotOf(now) - 52)
    .where('happened_at', '>=', begins)
    .execute()
  return new Set(rows.map((row) => `${row.widget} ${row.resource_id}`))
}

const dailyTypes = {
  widget: 'text',
  resource_id: 'text',
  day: 'date',
  impressions: 'integer',
  clicks: 'integer',
  closes: 'integer',
  cart_adds: 'integer',
  visitors: 'integer',
}
const dailyColumns = columnsOf(dailyTypes)

async function addDays(ctx: Context, sums: readonly Daily[]): Promise<void> {
  if (sums.length === 0) return
  const day = days.localDay(ctx.now(), ctx.store.timezone)
  const rows = sums.map(({ widget, resourceId, cartAdds, ...counted }) => ({
    ...counted,
    widget,
    resource_id: resourceId,
    day,
    cart_adds: cartAdds,
  }))
  await ctx.db
    .insertInto('widget_daily')
    .columns(dailyColumns)
    .expression((db) => db.selectFrom(recordset(dailyTypes, rows)).select(dailyColumns))
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'widget', 'resource_id', 'day']).doUpdateSet((eb) => ({
        impressions: eb('widget_daily.impressions', '+', eb.ref('excluded.impressions')),
        clicks: eb('widget_daily.clicks', '+', eb.ref('excluded.clicks')),
        closes: eb('widget_daily.closes', '+', eb.ref('excluded.closes')),
        cart_adds: eb('widget_daily.cart_adds', '+', eb.ref('excluded.cart_adds')),
        visitors: eb('widget_daily.visitors', '+', eb.ref('excluded.visitors')),
      })),
    )
    .execute()
}

/** What was counted of something that is gone, in the caller's transaction. */
export async function forgetCounted(ctx: Context, widget: string, resourceId: string): Promise<void> {
  await ctx.db
    .deleteFrom('widget_daily')
    .where('widget', '=', widget)
    .where('resource_id', '=', resourceId)
    .execute()
}
