/** After a clock ran a year ahead for an hour and was corrected, slots reserved meanwhile block nothing. */
import { expect, test } from 'vitest'
import { sending } from '#operations/messaging/index'
import { testApp } from '#test/support/app'
import { ana, automationShop, never } from '#test/support/automations'

const app = await testApp()
const noon = '2026-11-20T15:00:00.000Z'
const hour = 3_600_000

test('slots reserved by a clock that ran ahead block nothing', async () => {
  await app.setClock(noon)
  const shop = await automationShop(app)
  await app.setClock(new Date(Date.parse(noon) + 365 * 24 * hour))
  const ctx = await shop.context()
  const connection = (await sending.findSelected(ctx))!
  for (let i = 0; i < 3; i += 1) await sending.reserveRateSlots(ctx, connection, 2, 0.2)
  await sending.pauseNumber(ctx, connection, new Date(app.clock.ms() + hour))
  await ctx.db
    .insertInto('automation_turns')
    .values({ number_id: connection.numberId, at: new Date(app.clock.ms() + 1000), units: 1 })
    .execute()
  await app.setClock(noon)
  expect(await sending.reserveRateSlots(ctx, connection, 2, 0.2)).toEqual(new Date(noon))
  // New reservations queue as usual.
  const next = await sending.reserveRateSlots(ctx, connection, 2, 0.2)
  expect(next > new Date(noon)).toBe(true)
  const until = new Date(app.clock.ms() + hour)
  await sending.pauseNumber(ctx, connection, until)
  expect(await sending.reserveRateSlots(ctx, connection, 2, 0.2)).toEqual(until)
  await app.advance(2 * hour)
  const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: never })
  await shop.cart({ customer: ana })
  await app.advance(hour)
  await app.drainJobs()
  expect((await shop.executions(id)).map((each) => each.status)).toEqual(['sent'])
})
