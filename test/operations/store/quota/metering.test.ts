import { describe, expect, test } from 'vitest'
import type { FailedAs } from '#db/tables/columns'
import * as metering from '#operations/store/quota/metering'
import type { Context } from '#runtime/context'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

const row = (change: Partial<metering.LedgerRow> = {}): metering.LedgerRow => ({
  messageId: newId(app.clock.ms()),
  channel: 'messaging',
  source: 'messaging-campaign',
  sourceId: null,
  phone: '+551188887777',
  email: null,
  providerMessageId: null,
  status: 'sent',
  sentAt: app.clock.now(),
  ...change,
})
const rows = (count: number): metering.LedgerRow[] => Array.from({ length: count }, () => row())

async function shopWith(limit?: number): Promise<{ shop: Shop; ctx: Context }> {
  const shop = await store(app, { plan: 'starter' })
  const ctx = await shop.context()
  if (limit !== undefined) await ctx.db.updateTable('usage_cycles').set({ message_limit: limit }).execute()
  return { shop, ctx }
}
const readCycles = (ctx: Context) =>
  ctx.db
    .selectFrom('usage_cycles')
    .select(['starts_at', 'ends_at', 'message_limit', 'used', 'reserved'])
    .orderBy('starts_at')
    .execute()
const readNotices = async (ctx: Context) => {
  const found = await ctx.db.selectFrom('notifications').select('type').orderBy('id').execute()
  return found.map((each) => each.type).filter((type) => type.startsWith('quota-'))
}
const readLedger = (ctx: Context) =>
  ctx.db.selectFrom('message_ledger').selectAll().orderBy('message_id').execute()

describe('reserving', () => {
  test('20 concurrent reservations of the last 5 units: 5 succeed, 15 get an error with the rest', async () => {
    const { ctx } = await shopWith(5)
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, () => metering.reserve(ctx, 1, 'direct')),
    )
    const refused = answers.filter((each) => each.status === 'rejected')
    expect([answers.length - refused.length, refused.length]).toEqual([5, 15])
    expect(refused[0]!.reason).toMatchObject({
      code: 'forbidden',
      message: 'Not enough messages left in this cycle: 1 is needed and 0 are left',
    })
    expect(await metering.readUsage(ctx)).toEqual({ limit: 5, used: 0, reserved: 5, remaining: 0 })
  })

  test('a reservation of 10 with 5 remaining reserves nothing', async () => {
    const { ctx } = await shopWith(5)
    await expect(metering.reserve(ctx, 10, 'messaging-campaign')).rejects.toMatchObject({
      message: 'Not enough messages left in this cycle: 10 are needed and 5 are left',
    })
    expect(await metering.readUsage(ctx)).toEqual({ limit: 5, used: 0, reserved: 0, remaining: 5 })
    expect(await ctx.db.selectFrom('usage_reservations').select('id').execute()).toEqual([])
  })

  test('a reservation is rolled back with its transaction', async () => {
    const { ctx } = await shopWith(5)
    const undone = ctx.transaction(async (tx) => {
      await metering.reserve(tx, 5, 'direct')
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect((await metering.readUsage(ctx)).remaining).toBe(5)
  })

  test('a reservation can grow within its cycle, and shrink', async () => {
    const { ctx } = await shopWith(10)
    const id = await metering.reserve(ctx, 4, 'messaging-campaign')
    await metering.reserve(ctx, 3, 'direct')
    await metering.resize(ctx, id, 7)
    expect((await metering.readUsage(ctx)).reserved).toBe(10)
    await expect(metering.resize(ctx, id, 8)).rejects.toMatchObject({
      message: 'Not enough messages left in this cycle: 8 are needed and 7 are left',
    })
    await metering.resize(ctx, id, 2)
    expect(await metering.readUsage(ctx)).toMatchObject({ reserved: 5, remaining: 5 })
  })
})

