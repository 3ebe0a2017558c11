/** Who waits for stock in the demo, who was told, and what that brought. */
import type { RootDatabase } from '#db/database'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { american, brazilian, type Person } from './people.ts'
import { Random } from './random.ts'
import { insertRows, recordSent, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'
import type { DemoStore } from './store.ts'
import { dayMs, minuteMs } from './timeline.ts'

type Subscription = SeedRow<'stock_subscriptions'>
type Channel = 'email' | 'phone'
type Variant = Pick<
  Subscription,
  'product_id' | 'variant_id' | 'product_name' | 'variant_name' | 'sku' | 'product_url' | 'product_image_url'
>
/** One subscription: who asked for what when, and what became of it. */
type Asked = [variant: Variant, person: Omit<Person, 'name'> & { name: string | null }, Channel, at: Date]

/** Some by phone among those by email, evenly. */
const alternate = (emails: number, phones: number): Channel[] => {
  const share = phones / (emails + phones)
  const isPhone = (index: number) => Math.floor((index + 1) * share) > Math.floor(index * share)
  return Array.from({ length: emails + phones }, (_, index) => (isPhone(index) ? 'phone' : 'email'))
}

/** 64 subscriptions over 120 days. Once the mirror of the catalog is there. */
export async function seedAuroraStock(db: RootDatabase, store: DemoStore, shop: DemoShop): Promise<void> {
  const { timeline } = store
  const random = new Random('aurora stock')
  const variants = await variantsOf(db, store.id)
  let strangers = 6601
  const stranger = () => {
    strangers += 1
    return brazilian(random, strangers)
  }
  const isOf =
    (...products: string[]) =>
    (each: Variant) =>
      products.includes(each.product_id)
  const soldOut = variants.filter(isOf('1037', '1038', '1039'))
  const lastUnits = variants.filter(isOf('1036'))
  const inStock = variants.filter((each) => !soldOut.includes(each) && !lastUnits.includes(each))
  const before = (at: Date, least: number, most: number) =>
    new Date(at.getTime() - random.between(least, most) * dayMs)

  // 23 emails and 17 phones, one of which is on no network. Five want what there are two of, too few for a wave.
  const waiting = alternate(23, 17).map((channel, n) => {
    const person = { ...stranger(), ...(n === 39 ? { phone: '+5511970000001' } : {}) }
    const variant = n < 5 ? lastUnits[0]! : soldOut[n % soldOut.length]!
    const at = timeline.ago(n < 8 ? random.between(0.1, 6.5) : random.between(0.5, 119))
    const name = random.chance(0.3) ? null : person.name
    return {
      ...rowOf(variant, { ...person, name }, channel, at),
      source: n % 5 === 3 ? 'product-list' : 'product-page',
    }
  })
  // Four emails and two phones of customers who then ordered what they were told of; the oldest two by phone: no message
  // of theirs is of the cycle that runs.
  const bought = shop.attributed('stock').map(({ plan, order }, n) => {
    const { variantId } = order.items[0]!
    const variant = variants.find((each) => each.variant_id === variantId)!
    const at = new Date(plan.placedAt.getTime() - random.between(20 * minuteMs, 3 * dayMs))
    const asked = new Date(Math.max(before(at, 2, 9).getTime(), timeline.ago(120).getTime()))
    return sent(rowOf(variant, plan.customer, n < 2 ? 'phone' : 'email', asked), at, random)
  })
  // Seven emails and five phones who did not order.
  const told = alternate(7, 5).map((channel, n) => {
    const at = timeline.ago(channel === 'phone' ? random.between(20, 110) : random.between(2, 110))
    const variant = inStock[(n * 7) % inStock.length]!
    return sent(rowOf(variant, stranger(), channel, before(at, 0.5, 8)), at, random)
  })
  // A phone that the message did not reach, and two addresses that the mail server does not know.
  const failed = (['phone', 'email', 'email'] as const).map((channel, n) => {
    const at = timeline.ago(33 + n * 21)
    const isPhone = channel === 'phone'
    const failedAt = isPhone ? new Date(at.getTime() + 6000) : at
    return {
      ...rowOf(inStock[n * 5 + 2]!, stranger(), channel, before(at, 1, 6)),
      status: 'failed',
      reason: isPhone ? 'undelivered' : 'bounced',
      sent_at: isPhone ? at : null,
      failed_at: failedAt,
      updated_at: failedAt,
    }
  })
  const cancelled = (['email', 'phone', 'email'] as const).map((channel, n) => ({
    ...rowOf(inStock[n * 6 + 3]!, stranger(), channel, timeline.ago(60 + n * 17)),
    status: 'cancelled',
    reason: channel === 'phone' ? 'opted-out' : 'unsubscribed',
    updated_at: timeline.ago(58 + n * 17 - random.between(0, 28)),
  }))
  await save(db, store, [...waiting, ...bought, ...told, ...failed, ...cancelled])
}

/** One who waits, one who does not want to any more; nothing is turned on. */
export async function seedBorealisStock(db: RootDatabase, store: DemoStore): Promise<void> {
  const random = new Random('borealis stock')
  const [first, second] = await variantsOf(db, store.id)
  const left = { status: 'cancelled', reason: 'unsubscribed', updated_at: store.timeline.ago(12.1) }
  await save(db, store, [
    rowOf(first!, american(random, 6602), 'email', store.timeline.ago(9.3)),
    { ...rowOf(second!, american(random, 6603), 'email', store.timeline.ago(31.6)), ...left },
  ])
}

/** In the order of the catalog. */
async function variantsOf(db: RootDatabase, storeId: string): Promise<Variant[]> {
  const rows = await db
    .selectFrom('product_snapshot_variants as v')
    .innerJoin('product_snapshots as p', (join) =>
      join.onRef('p.store_id', '=', 'v.store_id').onRef('p.product_id', '=', 'v.product_id'),
    )
    .select(['v.product_id', 'v.variant_id', 'v.sku', 'v.name as variant_name'])
    .select(['p.name as product_name', 'p.url as product_url', 'p.image_url as product_image_url'])
    .where('v.store_id', '=', storeId)
    .where('p.is_published', '=', true)
    .orderBy('v.product_id')
    .orderBy('v.position')
    .execute()
  return rows.map((row) => ({
    ...row,
    variant_name: row.variant_name === row.product_name ? null : row.variant_name,
  }))
}

function rowOf(
  ...[variant, { name, email, phone }, channel, at]: Asked
): Omit<Subscription, 'id' | 'click_token'> {
  const isPhone = channel === 'phone'
  return {
    ...variant,
    channel,
    email: isPhone ? null : email,
    phone: isPhone ? phone : null,
    contact_key: isPhone ? phoneKey(phone) : email.toLowerCase(),
    name,
    source: 'product-page',
    status: 'waiting',
    created_at: at,
    updated_at: at,
  }
}

/** Left at `at`; a phone says when it arrived. */
function sent(row: ReturnType<typeof rowOf>, at: Date, random: Random): ReturnType<typeof rowOf> {
  const delivered = row.channel === 'phone' ? new Date(at.getTime() + random.whole(2, 40) * 1000) : null
  return { ...row, status: 'sent', sent_at: at, delivered_at: delivered, updated_at: delivered ?? at }
}

/** Oldest first, with the ledger's rows and the touches of what left. */
async function save(db: RootDatabase, store: DemoStore, asked: ReturnType<typeof rowOf>[]): Promise<void> {
  const rows = asked
    .map((row, n): Subscription => {
      const name = `stock ${store.slug} ${n} ${row.contact_key}`
      const click_token = namedId(`click ${name}`, 0).replaceAll('-', '').slice(10)
      return { ...row, id: namedId(name, row.created_at.getTime()), click_token }
    })
    .sort((one, other) => one.created_at.getTime() - other.created_at.getTime())
  await insertRows(db, 'stock_subscriptions', store.id, rows)
  await recordSent(db, store.id, rows, (row) => {
    const isPhone = row.channel === 'phone'
    return {
      channel: isPhone ? 'messaging' : 'email',
      source: 'stock-notification',
      source_id: row.id,
      phone_key: isPhone ? row.contact_key : null,
      provider_message_id: isPhone ? `wamid.${row.id}` : null,
      status: row.status === 'failed' ? 'failed' : row.delivered_at ? 'delivered' : 'sent',
      failure_code: (row.reason ?? null) as 'undelivered' | null,
      touch: { source_name: row.product_name, click_token: row.click_token, product_id: row.product_id },
    }
  })
}
