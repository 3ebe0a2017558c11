/** A merchant's corrections reach every message of an automation that has not left, whatever it waits for. */
import { beforeAll, describe, expect, test } from 'vitest'
import updateAutomation from '#operations/automations/definitions/api/update-automation'
import updateStore from '#operations/store/profile/api/update-store'
import { type TestApp, testApp } from '#test/support/app'
import { type AutomationShop, automationShop, never, readOutcomes as states } from '#test/support/automations'
import { isFullSuite } from '#test/support/suite'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const night = { isEnabled: true, start: '21:00', end: '08:00' }
const evening = '2026-11-20T23:30:00.000Z'
const morning = '2026-11-21T11:00:00.000Z'
const noon = '2026-11-20T15:00:00.000Z'
const goTo = async (at: string): Promise<void> => {
  await app.setClock(at)
  await app.drainJobs()
}
const provider = (shop: AutomationShop, mode: string) =>
  shop.sandbox(`/messaging/${shop.id}/provider`, { mode })
const platform = (shop: AutomationShop, mode: string) =>
  shop.sandbox(`/ecommerce/${shop.id}/outage`, { mode })

interface Wait {
  from: string
  quietHours: object
  begin(shop: AutomationShop): Promise<void>
  /** When the cause ends. */
  end(shop: AutomationShop): Promise<void>
  hold: string
}
const waits: Record<string, Wait> = {
  'an outage of the messaging provider': {
    from: noon,
    quietHours: never,
    async begin(shop) {
      await provider(shop, 'down')
      await goTo('2026-11-20T16:00:00.000Z')
    },
    async end(shop) {
      await provider(shop, 'up')
      await goTo('2026-11-20T16:00:15.000Z')
    },
    hold: 'provider-unavailable',
  },
  'an outage of the platform': {
    from: noon,
    quietHours: never,
    async begin(shop) {
      await platform(shop, 'down')
      await app.setClock('2026-11-20T16:00:00.000Z')
      await app.drainJobs({ allowFailures: true })
    },
    async end(shop) {
      await platform(shop, 'up')
      // Orders are synced first, because a purchase during the outage would stop the message.
      await goTo('2026-11-20T16:05:00.000Z')
      await goTo('2026-11-20T16:20:00.000Z')
    },
    hold: 'provider-unavailable',
  },
  'quiet hours': {
    from: evening,
    quietHours: night,
    begin: () => goTo('2026-11-21T00:30:00.000Z'),
    end: () => goTo(morning),
    hold: 'quiet-hours',
  },
  'its time': {
    from: noon,
    quietHours: never,
    begin: async () => undefined,
    end: () => goTo('2026-11-20T16:00:00.000Z'),
    hold: 'pending',
  },
}

const message = { text: 'Oi, {{couponValue}} com {{couponCode}} na {{storeName}}' }
const coupon = { type: 'percentage', value: 90, prefix: 'VOLTA', validDays: 5 }
interface Correction {
  change(shop: AutomationShop, id: string): Promise<{ status: number }>
  says: RegExp
  /** Whether the code of a coupon made before is revoked. */
  revokes: boolean
}
const put = (change: object) => (shop: AutomationShop, id: string) =>
  shop.call(updateAutomation, { params: { id }, body: change })
const corrections: Record<string, Correction> = {
  'the value of its coupon': {
    change: put({ coupon: { value: 9 } }),
    says: /^Oi, 9% com VOLTA-\w{6} na/,
    revokes: true,
  },
  'the kind of its coupon': {
    change: put({ coupon: { type: 'amount', value: 15 } }),
    says: /^Oi, R\$\s15,00 com VOLTA-\w{6} na/,
    revokes: true,
  },
  'the least amount of its coupon': {
    change: put({ coupon: { minimumAmount: 50 } }),
    says: /^Oi, 90% com VOLTA-\w{6} na/,
    revokes: true,
  },
  'the prefix of its coupon': {
    change: put({ coupon: { prefix: 'NOVO' } }),
    says: /^Oi, 90% com NOVO-\w{6} na/,
    revokes: true,
  },
  'its coupon and text: none': {
    change: put({ coupon: null, message: { text: 'Oi, volte!' } }),
    says: /^Oi, volte!$/,
    revokes: false,
  },
  'its text': {
    change: put({ message: { text: 'Olá: {{couponCode}}' } }),
    says: /^Olá: VOLTA-\w{6}$/,
    revokes: false,
  },
  'the name of the store': {
    change: (shop) => shop.call(updateStore, { body: { name: 'Loja Nova' } }),
    says: /^Oi, 90% com VOLTA-\w{6} na Loja Nova$/,
    revokes: false,
  },
}

const fast = ['the value of its coupon', 'its text']
const couponsAt = async (shop: AutomationShop): Promise<Record<string, { value: string }>> => {
  const rows = await app.database.root
    .selectFrom('sandbox_objects')
    .select(['id', 'data'])
    .where('store_id', '=', shop.id)
    .where('kind', '=', 'coupon')
    .execute()
  return Object.fromEntries(rows.map(({ id, data }) => [id, data as { value: string }]))
}

describe.each(Object.entries(waits))('a message that waits for %s', (_, wait) => {
  const chosen = Object.entries(corrections).filter(([name]) => isFullSuite || fast.includes(name))
  test.each(chosen)('leaves with %s corrected', async (_name, { change, says, revokes }) => {
    await app.setClock(wait.from)
    const shop = await automationShop(app)
    const { quietHours } = wait
    const { id } = await shop.automation({ type: 'abandoned-cart', quietHours, message, coupon })
    await shop.cart()
    await wait.begin(shop)
    expect(await states(shop, id)).toEqual([wait.hold])
    const before = Object.keys(await couponsAt(shop))
    expect((await change(shop, id)).status).toBe(200)
    await wait.end(shop)
    expect(await states(shop, id)).toEqual(['sent'])
    const [left] = await shop.outbox()
    const { text } = left!.content as { text: string }
    expect(text).toMatch(says)
    const after = await couponsAt(shop)
    if (revokes) expect(before.filter((code) => code in after)).toEqual([])
    const code = /\w+-\w{6}/.exec(text)?.[0]
    if (code) expect(Object.keys(after)).toEqual([code])
  })
})

test('an equal definition issues no second coupon', async () => {
  const wait = waits['an outage of the messaging provider']!
  await app.setClock(noon)
  const shop = await automationShop(app)
  const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: never, message, coupon })
  await shop.cart()
  await wait.begin(shop)
  const before = await couponsAt(shop)
  expect((await put({ coupon: { ...coupon } })(shop, id)).status).toBe(200)
  await wait.end(shop)
  expect([await states(shop, id), await couponsAt(shop)]).toEqual([['sent'], before])
})
