/** A clock that was a year ahead for an hour, and is right again: what was planned by it keeps nothing back. */
import { expect, test } from 'vitest'
import { sending } from '#operations/messaging/door'
import { testApp } from '#test/support/app'
import { ana, automationShop, never } from '#test/support/automations'

const app = await testApp()
const noon = '2026-11-20T15:00:00.000Z'
const hour = 3_600_000

test('a clock that was ahead keeps nothing back', async () => {
  await app.setClock(noon)
  const shop = await automationShop(app)
  await app.setClock(new Date(Date.parse(noon) + 365 * 24 * hour))
  const ctx = await shop.context()
  const connection = (await sending.selected(ctx))!
  for (let i = 0; i < 3; i += 1) await sending.takeTurn(ctx, connection, 2, 0.2)
  await sending.throttled(ctx, connection, new Date(app.clock.ms() + hour))
  await ctx.db
    .insertInto('automation_turns')
    .values({ number_id: connection.numberId, at: new Date(app.clock.ms() + 1000), units: 1 })
    .execute()
  await app.setClock(noon)
  expect(await sending.takeTurn(ctx, connection, 2, 0.2)).toEqual(new Date(noon))
  // What is planned now keeps others back as ever.
  const next = await sending.takeTurn(ctx, connection, 2, 0.2)
  expect(next > new Date(noon)).toBe(true)
  const until = new Date(app.clock.ms() + hour)
  await sending.throttled(ctx, connection, until)
  expect(await sending.takeTurn(ctx, connection, 2, 0.2)).toEqual(until)
  await app.advance(2 * hour)
  const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: never })
  await shop.cart({ customer: ana })
  await app.advance(hour)
  await app.drainJobs()
  expect((await shop.executions(id)).map((each) => each.status)).toEqual(['sent'])
})
