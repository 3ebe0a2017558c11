/** Day edges, zones and buckets (statistics, rules 1 to 3), from the sums and from the rows. */
import { describe, expect, test } from 'vitest'
import getSummary from '#operations/statistics/conversions/api/get-summary'
import { recordTouches } from '#operations/store/conversions/attribution'
import updateStore from '#operations/store/profile/api/update-store'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import type { Shop } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-25T15:00:00.000Z')
const customer = { name: 'Ana', phone: '+5511988887777' }

async function touch(shop: Shop, touchedAt: string): Promise<void> {
  const ctx = await shop.context()
  await ctx.transaction((tx) =>
    recordTouches(tx, [
      {
        sourceType: 'messaging-campaign',
        sourceId: 'c1',
        sourceName: 'Black Friday',
        channel: 'messaging',
        messageId: newId(app.clock.ms()),
        phone: customer.phone,
        email: null,
        touchedAt: new Date(touchedAt),
      },
    ]),
  )
}
async function sell(shop: ConnectedShop, ...instants: string[]): Promise<void> {
  for (const placedAt of instants) {
    await touch(shop, new Date(Date.parse(placedAt) - 3_600_000).toISOString())
    await shop.sell({ customer, placedAt })
  }
}
interface Bucket {
  period: string
  startDate: string
  endDate: string
  isPartial: boolean
  orders: number
}
const summary = async (shop: Shop, query: Record<string, string>) => {
  const { status, body } = await shop.call(getSummary, { query })
  expect(status, JSON.stringify(body)).toBe(200)
  return body as { data: Bucket[]; totals: { orders: number; revenue: number } }
}
const ordersByDay = async (shop: Shop, startDate: string, endDate: string) =>
  (await summary(shop, { startDate, endDate })).data.map((each) => each.orders)
const setZone = async (shop: Shop, timezone: string) =>
  expect((await shop.call(updateStore, { body: { timezone } })).status).toBe(200)

describe('a local day', () => {
  test('ends at its midnight to the millisecond; a new zone regroups immediately, and after the rebuild', async () => {
    const shop = await connectedStore(app)
    await sell(shop, '2026-11-20T02:59:59.999Z', '2026-11-20T03:00:00.000Z')
    expect(await ordersByDay(shop, '2026-11-19', '2026-11-20')).toEqual([1, 1])
    await setZone(shop, 'America/New_York')
    expect(await ordersByDay(shop, '2026-11-19', '2026-11-20')).toEqual([2, 0])
    await app.drainJobs()
    const zones = await (await shop.context()).db.selectFrom('conversion_zones').selectAll().execute()
    expect(zones).toMatchObject([{ timezone: 'America/New_York', built_before: null }])
    expect(await ordersByDay(shop, '2026-11-19', '2026-11-20')).toEqual([2, 0])
  })

  test('may have 23 or 25 hours, and a midnight that does not exist', async () => {
    // Chile's clocks go forward at midnight of 2026-09-06 (00:00 becomes 01:00), and went back on 2026-04-05 (23:00 twice on the 4th).
    const shop = await connectedStore(app, { timezone: 'America/Santiago', country: 'CL' })
    await sell(
      shop,
      '2026-09-06T03:59:59.999Z', // 23:59:59.999 of the 5th, UTC-4
      '2026-09-06T04:00:00.000Z', // 01:00 of the 6th, UTC-3
      '2026-09-07T02:59:59.999Z', // 23:59:59.999 of the 6th
      '2026-09-07T03:00:00.000Z',
      '2026-04-05T03:30:00.000Z', // the second 23:30 of the 4th
      '2026-04-05T04:00:00.000Z',
    )
    const asked = async () => [
      ...(await ordersByDay(shop, '2026-09-05', '2026-09-07')),
      ...(await ordersByDay(shop, '2026-04-04', '2026-04-05')),
    ]
    expect(await asked()).toEqual([1, 2, 1, 1, 1])
    await setZone(shop, 'UTC')
    await setZone(shop, 'America/Santiago')
    expect(await asked()).toEqual([1, 2, 1, 1, 1])
    await app.drainJobs()
    expect(await asked()).toEqual([1, 2, 1, 1, 1])
  })
})

describe('weeks and months', () => {
  test('have the year of their Thursday; the first and last are clipped to the range', async () => {
    const shop = await connectedStore(app)
    const { data } = await summary(shop, { startDate: '2026-12-30', endDate: '2027-01-05', groupBy: 'week' })
    expect(
      data.map(({ period, startDate, endDate, isPartial }) => [period, startDate, endDate, isPartial]),
    ).toEqual([
      ['2026-W53', '2026-12-30', '2027-01-03', true],
      ['2027-W01', '2027-01-04', '2027-01-05', true],
    ])
    const months = await summary(shop, { startDate: '2026-01-31', endDate: '2026-03-31', groupBy: 'month' })
    expect(months.data.map(({ period, isPartial }) => [period, isPartial])).toEqual([
      ['2026-01', true],
      ['2026-02', false],
      ['2026-03', false],
    ])
  })

  test('add up to the days', async () => {
    const shop = await connectedStore(app)
    await sell(shop, '2026-11-01T12:00:00.000Z', '2026-11-02T12:00:00.000Z', '2026-11-20T12:00:00.000Z')
    const range = { startDate: '2026-10-28', endDate: '2026-11-25' }
    for (const groupBy of ['day', 'week', 'month']) {
      const { data, totals } = await summary(shop, { ...range, groupBy })
      expect(data.reduce((sum, each) => sum + each.orders, 0)).toBe(3)
      expect(totals.orders).toBe(3)
      expect(data.at(-1)!.isPartial).toBe(true)
    }
  })
})

describe('a range', () => {
  test('has at most 731 days', async () => {
    const shop = await connectedStore(app)
    const endDate = '2026-11-20'
    expect((await shop.call(getSummary, { query: { startDate: '2024-11-20', endDate } })).status).toBe(200)
    expect((await shop.call(getSummary, { query: { startDate: '2024-11-19', endDate } })).status).toBe(400)
  })
})
