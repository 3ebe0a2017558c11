/** Stock subscribers who ordered after an alert, and all sent alerts. */

import type { RootDatabase } from '#db/database'
import { dayMs, minuteMs } from '#runtime/durations'
import { idFromName } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import type { DemoStore } from './demo-store.ts'
import { Random } from './random.ts'
import { insertRows, recordSent, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'

type Subscription = SeedRow<'stock_subscriptions'>

/** Adds subscriptions of four emails and two phones to those in the seed data. Runs after the catalog cache is filled. */
export async function seedAuroraStock(db: RootDatabase, store: DemoStore, shop: DemoShop): Promise<void> {
  const { timeline, slug } = store
  const random = new Random('aurora stock')
  const variants = await readVariants(db, store.id)
  const bought = shop.attributed('stock').map(({ plan, order }, n): Subscription => {
    const { email, phone, name } = plan.customer
    const at = new Date(plan.placedAt.getTime() - random.between(20 * minuteMs, 3 * dayMs))
    const asked = at.getTime() - random.between(2, 9) * dayMs
    const created_at = new Date(Math.max(asked, timeline.ago(120).getTime()))
    // The oldest two: none of their messages is in the current cycle.
    const isPhone = n < 2
    const delivered_at = isPhone ? new Date(at.getTime() + random.whole(2, 40) * 1000) : null
    const id = idFromName(`stock ${slug} ${email}`, created_at.getTime())
    return {
      ...variants.find((each) => each.variant_id === order.items[0]!.variantId)!,
      id,
      channel: isPhone ? 'phone' : 'email',
      email: isPhone ? null : email,
      phone: isPhone ? phone : null,
      contact_key: isPhone ? phoneKey(phone) : email.toLowerCase(),
      name,
      source: 'product-page',
      status: 'sent',
      click_token: idFromName(`click ${id}`, 0).replaceAll('-', '').slice(10),
      sent_at: at,
      delivered_at,
      created_at,
      updated_at: delivered_at ?? at,
    }
  })
  await insertRows(db, 'stock_subscriptions', store.id, bought)
  const rows = await db
    .selectFrom('stock_subscriptions')
    .selectAll()
    .where('store_id', '=', store.id)
    .execute()
  await recordSent(db, store.id, rows, (row) => {
    const isPhone = row.channel === 'phone'
    return {
      channel: isPhone ? 'messaging' : 'email',
      source: 'stock-notification',
      source_id: row.id,
      phone_key: isPhone ? row.contact_key : null,
      provider_message_id: isPhone ? `wamid.${row.id}` : null,
      status: row.status === 'failed' ? 'failed' : row.delivered_at ? 'delivered' : 'sent',
      failure_code: row.reason as 'undelivered' | null,
      touch: { source_name: row.product_name, click_token: row.click_token, product_id: row.product_id },
    }
  })
}

async function readVariants(db: RootDatabase, storeId: string) {
  const rows = await db
    .selectFrom('product_snapshot_variants as v')
    .innerJoin('product_snapshots as p', (join) =>
      join.onRef('p.store_id', '=', 'v.store_id').onRef('p.product_id', '=', 'v.product_id'),
    )
    .select(['v.product_id', 'v.variant_id', 'v.sku', 'v.name as variant_name'])
    .select(['p.name as product_name', 'p.url as product_url', 'p.image_url as product_image_url'])
    .where('v.store_id', '=', storeId)
    .execute()
  return rows.map((row) => ({
    ...row,
    variant_name: row.variant_name === row.product_name ? null : row.variant_name,
  }))
}
