/** Buying tiers (rule 8). */
import { describe, expect, test } from 'vitest'
import listOrders from '#operations/inbox/conversations/api/list-orders'
import listReviews from '#operations/inbox/conversations/api/list-reviews'
import getStatus from '#operations/inbox/switch/api/get-status'
import getTierSettings from '#operations/inbox/tiers/api/get-tier-settings'
import recalculateSegments from '#operations/inbox/tiers/api/recalculate-segments'
import saveTierSettings from '#operations/inbox/tiers/api/save-tier-settings'
import setTier from '#operations/inbox/tiers/api/set-tier'
import { phoneKey } from '#runtime/values/phone'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const phone = '+5511987654321'

async function addOrder(shop: InboxShop, id: string, total: string, placedAt: string): Promise<void> {
  const at = new Date(placedAt)
  await (await shop.context()).db
    .insertInto('orders')
    .values({
      id,
      number: id,
      status: 'closed',
      payment_status: 'paid',
      fulfillment_status: 'delivered',
      currency: 'BRL',
      subtotal: total,
      total,
      customer_id: 'c1',
      customer_name: 'Rita Order',
      customer_phone: phone,
      phone_key: phoneKey(phone),
      placed_at: at,
      paid_at: at,
      updated_at: at,
    })
    .execute()
}

describe('tiers', () => {
  test('tiers follow the orders, the settings and manual changes', async () => {
    const shop = await inboxShop(app)
    await addOrder(shop, '1', '900.00', '2026-11-01T12:00:00Z')
    await addOrder(shop, '2', '700.00', '2026-10-01T12:00:00Z')
    await shop.write({ phone, text: 'Oi' })
    const conversation = await shop.conversation()
    const { id } = conversation
    expect(conversation).toMatchObject({
      tier: 'gold',
      tierSource: 'automatic',
      purchaseCount: 2,
      totalSpent: 1600,
      contactName: 'Rita Order',
    })
    const settings = (await shop.call(getTierSettings)).body
    expect(settings).toMatchObject({ updatedAt: null, currency: 'BRL', periodDays: 365 })
    expect(settings.tiers.map((each: { contactCount: number }) => each.contactCount)).toEqual([0, 0, 1, 0])
    const same = await shop.call(saveTierSettings, { body: settings })
    expect([same.status, same.body]).toEqual([200, settings])
    await shop.call(saveTierSettings, { body: { match: 'all' } })
    await app.drainJobs()
    expect(await shop.conversation()).toMatchObject({ tier: 'bronze' })
    const falling = settings.tiers.toReversed()
    const [first, ...others] = settings.tiers
    const none = await shop.call(saveTierSettings, {
      body: { tiers: [{ ...first, key: 'none' }, ...others] },
    })
    expect([none.status, none.body.error.message]).toEqual([400, expect.stringContaining('tiers.0.key')])
    const refused = await shop.call(saveTierSettings, { body: { tiers: falling } })
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('tiers.1')])
    await shop.call(saveTierSettings, { body: { match: 'any' } })
    await app.drainJobs()

    const byHand = await shop.call(setTier, { params: { id }, body: { tier: 'platinum' } })
    expect(byHand.body).toMatchObject({ tier: 'platinum', tierSource: 'manual' })
    await addOrder(shop, '3', '10.00', '2026-11-02T12:00:00Z')
    const answers = await Promise.all([1, 2].map(() => shop.call(recalculateSegments, { body: {} })))
    expect(answers.map((each) => each.status).sort()).toEqual([202, 409])
    await app.drainJobs()
    expect(await shop.conversation()).toMatchObject({ tier: 'platinum', purchaseCount: 3, totalSpent: 1610 })
    expect((await shop.call(getStatus)).body.segments).toMatchObject({
      status: 'idle',
      processed: 1,
      changed: 1,
    })
    const notices = await (await shop.context()).db
      .selectFrom('notifications')
      .select('id')
      .where('type', '=', 'inbox-segments-finished')
      .execute()
    expect(notices).toHaveLength(1)
    expect((await shop.call(setTier, { params: { id }, body: { tier: 'nope' } })).status).toBe(400)
    const back = await shop.call(setTier, { params: { id }, body: { tier: null } })
    expect(back.body).toMatchObject({ tier: 'gold', tierSource: 'automatic' })
  })

  test('removing a manual tier affects only that contact', async () => {
    const shop = await inboxShop(app)
    const { tiers } = (await shop.call(getTierSettings)).body
    const [kept, gone] = [tiers[1].key, tiers[2].key]
    const ids: string[] = []
    for (const [n, tier] of [kept, gone, null].entries()) {
      await shop.write({ phone: `+551199999000${n}`, text: 'Oi' })
      const { id } = await shop.conversation(`+551199999000${n}`)
      ids.push(id)
      if (tier) await shop.call(setTier, { params: { id }, body: { tier } })
    }
    const left = tiers.filter(({ key }: { key: string }) => key !== gone)
    expect((await shop.call(saveTierSettings, { body: { tiers: left } })).status).toBe(200)
    await app.drainJobs()
    const found = await Promise.all(ids.map((_, n) => shop.conversation(`+551199999000${n}`)))
    expect(found.map((each) => each.tierSource)).toEqual(['manual', 'automatic', 'automatic'])
    expect(found[0].tier).toBe(kept)
  })

  test('an order from 364 days ago counts, and drops out in the nightly run', async () => {
    await app.setClock('2026-11-20T12:00:00.000Z')
    const shop = await inboxShop(app)
    await addOrder(shop, '1', '100.00', '2025-11-21T12:00:00Z')
    await addOrder(shop, '2', '100.00', '2025-11-20T12:00:00Z')
    await shop.write({ phone, text: 'Oi' })
    expect(await shop.conversation()).toMatchObject({ purchaseCount: 1, tier: 'bronze' })
    // 03:00 in São Paulo is 06:00 UTC.
    await app.setClock('2026-11-21T05:50:00.000Z')
    await app.drainJobs()
    expect(await shop.conversation()).toMatchObject({ purchaseCount: 1 })
    await app.setClock('2026-11-21T06:10:00.000Z')
    await app.drainJobs()
    expect(await shop.conversation()).toMatchObject({ purchaseCount: 0, tier: null })
  })

  test('the orders of a contact are listed with their total, and their reviews too', async () => {
    const shop = await inboxShop(app)
    await addOrder(shop, '1', '900.00', '2026-11-01T12:00:00Z')
    await addOrder(shop, '2', '700.00', '2026-10-01T12:00:00Z')
    await shop.write({ phone, text: 'Oi' })
    const { id } = await shop.conversation()
    const { body } = await shop.call(listOrders, { params: { id }, query: { limit: 1 } })
    expect(body).toMatchObject({
      total: 2,
      data: [{ id: '1' }],
      summary: { count: 2, total: 1600, currency: 'BRL' },
    })
    expect((await shop.call(listReviews, { params: { id } })).body).toMatchObject({ data: [], total: 0 })
  })
})