describe('committing and releasing', () => {
  test('a message counts once, however often it is committed', async () => {
    const { ctx } = await shopWith(10)
    const id = await metering.reserve(ctx, 5, 'messaging-campaign')
    const sent = rows(3)
    await metering.commit(ctx, id, sent)
    await metering.commit(ctx, id, [...sent, row()])
    await Promise.all([metering.commit(ctx, id, sent), metering.commit(ctx, id, sent)])
    expect(await metering.readUsage(ctx)).toEqual({ limit: 10, used: 4, reserved: 1, remaining: 5 })
    const ledger = await readLedger(ctx)
    expect(ledger).toHaveLength(4)
    expect(ledger[0]).toMatchObject({
      channel: 'messaging',
      source: 'messaging-campaign',
      phone_key: '+5511988887777',
      status: 'sent',
      sent_at: app.clock.now(),
      failed_at: null,
    })
  })

  test('an indeterminate outcome counts, as failed', async () => {
    const { ctx } = await shopWith(10)
    const id = await metering.reserve(ctx, 1, 'direct')
    await metering.commit(ctx, id, [row({ status: 'failed' })])
    expect(await metering.readUsage(ctx)).toMatchObject({ used: 1, reserved: 0 })
    expect(await readLedger(ctx)).toMatchObject([{ status: 'failed', failed_at: app.clock.now() }])
  })

  test('unused units are released, never more than were reserved', async () => {
    const { ctx } = await shopWith(10)
    const id = await metering.reserve(ctx, 5, 'messaging-campaign')
    await metering.commit(ctx, id, rows(2))
    await metering.release(ctx, id, 3)
    await metering.release(ctx, id, 3)
    expect(await metering.readUsage(ctx)).toEqual({ limit: 10, used: 2, reserved: 0, remaining: 8 })
  })

  test('a message sent after its unit was released still counts', async () => {
    const { ctx } = await shopWith(10)
    const id = await metering.reserve(ctx, 1, 'direct')
    const other = await metering.reserve(ctx, 2, 'direct')
    await metering.release(ctx, id, 1)
    await metering.commit(ctx, id, rows(1))
    expect(await metering.readUsage(ctx)).toEqual({ limit: 10, used: 1, reserved: 2, remaining: 7 })
    await metering.commit(ctx, other, rows(2))
    expect(await metering.readUsage(ctx)).toEqual({ limit: 10, used: 3, reserved: 0, remaining: 7 })
  })

  test('emails are in the ledger and free', async () => {
    const { ctx } = await shopWith(10)
    const mail = row({ channel: 'email', source: 'newsletter', phone: null, email: 'Ana@Example.com' })
    await metering.recordEmails(ctx, [mail])
    await metering.recordEmails(ctx, [mail])
    expect((await metering.readUsage(ctx)).used).toBe(0)
    expect(await readLedger(ctx)).toMatchObject([
      { channel: 'email', email: 'ana@example.com', phone_key: null },
    ])
  })

  test('concurrent senders leave exact sums', async () => {
    const { ctx } = await shopWith(200)
    await Promise.all(
      Array.from({ length: 20 }, async (_, sender) => {
        const id = await metering.reserve(ctx, 6, 'messaging-campaign')
        await ctx.transaction((tx) => metering.commit(tx, id, rows(4)))
        await metering.release(ctx, id, sender % 2 === 0 ? 2 : 1)
      }),
    )
    expect(await metering.readUsage(ctx)).toEqual({ limit: 200, used: 80, reserved: 10, remaining: 110 })
  })

  test('one notification at 80 % and one at 100 % of a cycle', async () => {
    const { ctx } = await shopWith(10)
    const id = await metering.reserve(ctx, 10, 'messaging-campaign')
    await metering.commit(ctx, id, rows(7))
    expect(await readNotices(ctx)).toEqual([])
    await metering.commit(ctx, id, rows(1))
    await metering.commit(ctx, id, rows(1))
    expect(await readNotices(ctx)).toEqual(['quota-80'])
    await metering.commit(ctx, id, rows(1))
    expect(await readNotices(ctx)).toEqual(['quota-80', 'quota-100'])
    // A larger plan moves both thresholds, but the cycle has had its notifications.
    await ctx.db.updateTable('usage_cycles').set({ message_limit: 20 }).execute()
    const more = await metering.reserve(ctx, 10, 'messaging-campaign')
    await metering.commit(ctx, more, rows(10))
    expect(await readNotices(ctx)).toEqual(['quota-80', 'quota-100'])
  })

  test('each cycle notifies once, however many sends cross the threshold concurrently', async () => {
    await app.setClock('2027-01-10T12:00:00.000Z')
    const { ctx } = await shopWith(10)
    const useUp = async () => {
      await ctx.db.updateTable('usage_cycles').set({ message_limit: 10 }).execute()
      const id = await metering.reserve(ctx, 10, 'messaging-campaign')
      await Promise.all(rows(10).map((row) => ctx.transaction((tx) => metering.commit(tx, id, [row]))))
    }
    await useUp()
    expect(await readNotices(ctx)).toEqual(['quota-80', 'quota-100'])
    await app.setClock('2027-02-10T12:00:00.000Z')
    await metering.release(ctx, await metering.reserve(ctx, 1, 'direct'), 1)
    await useUp()
    expect((await readNotices(ctx)).sort()).toEqual(['quota-100', 'quota-100', 'quota-80', 'quota-80'])
  })
})

