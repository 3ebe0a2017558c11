/** Records the events of one visitor: stores and counts them in one transaction (rules 6 and 7). */
import { sql } from 'kysely'
import { columnNames, days, recordset } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { readEmail } from '#runtime/schema'
import { trimVisible } from '#runtime/values/confusables'
import { parsePhone } from '#runtime/values/phone'
import { truncate } from '#runtime/values/truncate'
import * as snapshots from '../catalog/snapshots.ts'
import type { EventsBody, GivenEvent } from './schema.ts'
import type { Counted, EventSpec, EventType, StorefrontEvent } from './specs.ts'

const slotMs = 1_800_000

interface KnownEvent extends StorefrontEvent {
  widget: string
}

/** Refuses a body with an event of an unknown widget (400). */
export function refuseUnknown({ extensions: registered }: Context, { events }: EventsBody): void {
  for (const [at, { widget }] of events.entries()) {
    if (registered.events[widget]) continue
    throw refuse(
      'bad_request',
      `events.${at}.widget: must be one of ${Object.keys(registered.events).join(', ')}`,
    )
  }
}

/**
 * Records and counts events. Silently drops events that the widget does not have, of widgets missing from the plan, and of
 * resources that cannot be counted. A duplicate event does not count, and neither does a second impression of the same
 * visitor and resource in the same half hour.
 */
export async function recordEvents(
  ctx: Context,
  features: ReadonlySet<string>,
  { visitorId, device, events }: EventsBody,
): Promise<void> {
  const known = await selectCountable(ctx, features, events)
  if (known.length === 0) return
  const batch = known.map((event): KnownEvent => ({ ...event, visitorId, device: device ?? null }))
  await ctx.transaction(async (tx) => {
    // Serializes the requests of one visitor: otherwise two tabs would miss each other's impressions and count the
    // visitor twice.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`storefront:${tx.store.id}:${visitorId}`}, 0))`.execute(
      tx.db,
    )
    const kept = await insertNew(tx, batch)
    if (kept.length === 0) return
    await count(tx, visitorId, kept)
    await apply(tx, restoreOrder(kept, events))
  })
}

/** Sorts the new events as the browser sent them. The order matters if a wish is removed and added again. */
function restoreOrder(kept: readonly KnownEvent[], given: readonly GivenEvent[]): KnownEvent[] {
  const place = new Map(given.map(({ id }, at) => [id.toLowerCase(), at] as const).reverse())
  return [...kept].sort((a, b) => place.get(a.id)! - place.get(b.id)!)
}

type Unplaced = Omit<KnownEvent, 'visitorId' | 'device'>

/** Returns the events that can be counted, sorted by widget, resource and id: the order in which rows are locked. */
async function selectCountable(
  ctx: Context,
  features: ReadonlySet<string>,
  events: readonly GivenEvent[],
): Promise<Unplaced[]> {
  const byWidget = Map.groupBy(dedupe(events), (event) => event.widget)
  const accepted: Unplaced[] = []
  for (const [widget, ofWidget] of [...byWidget].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const spec = ctx.extensions.events[widget]
    if (!spec || !mayUse(features, spec)) continue
    const placed = ofWidget
      .map((event) => toEvent(ctx, spec, event))
      .filter((event) => spec.types.includes(event.type) && isComplete(event))
    const existing = spec.existing && (await spec.existing(ctx, [...new Set(placed.map(getResource))]))
    const found = existing ? placed.filter((event) => existing.has(event.resourceId)) : placed
    const matched = await resolveProducts(ctx, found)
    accepted.push(...matched.sort((a, b) => compare(getResource(a), getResource(b)) || compare(a.id, b.id)))
  }
  return accepted
}

const aboutProducts: readonly EventType[] = ['product-view', 'cart-add']

/**
 * Drops product views and cart additions whose product or variant is not in the catalog cache. Finds a missing product
 * id by the variant.
 */
async function resolveProducts(ctx: Context, events: Unplaced[]): Promise<Unplaced[]> {
  const isAbout = ({ type }: Unplaced) => aboutProducts.includes(type)
  const about = events.filter(isAbout)
  const alone = about.flatMap(({ productId, variantId }) =>
    productId === null && variantId !== null ? variantId : [],
  )
  const ofVariant = await snapshots.findProductsOfVariants(ctx, alone)
  const named = about.flatMap(({ productId }) => productId ?? [])
  const products = await snapshots.find(ctx, [...new Set(named)])
  return events.flatMap((event) => {
    const { productId, variantId } = event
    if (!isAbout(event) || (productId === null && variantId === null)) return event
    if (productId === null) {
      const found = ofVariant.get(variantId!)
      return found === undefined ? [] : { ...event, productId: found }
    }
    return snapshots.getStatus(products.get(productId), variantId) === 'missing' ? [] : event
  })
}

