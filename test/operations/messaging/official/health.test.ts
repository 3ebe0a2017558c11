/** Health of a connected number, and its disconnection. */
import { describe, expect, test } from 'vitest'
import { countRecipients } from '#operations/messaging/numbers/limit'
import disconnect from '#operations/messaging/official/api/disconnect'
import getHealth from '#operations/messaging/official/api/get-phone-health'
import getStatus from '#operations/messaging/official/api/get-status'
import revalidate from '#operations/messaging/official/api/revalidate'
import { readNumberLimit } from '#operations/messaging/official/health'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import getSession from '#operations/messaging/qr/api/get-session'
import * as sending from '#operations/messaging/sending/deliver'
import getTemplate from '#operations/messaging/templates/api/get-template'
import { makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { newPhone as aPhone, type NumberShop, numberShop } from '#test/support/numbers'
import type { Shop } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

const at = (ms: number) => app.setClock(new Date(app.clock.ms() + ms))
const minutes = 60_000
const hours = 60 * minutes
const session = async (shop: Shop) => (await shop.call(getSession)).body
const official = async (shop: Shop) => (await shop.call(getStatus)).body
const health = async (shop: NumberShop) => (await shop.call(getHealth)).body

describe('disconnecting', () => {
  test('disconnecting ends everything here at once, and at the provider by a job', async () => {
    const shop = await numberShop(app)
    await shop.connectOfficial(aPhone())
    await app.drainJobs()
    const templateId = await makeTemplate(await shop.context(), { name: 'hello', body: 'Oi, tudo bem?' })
    expect((await official(shop)).templates).toMatchObject({ approved: 1, pending: 0 })
    const answer = await shop.call(disconnect)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: 'none',
        phone: null,
        displayName: null,
        connectedAt: null,
        checkedAt: null,
        templates: { approved: 0, pending: 0, rejected: 0, paused: 0, disabled: 0 },
      },
    })
    expect((await shop.call(getTemplate, { params: { id: String(templateId) } })).status).toBe(404)
    expect((await session(shop)).type).toBeNull()
    expect((await shop.call(disconnect)).status).toBe(409)
    expect((await shop.call(revalidate)).status).toBe(409)
    await app.drainJobs()
    const left = await getSandbox(app.services.adapters.messaging).listTemplates({
      id: shop.id,
      credentials: null,
    })
    expect(left.templates).toEqual([])
    expect(await shop.sandbox('number', { qualityRating: 'red' })).toBe(404)
    const rows = await app.database.root
      .selectFrom('messaging_releases')
      .select('id')
      .where('store_id', '=', shop.id)
      .execute()
    expect(rows).toEqual([])
    expect((await shop.connectOfficial(aPhone())).status).toBe(200)
  })

  test('a pending release does not affect a number that was connected again', async () => {
    const shop = await numberShop(app)
    await shop.connectOfficial(aPhone())
    await app.drainJobs()
    await makeTemplate(await shop.context(), { name: 'hello', body: 'Oi, tudo bem?' })
    await shop.sandbox('provider', { mode: 'down' })
    await shop.call(disconnect)
    await app.drainJobs()
    await shop.sandbox('provider', { mode: 'up' })
    await shop.connectOfficial(aPhone())
    await at(3 * minutes)
    await app.drainJobs()
    expect((await shop.call(revalidate)).body.status).toBe('connected')
  })

  test('connecting another number after an issue deletes the templates of the old one', async () => {
    const shop = await numberShop(app)
    await shop.connectOfficial(aPhone())
    await app.drainJobs()
    await makeTemplate(await shop.context(), { name: 'hello', body: 'Oi, tudo bem?' })
    await shop.sandbox('number', { tokenValid: false })
    await shop.call(revalidate)
    expect((await shop.connectOfficial(aPhone())).body).toMatchObject({
      status: 'connected',
      templates: { approved: 0 },
    })
  })
})

describe('the health of a number', () => {
  test('health follows callbacks; the sandbox derives it from the last digit', async () => {
    const none = await numberShop(app)
    expect((await none.call(getHealth)).status).toBe(409)
    const of = async (last: string) => {
      const shop = await numberShop(app)
      await shop.connectOfficial(aPhone(last))
      return shop
    }
    const small = await of('7')
    expect(await health(small)).toMatchObject({
      qualityRating: 'green',
      numberStatus: 'connected',
      messagingLimitTier: 'tier-250',
      messagingLimit: 250,
      usedLast24h: 0,
      remaining: 250,
      nextFreeAt: null,
      isStale: false,
    })
    expect(await readNumberLimit(await small.context())).toBe(250)
    expect(await health(await of('8'))).toMatchObject({ qualityRating: 'yellow', messagingLimit: 2000 })
    const red = await of('9')
    expect(await health(red)).toMatchObject({ qualityRating: 'red', numberStatus: 'flagged' })
    expect(await red.notices('number-quality')).toEqual([])

    const shop = await of('0')
    await shop.sandbox('number', { messagingLimitTier: 'tier-unlimited' })
    await app.drainJobs()
    expect(await health(shop)).toMatchObject({ messagingLimit: null, remaining: null })
    expect(await readNumberLimit(await shop.context())).toBeNull()
    expect(await shop.notices('number-quality')).toEqual([])
    await shop.sandbox('number', { messagingLimitTier: 'tier-250', qualityRating: 'red' })
    await app.drainJobs()
    expect(await shop.notices('number-quality')).toHaveLength(1)
    await shop.sandbox('number', { numberStatus: 'banned' })
    await app.drainJobs()
    expect(await official(shop)).toMatchObject({ status: 'error', issue: { code: 'account-restricted' } })
  })

  test('the limit is used up and becomes free again', async () => {
    const shop = await numberShop(app)
    await shop.connectOfficial(aPhone('7'))
    const ctx = await shop.context()
    const connection = (await sending.findSelected(ctx))!
    const first = app.clock.ms()
    await countRecipients(ctx, connection, ['+5511988880000'])
    await at(minutes)
    const others = Array.from({ length: 249 }, (_none, n) => `+55119777${String(10_000 + n)}`)
    await countRecipients(ctx, connection, others)
    const nextFreeAt = new Date(first + 24 * hours).toISOString()
    expect(await health(shop)).toMatchObject({ usedLast24h: 250, remaining: 0, nextFreeAt })
    await at(24 * hours - minutes)
    expect(await health(shop)).toMatchObject({ usedLast24h: 249, remaining: 1, nextFreeAt: null })
  })

  test('the provider is asked after five minutes; without an answer the last one is stale', async () => {
    const shop = await numberShop(app)
    await shop.connectOfficial(aPhone())
    const { checkedAt } = await health(shop)
    await shop.sandbox('provider', { mode: 'down' })
    await at(5 * minutes)
    expect(await health(shop)).toMatchObject({ isStale: false, checkedAt })
    await at(1)
    expect(await health(shop)).toMatchObject({ isStale: true, checkedAt })
    await shop.sandbox('provider', { mode: 'up' })
    expect(await health(shop)).toMatchObject({ isStale: false, checkedAt: app.clock.now().toISOString() })
    await app.database.root
      .updateTable('messaging_connections')
      .set({ health: null, health_at: null })
      .where('store_id', '=', shop.id)
      .execute()
    await shop.sandbox('provider', { mode: 'down' })
    expect((await shop.call(getHealth)).status).toBe(503)
  })
})