describe('the ledger', () => {
  test("is read with an index by the provider's id and by phone", async () => {
    const { ctx } = await shopWith()
    for (let batch = 0; batch < 10; batch += 1) {
      await metering.recordEmails(
        ctx,
        rows(1000).map((row, i) => ({
          ...row,
          phone: `+55119${String(10_000_000 + batch * 1000 + i)}`,
          providerMessageId: `wamid.${batch * 1000 + i}`,
        })),
      )
    }
    await app.database.query('vacuum analyze message_ledger', [])
    const planOf = async (condition: string, values: unknown[]): Promise<string> => {
      const plan = await app.database.query<Record<string, string>>(
        `explain select message_id from message_ledger where store_id = $1 and ${condition}`,
        [ctx.store.id, ...values],
      )
      return plan.map((row) => row['QUERY PLAN']).join('\n')
    }
    expect(await planOf('provider_message_id = any($2::text[])', [['wamid.7', 'wamid.8']])).toContain(
      'message_ledger_provider',
    )
    const newest = 'phone_key = $2 and sent_at > $3 order by sent_at desc limit 1'
    expect(await planOf(newest, ['+551190000007', new Date(0).toISOString()])).toContain(
      'message_ledger_phone',
    )
  })
})

describe('cycles', () => {
  test('a cycle anchored on the 31st ends on the last day of shorter months', async () => {
    await app.setClock('2027-01-31T15:00:00.000Z')
    const { ctx } = await shopWith()
    for (const at of ['2027-02-28T14:59:59.999Z', '2027-02-28T15:00:00.000Z', '2027-03-31T15:00:00.000Z']) {
      await app.setClock(at)
      await metering.reserve(ctx, 1, 'direct')
    }
    const cycles = await readCycles(ctx)
    expect(
      cycles.map((each) => [each.starts_at.toISOString(), each.ends_at.toISOString(), each.reserved]),
    ).toEqual([
      ['2027-01-31T15:00:00.000Z', '2027-02-28T15:00:00.000Z', 1],
      ['2027-02-28T15:00:00.000Z', '2027-03-31T15:00:00.000Z', 1],
      ['2027-03-31T15:00:00.000Z', '2027-04-30T15:00:00.000Z', 1],
    ])
    expect(cycles.map((each) => each.message_limit)).toEqual([1000, 1000, 1000])
  })

  test('a reservation of the previous cycle counts in that cycle', async () => {
    await app.setClock('2027-05-10T12:00:00.000Z')
    const { ctx } = await shopWith(10)
    const id = await metering.reserve(ctx, 10, 'messaging-campaign')
    await metering.commit(ctx, id, rows(4))
    await app.setClock('2027-06-10T12:00:00.000Z')
    expect(await metering.readUsage(ctx)).toEqual({ limit: 1000, used: 0, reserved: 0, remaining: 1000 })
    await metering.commit(ctx, id, rows(4))
    await metering.release(ctx, id, 1)
    const later = await metering.reserve(ctx, 3, 'direct')
    await metering.commit(ctx, later, rows(2))
    expect(await readCycles(ctx)).toMatchObject([
      { used: 8, reserved: 1, message_limit: 10 },
      { used: 2, reserved: 1, message_limit: 1000 },
    ])
    await expect(metering.resize(ctx, id, 4)).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('20 concurrent reservations at the start of a cycle open one cycle', async () => {
    await app.setClock('2027-07-10T12:00:00.000Z')
    const { ctx } = await shopWith()
    await app.setClock('2027-08-10T12:00:00.000Z')
    await Promise.all(Array.from({ length: 20 }, () => metering.reserve(ctx, 1, 'direct')))
    expect(await readCycles(ctx)).toMatchObject([{ reserved: 0 }, { reserved: 20, used: 0 }])
  })

  test('a trial is one cycle of 200 messages over 14 days, and nothing after it', async () => {
    await app.setClock('2027-09-01T08:00:00.000Z')
    const shop = await store(app, { plan: null })
    const ctx = await shop.context()
    await app.setClock('2027-09-15T07:59:59.999Z')
    await metering.reserve(ctx, 200, 'messaging-campaign')
    await expect(metering.reserve(ctx, 1, 'direct')).rejects.toMatchObject({ code: 'forbidden' })
    await app.setClock('2027-09-15T08:00:00.000Z')
    await expect(metering.reserve(ctx, 1, 'direct')).rejects.toMatchObject({ code: 'forbidden' })
    expect(await metering.readUsage(ctx)).toEqual({ limit: 0, used: 0, reserved: 0, remaining: 0 })
    expect(await readCycles(ctx)).toHaveLength(1)
  })

  test('a plan that starts within the trial starts a new count', async () => {
    const shop = await store(app, { plan: null })
    const ctx = await shop.context()
    await metering.reserve(ctx, 200, 'messaging-campaign')
    await app.advance(86_400_000)
    await ctx.db
      .updateTable('subscriptions')
      .set({ plan_id: 'growth', status: 'active', anchor_at: app.clock.now() })
      .execute()
    await metering.reserve(ctx, 201, 'messaging-campaign')
    expect(await metering.readUsage(ctx)).toEqual({ limit: 10_000, used: 0, reserved: 201, remaining: 9_799 })
  })
})

describe('statuses', () => {
  async function sent(status: 'sent' | 'failed' = 'sent') {
    const { ctx } = await shopWith()
    const id = await metering.reserve(ctx, 1, 'direct')
    const message = row({ status })
    await metering.commit(ctx, id, [message])
    const at = (seconds: number) => new Date(message.sentAt.getTime() + seconds * 1000)
    const apply = (changes: [metering.StatusChange['status'], number][], failureCode?: FailedAs) =>
      metering.recordStatus(
        ctx,
        changes.map(([next, seconds]) => ({
          messageId: message.messageId,
          status: next,
          at: at(seconds),
          failureCode: failureCode ?? null,
        })),
      )
    const now = async () => {
      const [found] = await readLedger(ctx)
      const { status: current, delivered_at, read_at, failed_at, failure_code } = found!
      return [current, delivered_at, read_at, failed_at, failure_code]
    }
    return { messageId: message.messageId, at, apply, now }
  }

  test('a status moves forward, one by one', async () => {
    const { at, apply, now } = await sent()
    await apply([['delivered', 1]])
    expect(await now()).toEqual(['delivered', at(1), null, null, null])
    await apply([['read', 2]])
    expect(await now()).toEqual(['read', at(1), at(2), null, null])
  })

  test('a status never moves backward, and a missing instant is filled', async () => {
    const { at, apply, now } = await sent()
    await apply([['read', 2]])
    await apply([['delivered', 1]])
    await apply([['failed', 3]], 'undelivered')
    expect(await now()).toEqual(['read', at(2), at(2), null, null])
  })

  test('a batch may contain several statuses in any order, and duplicates', async () => {
    const { at, apply, now } = await sent()
    await apply([
      ['read', 2],
      ['delivered', 1],
      ['read', 9],
    ])
    expect(await now()).toEqual(['read', at(1), at(2), null, null])
  })

  test('a failure stays until it is delivered after all', async () => {
    const { at, apply, now } = await sent()
    await apply([['failed', 1]], 'undelivered')
    expect(await now()).toEqual(['failed', null, null, at(1), 'undelivered'])
    await apply([['delivered', 2]])
    expect(await now()).toEqual(['delivered', at(2), null, null, null])
    const unknown = await sent('failed')
    await unknown.apply([['read', 5]])
    expect(await unknown.now()).toEqual(['read', unknown.at(5), unknown.at(5), null, null])
  })
})
