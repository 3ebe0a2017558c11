/** Who waits for stock in the demo, who was told, and what that brought. */

import type { RootDatabase } from '#db/database'
import type { FailedAs } from '#db/tables/columns'
import { defaultCounter } from '#operations/stock/counter/schema'
import { defaultAlerts } from '#operations/stock/settings/schema'
import { requireEcommerce } from '#operations/store/connections/connections'
import type { Context } from '#runtime/context'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { american, brazilian } from './people.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'
import type { DemoStore } from './store.ts'
import { dayMs, minuteMs, type Timeline } from './timeline.ts'

type Subscription = SeedRow<'stock_subscriptions'>
type Channel = 'email' | 'phone'
interface Contact {
  name: string | null
  email: string
  phone: string
}
type Variant = Pick<
  Subscription,
  'product_id' | 'variant_id' | 'product_name' | 'variant_name' | 'sku' | 'product_url' | 'product_image_url'
>

const soldOutProducts = ['1037', '1038', '1039']
const lastUnitsProduct = '1036'
/** Many by email, some by phone. */
const alternate = (emails: number, phones: number): Channel[] =>
  Array.from({ length: emails + phones }, (_, index) =>
    Math.floor(((index + 1) * phones) / (emails + phones)) > Math.floor((index * phones) / (emails + phones))
      ? 'phone'
      : 'email',
  )

/** Alerts and counter on; 64 subscriptions over 120 days. Once the mirror of the catalog is there. */
export async function seedAuroraStock(
  ctx: Context,
  store: DemoStore,
  shop: DemoShop,
  templateIds: ReadonlyMap<string, number>,
): Promise<void> {
  const db = ctx.system
  const { timeline } = store
  const random = new Random('aurora stock')
  const variants = await variantsOf(db, store.id)
  const strangers = strangersOf(random, 6601, brazilian)
  await saveSettings(ctx, store, templateIds.get('back_in_stock')!)
  const subscriptions = [
    ...waiting(timeline, random, variants, strangers),
    ...bought(shop, timeline, random, variants),
    ...told(timeline, random, variants, strangers),
    ...failed(timeline, random, variants, strangers),
    ...cancelled(timeline, random, variants, strangers),
  ].map((each, index) => withId(store, each, index))
  await save(db, store, subscriptions)
}

/** One who waits, one who does not want to any more; nothing is turned on. */
export async function seedBorealisStock(ctx: Context, store: DemoStore): Promise<void> {
  const random = new Random('borealis stock')
  const variants = await variantsOf(ctx.system, store.id)
  const strangers = strangersOf(random, 6601, american)
  const [first, second] = [...variants.values()]
  const rows = [
    subscriptionOf(first!, strangers(), 'email', store.timeline.ago(9.3)),
    {
      ...subscriptionOf(second!, strangers(), 'email', store.timeline.ago(31.6)),
      status: 'cancelled',
      reason: 'unsubscribed',
      updated_at: store.timeline.ago(12.1),
    },
  ]
  await save(
    ctx.system,
    store,
    rows.map((each, index) => withId(store, each, index)),
  )
}

/** Phones that end in a number nobody else's of the demo ends in. */
function strangersOf(
  random: Random,
  from: number,
  make: (random: Random, number: number) => Contact,
): () => Contact {
  let number = from
  return () => {
    number += 1
    return make(random, number)
  }
}

/** By id, in the order of the catalog. */
async function variantsOf(db: RootDatabase, storeId: string): Promise<Map<string, Variant>> {
  const rows = await db
    .selectFrom('product_snapshot_variants as v')
    .innerJoin('product_snapshots as p', (join) =>
      join.onRef('p.store_id', '=', 'v.store_id').onRef('p.product_id', '=', 'v.product_id'),
    )
    .select([
      'v.product_id',
      'v.variant_id',
      'p.name as product_name',
      'v.name as variant_name',
      'v.sku',
      'p.url as product_url',
      'p.image_url as product_image_url',
    ])
    .where('v.store_id', '=', storeId)
    .where('p.is_published', '=', true)
    .orderBy('v.product_id')
    .orderBy('v.position')
    .execute()
  return new Map(
    rows.map((row) => [
      row.variant_id,
      { ...row, variant_name: row.variant_name === row.product_name ? null : row.variant_name },
    ]),
  )
}

