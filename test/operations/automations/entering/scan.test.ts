import { beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#test/support/app'
import { type AutomationShop, automationShop, never } from '#test/support/automations'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const phone = (n: number): string => `+55119${String(50_000_005 + n * 10)}`
const set = async (at: string): Promise<void> => {
  await app.setClock(at)
  await app.drainJobs()
}
const orders = async (shop: AutomationShop, id: string) => {
  const ctx = await shop.context()
  const runs = await ctx.db
    .selectFrom('automation_runs')
    .select(['order_id', 'customer_id', 'entry_key', 'occurred_at'])
    .where('automation_id', '=', id)
    .orderBy('entry_key')
    .execute()
  return runs
}

describe.each([
  ['America/Sao_Paulo', '2026-11-20T13:00:00.000Z', '2026-09-21T03:00:00.000Z', '2026-09-22T02:59:59.999Z'],
  ['Pacific/Auckland', '2026-11-19T21:00:00.000Z', '2026-09-20T12:00:00.000Z', '2026-09-21T11:59:59.999Z'],
])('win-back with the days of %s', (timezone, scanAt, firstInstant, lastInstant) => {
  test('on 20 November finds customers whose last order was on 21 September, 60 days ago', async () => {
    await app.setClock('2026-11-19T10:30:00.000Z')
    const shop = await automationShop(app, { timezone, country: 'BR' })
    const before = new Date(Date.parse(firstInstant) - 1).toISOString()
    const after = new Date(Date.parse(lastInstant) + 1).toISOString()
    const first = await shop.sell({ customer: { phone: phone(1) }, placedAt: firstInstant })
    const last = await shop.sell({ customer: { phone: phone(2) }, placedAt: lastInstant })
    await shop.sell({ customer: { phone: phone(3) }, placedAt: before })
    await shop.sell({ customer: { phone: phone(4) }, placedAt: after })
    // Ordered since; never paid.
    await shop.sell({ customer: { phone: phone(5) }, placedAt: firstInstant })
    await shop.sell({ customer: { phone: phone(5) }, placedAt: '2026-10-20T12:00:00.000Z' })
    await shop.sell({ customer: { phone: phone(6) }, placedAt: firstInstant, paymentStatus: 'pending' })
    const automation = await shop.automation({ type: 'win-back', quietHours: never })
    await set(new Date(Date.parse(scanAt) - 60_000).toISOString())
    const found = (await orders(shop, automation.id)).map((run) => run.order_id)
    expect(found).not.toContain(first.id)
    await set(scanAt)
    const runs = (await orders(shop, automation.id)).filter((run) =>
      [first.id, last.id].includes(run.order_id!),
    )
    expect(runs.map((run) => run.order_id).sort()).toEqual([first.id, last.id].sort())
    expect(runs[0]!.occurred_at).toEqual(new Date(scanAt))
    const count = (await orders(shop, automation.id)).length
    await set(new Date(Date.parse(scanAt) + 3_600_000).toISOString())
    expect(await orders(shop, automation.id)).toHaveLength(count)
  })
})

describe('birthdays', () => {
  const person = (shop: AutomationShop, n: number, birthDate: string) =>
    shop.place({
      customer: { phone: phone(n), name: `P ${n}`, birthDate },
      placedAt: '2024-01-10T12:00:00.000Z',
    })

  test('29 February is celebrated on the 28th in other years, once a year', async () => {
    await app.setClock('2027-02-27T15:00:00.000Z')
    const shop = await automationShop(app)
    const leap = await person(shop, 1, '1992-02-29')
    const usual = await person(shop, 2, '1990-02-28')
    await person(shop, 3, '1990-03-01')
    const automation = await shop.automation({ type: 'birthday', quietHours: never })
    await app.drainJobs()
    await set('2027-02-28T12:00:00.000Z')
    expect((await orders(shop, automation.id)).map((run) => run.entry_key)).toEqual(
      [leap, usual].map((order) => `customer:${order.customer.id}:2027`),
    )
    await set('2028-02-26T15:00:00.000Z')
    await set('2028-02-28T12:00:00.000Z')
    await set('2028-02-29T12:00:00.000Z')
    const of2028 = (await orders(shop, automation.id)).filter((run) => run.entry_key.endsWith('2028'))
    expect(of2028.map((run) => [run.customer_id, run.occurred_at])).toEqual([
      [leap.customer.id, new Date('2028-02-29T12:00:00.000Z')],
      [usual.customer.id, new Date('2028-02-28T12:00:00.000Z')],
    ])
  })

  test('are scanned some days before; customers without a phone are skipped; up to three missed days are made up', async () => {
    await app.setClock('2026-11-10T15:00:00.000Z')
    const shop = await automationShop(app)
    for (const day of [15, 16, 17, 18, 19, 20]) await person(shop, day, `1990-11-${day}`)
    await shop.place({
      customer: { email: 'nophone@example.com', birthDate: '1990-11-19' },
      placedAt: '2024-01-10T12:00:00.000Z',
    })
    const automation = await shop.automation({
      type: 'birthday',
      quietHours: never,
      settings: { daysBefore: 2 },
    })
    await set('2026-11-10T15:01:00.000Z')
    await set('2026-11-12T12:00:00.000Z')
    expect(await orders(shop, automation.id)).toEqual([])
    // Downtime until the 17th at noon: days 14 to 16 are made up, the 13th is not; the 17th is today.
    await set('2026-11-17T15:00:00.000Z')
    const ctx = await shop.context()
    const runs = await ctx.db
      .selectFrom('automation_runs as r')
      .innerJoin('automation_executions as e', 'e.run_id', 'r.id')
      .select(['r.contact_name', 'e.skip_reason'])
      .where('r.automation_id', '=', automation.id)
      .orderBy('r.contact_name')
      .execute()
    expect(runs.map((run) => run.contact_name ?? run.skip_reason)).toEqual([
      'P 16',
      'P 17',
      'P 18',
      'P 19',
      'no-phone',
    ])
  })

  test('an unavailable platform is retried', async () => {
    await app.setClock('2026-11-20T11:00:00.000Z')
    const shop = await automationShop(app)
    await person(shop, 1, '1990-11-20')
    const automation = await shop.automation({ type: 'birthday', quietHours: never })
    await app.drainJobs()
    await shop.sandbox(`/ecommerce/${shop.id}/outage`, { mode: 'down' })
    await app.setClock('2026-11-20T12:00:00.000Z')
    await app.drainJobs({ allowFailures: true })
    expect(await orders(shop, automation.id)).toEqual([])
    await shop.sandbox(`/ecommerce/${shop.id}/outage`, { mode: 'up' })
    await set('2026-11-20T12:10:00.000Z')
    expect(await orders(shop, automation.id)).toHaveLength(1)
  })
})