const dedupe = (events: readonly GivenEvent[]): GivenEvent[] => [
  ...new Map([...events].reverse().map((event) => [event.id.toLowerCase(), event])).values(),
]
const mayUse = (features: ReadonlySet<string>, { feature }: EventSpec): boolean =>
  feature === null ? features.size > 0 : features.has(feature)
const getResource = (event: { resourceId: string }): string => event.resourceId
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Whether an event has the data that its type needs: a wish its product, a contact an email or phone. */
function isComplete({ type, resourceId, productId, variantId, contact }: Unplaced): boolean {
  if (type === 'wishlist-contact') return contact !== null
  if (type === 'cart-add') return resourceId !== '' || productId !== null || variantId !== null
  return productId !== null || !['product-view', 'wishlist-add', 'wishlist-remove'].includes(type)
}

function toEvent(ctx: Context, spec: EventSpec, event: GivenEvent): Unplaced {
  const { id, type, widget, resourceId, productId = null, variantId = null, contact } = event
  return {
    id: id.toLowerCase(),
    type,
    widget,
    resourceId: spec.existing ? (resourceId ?? '') : '',
    productId,
    variantId,
    contact: contact ? toContact(ctx, contact) : null,
  }
}

function toContact(
  ctx: Context,
  contact: NonNullable<GivenEvent['contact']>,
): NonNullable<StorefrontEvent['contact']> | null {
  const email = readEmail(contact.email ?? '')
  const phone = parsePhone(contact.phone ?? '', ctx.store.country)
  if (email === null && phone === null) return null
  return {
    email,
    phone,
    name: truncate(trimVisible(contact.name) ?? '', 120) || null,
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
const columns = columnNames(types)

/** Inserts events, and returns those that were not stored before. */
async function insertNew(ctx: Context, events: readonly KnownEvent[]): Promise<KnownEvent[]> {
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
    slot: event.type === 'impression' ? toSlot(now) : null,
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

const toSlot = (at: Date): number => Math.floor(at.getTime() / slotMs)

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
 * Updates the all-time counters first, then the daily ones. A deletion locks a resource before its daily rows, so the
 * opposite order could deadlock.
 */
async function count(ctx: Context, visitorId: string, events: readonly KnownEvent[]): Promise<void> {
  const sums = await sumCounts(ctx, visitorId, events)
  for (const [widget, ofWidget] of Map.groupBy(sums, (sum) => sum.widget)) {
    await ctx.extensions.events[widget]?.count?.(ctx, ofWidget)
  }
  await addDays(ctx, sums)
}

async function apply(ctx: Context, events: readonly KnownEvent[]): Promise<void> {
  for (const [widget, ofWidget] of Map.groupBy(events, (event) => event.widget)) {
    await ctx.extensions.events[widget]?.apply?.(ctx, ofWidget)
  }
}

async function sumCounts(ctx: Context, visitorId: string, events: readonly KnownEvent[]): Promise<Daily[]> {
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
    const seen = await findSeenToday(ctx, visitorId)
    for (const [key, sum] of sums) if (sum.impressions > 0 && !seen.has(key)) sum.visitors = 1
  }
  return [...sums.values()]
}

/** Resources that this visitor has already seen on the store's current day, as strings `widget resource`. */
async function findSeenToday(ctx: Context, visitorId: string): Promise<ReadonlySet<string>> {
  const now = ctx.now()
  const today = sql`${days.localDay(now, ctx.store.timezone)}::date`
  const begins = days.firstInstant(today, sql`${ctx.store.timezone}::text`)
  const rows = await ctx.db
    .selectFrom('storefront_events')
    .select(['widget', 'resource_id'])
    .distinct()
    .where('visitor_id', '=', visitorId)
    .where('slot', '<', toSlot(now))
    .where('slot', '>', toSlot(now) - 52)
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
const dailyColumns = columnNames(dailyTypes)

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

/** Deletes the counts of a deleted resource, in the caller's transaction. */
export async function deleteCounts(ctx: Context, widget: string, resourceId: string): Promise<void> {
  await ctx.db
    .deleteFrom('widget_daily')
    .where('widget', '=', widget)
    .where('resource_id', '=', resourceId)
    .execute()
}