async function saveSettings(ctx: Context, { id, timeline }: DemoStore, templateId: number): Promise<void> {
  const { connectedAt } = await requireEcommerce(ctx)
  const content = {
    ...defaultAlerts,
    isEnabled: true,
    officialapiTemplateId: templateId,
    templateEmail: {
      ...defaultAlerts.templateEmail,
      subject: '{{productName}} voltou',
      mainTitle: 'Voltou!',
      greeting: 'Oi {{name}},',
      mainContent: '{{productName}} está de volta na {{storeName}} por {{price}}.',
      buttonText: 'Comprar agora',
      footerText: 'Você pediu para avisarmos quando este produto voltasse.',
    },
    templateMessaging: 'Oi {{name}}! {{productName}} voltou na {{storeName}}: {{productUrl}}',
  }
  await insertRows(ctx.system, 'stock_alert_settings', id, [
    {
      is_enabled: true,
      content,
      webhook_registered_at: timeline.ago(122),
      webhook_connection_at: connectedAt,
      last_stock_event_at: timeline.ago(0.3),
      updated_at: timeline.ago(122),
    },
  ])
  await insertRows(ctx.system, 'stock_counter_settings', id, [
    { content: { ...defaultCounter, isEnabled: true, threshold: 10 }, updated_at: timeline.ago(60) },
  ])
}

function subscriptionOf(variant: Variant, person: Contact, channel: Channel, at: Date): Subscription {
  const contact = channel === 'email' ? person.email : person.phone
  return {
    ...variant,
    id: '',
    channel,
    email: channel === 'email' ? person.email : null,
    phone: channel === 'phone' ? person.phone : null,
    contact_key: channel === 'email' ? contact.toLowerCase() : phoneKey(contact),
    name: person.name,
    source: 'product-page',
    status: 'waiting',
    reason: null,
    click_token: '',
    attempt: 1,
    claim_id: null,
    claimed_at: null,
    called_at: null,
    reservation_id: null,
    provider_message_id: null,
    sent_at: null,
    delivered_at: null,
    failed_at: null,
    converted_at: null,
    converted_order_id: null,
    revenue: null,
    currency: null,
    deleted_at: null,
    created_at: at,
    updated_at: at,
  }
}

function withId(store: DemoStore, row: Subscription, index: number): Subscription {
  const name = `stock ${store.slug} ${index} ${row.contact_key}`
  const id = namedId(name, row.created_at.getTime())
  return { ...row, id, click_token: namedId(`click ${name}`, 0).replaceAll('-', '').slice(10) }
}

type Variants = ReadonlyMap<string, Variant>
type Strangers = () => Contact

/** 23 emails and 17 phones, one of which is on no network. Five want what there are two of, too few for a wave. */
function waiting(
  timeline: Timeline,
  random: Random,
  variants: Variants,
  strangers: Strangers,
): Subscription[] {
  const all = [...variants.values()]
  const soldOut = all.filter((each) => soldOutProducts.includes(each.product_id))
  const lastUnits = all.filter((each) => each.product_id === lastUnitsProduct)
  return alternate(23, 17).map((channel, index) => {
    const person = strangers()
    const variant = index < 5 ? lastUnits[0]! : soldOut[index % soldOut.length]!
    const days = index < 8 ? random.between(0.1, 6.5) : random.between(0.5, 119)
    const phone = index === 39 ? '+5511970000001' : person.phone
    const name = random.chance(0.3) ? null : person.name
    const row = subscriptionOf(variant, { ...person, phone, name }, channel, timeline.ago(days))
    return { ...row, source: random.chance(0.2) ? 'product-list' : 'product-page' }
  })
}

/** Left at `sentAt`; a phone says when it arrived. */
function sentAt(row: Subscription, at: Date, random: Random): Subscription {
  const isPhone = row.channel === 'phone'
  const deliveredAt = isPhone ? new Date(at.getTime() + random.whole(2, 40) * 1000) : null
  return { ...row, status: 'sent', sent_at: at, delivered_at: deliveredAt, updated_at: deliveredAt ?? at }
}

/** Four emails and two phones of customers who then ordered what they were told of. */
function bought(shop: DemoShop, timeline: Timeline, random: Random, variants: Variants): Subscription[] {
  return shop.attributed('stock').map(({ plan, order }, index) => {
    const item = order.items[0]!
    const at = new Date(plan.placedAt.getTime() - random.between(20 * minuteMs, 3 * dayMs))
    const asked = new Date(Math.max(at.getTime() - random.between(2, 9) * dayMs, timeline.ago(120).getTime()))
    // The oldest two: no message of theirs is of the cycle that runs.
    const channel = index < 2 ? 'phone' : 'email'
    return sentAt(subscriptionOf(variants.get(item.variantId!)!, plan.customer, channel, asked), at, random)
  })
}

