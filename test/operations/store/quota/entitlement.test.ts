import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { canWriteAt, statusAt } from '#operations/store/plans'
import { readEntitlement, statusSql } from '#operations/store/quota/entitlement'
import { dayMs } from '#runtime/durations'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
const at = Date.parse('2026-11-20T12:00:00.000Z')
/** Offsets: none, long before, the instant itself, a millisecond on each side, and around 90 days before. */
const instants = [null, -200 * dayMs, -90 * dayMs - 1, -90 * dayMs, -90 * dayMs + 1, -1, 0, 1]

test('the SQL status of a subscription equals the code’s at every edge', async () => {
  await app.setClock(new Date(at))
  const shop = await store(app)
  const ctx = await shop.context()
  const seen = new Set<string>()
  for (const status of ['trialing', 'active', 'past-due', 'paused', 'cancelled', 'ended']) {
    for (const offset of instants) {
      const instant = offset === null ? null : new Date(at + offset)
      const row = {
        status,
        current_period_end: new Date(at + dayMs),
        trial_ends_at: instant,
        grace_ends_at: instant,
        ends_at: instant,
        paused_at: instant,
      }
      await ctx.db.updateTable('subscriptions').set(row).execute()
      const found = await ctx.db
        .selectFrom('subscriptions as b')
        .select(statusSql(ctx.now()).as('status'))
        .executeTakeFirstOrThrow()
      const expected = statusAt(row, at)
      seen.add(expected)
      expect([status, offset, found.status]).toEqual([status, offset, expected])
      const entitlement = await readEntitlement(ctx)
      expect(entitlement).toMatchObject({ status: expected, canWrite: canWriteAt(expected), planId: 'scale' })
    }
  }
  expect([...seen].sort()).toEqual(['active', 'cancelled', 'ended', 'past-due', 'paused', 'trialing'])
})

test('the features are those of the plan', async () => {
  const shop = await store(app, { plan: 'starter' })
  const ctx = await shop.context()
  const { features } = await readEntitlement(ctx)
  expect([features.has('messaging'), features.has('inbox')]).toEqual([true, false])
  await sql`update subscriptions set plan_id = 'growth' where store_id = ${shop.id}`.execute(
    app.database.root,
  )
  expect((await readEntitlement(ctx)).features.has('inbox')).toBe(true)
})
