import { describe, expect, test } from 'vitest'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import endSession from '#operations/messaging/qr/api/end-session'
import getSession from '#operations/messaging/qr/api/get-session'
import * as sending from '#operations/messaging/sending/deliver'
import connectService from '#operations/messaging/shared/api/connect-service'
import disconnectService from '#operations/messaging/shared/api/disconnect-service'
import getStore from '#operations/store/profile/api/get-store'
import updateStore from '#operations/store/profile/api/update-store'
import { testApp } from '#test/support/app'
import { newPhone as aPhone, type NumberShop, numberShop } from '#test/support/numbers'
import type { Shop } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

const at = (ms: number) => app.setClock(new Date(app.clock.ms() + ms))
const session = async (shop: Shop, key = shop.key) => (await shop.call(getSession, { key })).body
const typeOf = async (shop: NumberShop) => (await shop.call(getStore)).body.settings.messagingConnectionType

describe('the shared number and the selection', () => {
  test('the shared number is selected once joined, and none once left', async () => {
    const shop = await numberShop(app)
    await shop.linkPhone(aPhone())
    const joined = await shop.call(connectService)
    expect(joined).toMatchObject({
      status: 200,
      body: {
        type: 'shared',
        connected: true,
        phone: '+5511900000000',
        shared: { status: 'connected' },
        qr: { status: 'connected' },
      },
    })
    expect((await shop.call(connectService)).status).toBe(409)
    expect(await shop.call(disconnectService)).toMatchObject({
      status: 200,
      body: {
        type: null,
        connected: false,
        shared: { status: 'none', phone: null },
        qr: { status: 'connected' },
      },
    })
    expect((await shop.call(disconnectService)).status).toBe(409)
  })

  test("a text is prefixed with the store's name, on one line until the person has written", async () => {
    const shop = await numberShop(app)
    await shop.call(connectService)
    const ctx = await shop.context()
    const phone = aPhone()
    const send = async () => {
      const content = { kind: 'text', text: 'Oi!\n\nTudo bem?', media: null } as const
      const key = `dm_${ctx.newId()}_1`
      expect(await sending.deliver(ctx, { phone, content }, key)).toMatchObject({ outcome: 'accepted' })
      const [last] = await getSandbox(app.services.adapters.messaging).outbox(shop.id, phone)
      return last!.content.text
    }
    const name = ctx.store.name
    expect(await send()).toBe(`*${name}* Oi! Tudo bem?`)
    await app.database.root
      .insertInto('shared_windows')
      .values({ number_id: 'sandbox-shared', phone_key: phone, last_inbound_at: app.clock.now() })
      .execute()
    await at(24 * 3_600_000 - 1)
    expect(await send()).toBe(`*${name}*\nOi!\n\nTudo bem?`)
    await at(1)
    expect(await send()).toBe(`*${name}* Oi! Tudo bem?`)
  })

  test('one of two parallel joins succeeds', async () => {
    const shop = await numberShop(app)
    const both = await Promise.all([shop.call(connectService), shop.call(connectService)])
    expect(both.map((each) => each.status).sort()).toEqual([200, 409])
  })

  test('PATCH /store selects another connection, connected or not; leaving an unselected one changes nothing', async () => {
    const shop = await numberShop(app)
    await shop.call(connectService)
    await shop.linkPhone(aPhone())
    expect(await typeOf(shop)).toBe('qr')
    await shop.call(updateStore, { body: { messagingConnectionType: 'official' } })
    expect(await session(shop)).toMatchObject({
      type: 'official',
      connected: false,
      issue: { code: 'not-connected' },
    })
    await shop.call(disconnectService)
    await shop.call(endSession)
    expect(await typeOf(shop)).toBe('official')
  })
})