/** Seven emails and five phones who did not order. */
function told(timeline: Timeline, random: Random, variants: Variants, strangers: Strangers): Subscription[] {
  const inStock = inStockOf(variants)
  return alternate(7, 5).map((channel, index) => {
    const days = channel === 'phone' ? random.between(20, 110) : random.between(2, 110)
    const at = timeline.ago(days)
    const asked = new Date(at.getTime() - random.between(0.5, 8) * dayMs)
    return sentAt(
      subscriptionOf(inStock[(index * 7) % inStock.length]!, strangers(), channel, asked),
      at,
      random,
    )
  })
}

const inStockOf = (variants: Variants): Variant[] =>
  [...variants.values()].filter((each) => ![...soldOutProducts, lastUnitsProduct].includes(each.product_id))

/** A phone that the message did not reach, and two addresses that the mail server does not know. */
function failed(
  timeline: Timeline,
  random: Random,
  variants: Variants,
  strangers: Strangers,
): Subscription[] {
  const inStock = inStockOf(variants)
  return (['phone', 'email', 'email'] as const).map((channel, index) => {
    const at = timeline.ago(33 + index * 21)
    const asked = new Date(at.getTime() - random.between(1, 6) * dayMs)
    const row = subscriptionOf(inStock[index * 5 + 2]!, strangers(), channel, asked)
    const failedAt = channel === 'phone' ? new Date(at.getTime() + 6000) : at
    return {
      ...row,
      status: 'failed',
      reason: channel === 'phone' ? 'undelivered' : 'bounced',
      sent_at: channel === 'phone' ? at : null,
      failed_at: failedAt,
      updated_at: failedAt,
    }
  })
}

function cancelled(
  timeline: Timeline,
  random: Random,
  variants: Variants,
  strangers: Strangers,
): Subscription[] {
  const inStock = inStockOf(variants)
  return (['email', 'phone', 'email'] as const).map((channel, index) => {
    const asked = timeline.ago(60 + index * 17)
    const row = subscriptionOf(inStock[index * 6 + 3]!, strangers(), channel, asked)
    const updatedAt = new Date(asked.getTime() + random.between(2, 30) * dayMs)
    return {
      ...row,
      status: 'cancelled',
      reason: channel === 'phone' ? 'opted-out' : 'unsubscribed',
      updated_at: updatedAt,
    }
  })
}

/** With the ledger's rows and the touches of what left. */
async function save(db: RootDatabase, store: DemoStore, rows: readonly Subscription[]): Promise<void> {
  const oldestFirst = [...rows].sort((one, other) => one.created_at.getTime() - other.created_at.getTime())
  await insertRows(db, 'stock_subscriptions', store.id, oldestFirst)
  const left = oldestFirst.filter((each) => each.sent_at !== null)
  if (left.length === 0) return
  await insertRows(db, 'message_ledger', store.id, left.map(ledgerRow))
  await insertRows(db, 'attribution_touches', store.id, left.map(touchRow))
}

const ledgerRow = (row: Subscription): SeedRow<'message_ledger'> => ({
  message_id: row.id,
  channel: row.channel === 'phone' ? 'messaging' : 'email',
  source: 'stock-notification',
  source_id: row.id,
  phone_key: row.channel === 'phone' ? row.contact_key : null,
  email: row.email?.toLowerCase() ?? null,
  provider_message_id: row.channel === 'phone' ? `wamid.${row.id}` : null,
  status: row.status === 'failed' ? 'failed' : row.delivered_at ? 'delivered' : 'sent',
  failure_code: (row.reason ?? null) as FailedAs | null,
  sent_at: row.sent_at!,
  delivered_at: row.delivered_at ?? null,
  read_at: null,
  failed_at: row.failed_at ?? null,
})

const touchRow = (row: Subscription): SeedRow<'attribution_touches'> => ({
  id: namedId(`touch ${row.id}`, row.sent_at!.getTime()),
  source_type: 'stock-notification',
  source_id: row.id,
  source_name: row.product_name,
  automation_type: null,
  channel: row.channel === 'phone' ? 'messaging' : 'email',
  message_id: row.id,
  phone_key: row.channel === 'phone' ? row.contact_key : null,
  email: row.email?.toLowerCase() ?? null,
  coupon_code: null,
  click_token: row.click_token,
  product_id: row.product_id,
  touched_at: row.sent_at!,
  voided_at: row.failed_at ?? null,
})
