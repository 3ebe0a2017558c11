import { describe, expect, test } from 'vitest'
import createCampaign from '#operations/campaigns/campaigns/api/create-campaign'
import getCampaign from '#operations/campaigns/campaigns/api/get-campaign'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import { countRecipients, readNumberUsage, setNumberLimit } from '#operations/messaging/numbers/limit'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import { findSelected } from '#operations/messaging/sending/deliver'
import sendMessage from '#operations/messaging/sends/api/send-message'
import type { Context } from '#runtime/context'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { makePhone, sendingShop } from '#test/support/campaigns'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const sandbox = getSandbox(app.services.adapters.messaging)

/** A number that ends in 7: tier-250. */
async function createLimitedShop(): Promise<{
  shop: Shop
  ctx: Context
  templateId: number
  numberId: string
}> {
  const shop = await store(app)
  const ctx = await shop.context()
  await connectNumber(ctx, { type: 'official', phone: '+551140001007' })
  const templateId = await makeTemplate(ctx, { name: 'hello', body: 'Hello there' })
  return { shop, ctx, templateId, numberId: `sandbox-${shop.id}` }
}
const count = async (ctx: Context, phones: string[]) =>
  countRecipients(ctx, (await findSelected(ctx))!, phones)
const numbered = (from: number, n: number): string[] =>
  Array.from({ length: n }, (_none, i) => makePhone(from + i))

describe('the number limit', () => {
  test('250 new phones fit into any 24 hours, to the millisecond; known ones still pass', async () => {
    const { shop, ctx, templateId, numberId } = await createLimitedShop()
    const send = (phone: string) =>
      shop.call(sendMessage, { body: { phone, officialapiTemplateId: templateId } })
    await app.setClock('2026-11-23T09:00:00.000Z')
    expect((await send(makePhone(0))).status).toBe(201)
    await app.setClock('2026-11-23T09:00:00.001Z')
    await count(ctx, numbered(1, 248))
    await app.setClock('2026-11-23T10:00:00.000Z')
    expect((await send(makePhone(249))).status).toBe(201)
    expect(await readNumberUsage(ctx, numberId)).toEqual({
      limit: 250,
      used: 250,
      remaining: 0,
      nextFreeAt: new Date('2026-11-24T09:00:00.000Z'),
    })
    const refused = await send(makePhone(250))
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining('in 24 hours'),
    ])
    expect((await send(makePhone(100))).status).toBe(201)
    await app.setClock('2026-11-24T08:59:59.999Z')
    expect((await send(makePhone(250))).status).toBe(409)
    await app.setClock('2026-11-24T09:00:00.000Z')
    expect((await send(makePhone(250))).status).toBe(201)
    expect((await send(makePhone(251))).status).toBe(409)
    expect((await readNumberUsage(ctx, numberId)).used).toBe(250)
  })

  test('two spellings of one phone count once; an open window does not count; a refused message is uncounted', async () => {
    const { shop, ctx, templateId, numberId } = await createLimitedShop()
    await count(ctx, ['+5511988887777', '+551188887777'])
    expect((await readNumberUsage(ctx, numberId)).used).toBe(1)
    await ctx.db
      .insertInto('contact_windows')
      .values({ phone_key: makePhone(1), last_inbound_at: app.clock.now() })
      .execute()
    await count(ctx, [makePhone(1)])
    const unknown = { phone: '+5511988880001', officialapiTemplateId: templateId }
    expect((await shop.call(sendMessage, { body: unknown })).status).toBe(409)
    expect((await readNumberUsage(ctx, numberId)).used).toBe(1)
    const known = await count(ctx, ['+5511988887777'])
    await app.advance(1_000)
    await known.uncount(['+5511988887777'])
    expect((await readNumberUsage(ctx, numberId)).used).toBe(1)
  })

  test('parallel requests never exceed the limit', async () => {
    const { ctx, shop, numberId } = await createLimitedShop()
    await count(ctx, numbered(0, 240))
    const batches = await Promise.all(
      Array.from({ length: 5 }, async (_none, i) => {
        const phones = numbered(1_000 + i * 10, 10)
        const taken = await count(await shop.context(), phones)
        return phones.filter((phone) => taken.has(phone)).length
      }),
    )
    expect(batches.reduce((sum, each) => sum + each, 0)).toBe(10)
    expect(await readNumberUsage(ctx, numberId)).toMatchObject({ used: 250, remaining: 0 })
  })

  test('a lower tier refuses new phones at once, an unlimited one none', async () => {
    const { ctx, numberId } = await createLimitedShop()
    await setNumberLimit(ctx, numberId, null)
    await count(ctx, numbered(0, 300))
    expect(await readNumberUsage(ctx, numberId)).toEqual({
      limit: null,
      used: 300,
      remaining: null,
      nextFreeAt: null,
    })
    await setNumberLimit(ctx, numberId, 250)
    expect(await readNumberUsage(ctx, numberId)).toMatchObject({ remaining: 0 })
    expect((await count(ctx, [makePhone(999)])).has(makePhone(999))).toBe(false)
    expect((await count(ctx, [makePhone(1)])).has(makePhone(1))).toBe(true)
  })

  test('a campaign stops at the limit', async () => {
    const shop = await sendingShop(app, { connection: null })
    const ctx = await shop.context()
    await connectNumber(ctx, { type: 'official', phone: '+551140001007' })
    const templateId = await makeTemplate(ctx, { name: 'hello', body: 'Hello there' })
    await count(ctx, numbered(5_000, 245))
    const listId = await shop.list(8)
    const { body } = await shop.call(createCampaign, {
      body: { name: 'Sale', listId, content: { type: 'template', officialapiTemplateId: templateId } },
    })
    expect((await shop.call(sendCampaign, { params: { id: body.id } })).status).toBe(202)
    await app.drainJobs()
    const campaign = (await shop.call(getCampaign, { params: { id: body.id } })).body
    expect(campaign).toMatchObject({
      status: 'paused',
      pauseReason: 'number-limit',
      counters: { sent: 5, pending: 3 },
    })
    expect(await sandbox.outbox(shop.id)).toHaveLength(5)
  })
})
