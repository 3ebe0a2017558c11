/** Time-based transitions (subscription, rule 1), message cycles, and stores without a provider. */

import { describe, expect, test } from 'vitest'
import { planIdAt, statusAt } from '#operations/store/plans'
import getInformation from '#operations/store/profile/api/get-information'
import getStore from '#operations/store/profile/api/get-store'
import { readEntitlement } from '#operations/store/quota/entitlement'
import * as metering from '#operations/store/quota/metering'
import cancelSubscription from '#operations/subscription/billing/api/cancel-subscription'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import getTrial from '#operations/subscription/reads/api/get-trial'
import getUsage from '#operations/subscription/reads/api/get-usage'
import { advanceTo, type SubscriptionRow } from '#operations/subscription/transitions'
import { dayMs } from '#runtime/durations'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { billed, startAt } from '#test/support/subscriber'

const app = await testApp()
const at = Date.parse('2026-11-20T12:00:00.000Z')

describe('status and plan', () => {
  test('the write gate agrees with the written transitions at every boundary', async () => {
    await startAt(app, new Date(at).toISOString())
    const me = await billed(app)
    const ctx = await me.shop.context()
    const base = await ctx.db.selectFrom('subscriptions').selectAll().executeTakeFirstOrThrow()
    const offsets = [null, -200 * dayMs, -90 * dayMs - 1, -90 * dayMs, -90 * dayMs + 1, -1, 0, 1]
    const seen = new Set<string>()
    for (const status of ['trialing', 'active', 'past-due', 'paused', 'cancelled', 'ended']) {
      for (const offset of offsets) {
        for (const effective of [null, -1, 0, 1]) {
          const instant = offset === null ? null : new Date(at + offset)
          const scheduled = effective !== null && (status === 'active' || status === 'past-due')
          const row: SubscriptionRow = {
            ...base,
            status,
            plan_id: 'scale',
            provider: 'sandbox',
            billing_cycle: 'monthly',
            price: '799.00',
            trial_ends_at: instant,
            grace_ends_at: instant,
            ends_at: instant,
            paused_at: status === 'past-due' ? null : instant,
            scheduled_change: scheduled
              ? {
                  planId: 'starter',
                  billingCycle: 'monthly',
                  price: '99.00',
                  effectiveAt: new Date(at + effective).toISOString(),
                }
              : null,
          }
          const written = advanceTo(row, new Date(at)).row
          expect([status, offset, written.status]).toEqual([status, offset, statusAt(row, at)])
          expect([status, effective, written.plan_id]).toEqual([status, effective, planIdAt(row, at)])
          expect(advanceTo(written, new Date(at)).transitions).toEqual([])
          seen.add(`${written.status} ${written.plan_id}`)
        }
      }
    }
    expect(seen.size).toBeGreaterThanOrEqual(9)
  })

  test('the database and the code agree on a scheduled plan', async () => {
    const me = await billed(app, { plan: 'scale' })
    const scheduled = {
      planId: 'starter',
      billingCycle: 'monthly',
      price: '99.00',
      effectiveAt: new Date(at).toISOString(),
    }
    await app.database.query('update subscriptions set scheduled_change = $2 where store_id = $1', [
      me.shop.id,
      scheduled,
    ])
    for (const [offset, plan] of [
      [-1, 'scale'],
      [0, 'starter'],
    ] as const) {
      await startAt(app, new Date(at + offset).toISOString())
      const store = (await me.shop.call(getStore)).body
      const record = (await me.shop.call(getInformation)).body
      const entitlement = await readEntitlement(await me.shop.context())
      expect([store.plan.id, record.planId, entitlement.planId]).toEqual([plan, plan, plan])
      expect((await me.read(getSubscription)).planId).toBe(plan)
    }
  })
})

describe('a store without a provider', () => {
  test('is active monthly, renews by itself and is charged nothing', async () => {
    await startAt(app, '2027-01-31T15:00:00.000Z')
    const me = await billed(app, { plan: 'starter' })
    expect(await me.read(getSubscription)).toMatchObject({
      status: 'active',
      provider: null,
      price: null,
      currency: null,
      billingCycle: null,
      trialEndsAt: null,
      currentPeriodEnd: '2027-02-28T15:00:00.000Z',
      nextChargeAt: null,
      nextChargeAmount: null,
      paymentMethod: null,
    })
    await app.setClock('2027-03-31T15:00:00.000Z')
    const seen = await me.read(getSubscription)
    expect(seen).toMatchObject({
      status: 'active',
      currentPeriodStart: '2027-03-31T15:00:00.000Z',
      currentPeriodEnd: '2027-04-30T15:00:00.000Z',
    })
    await app.drainJobs()
    expect({ ...(await me.read(getSubscription)), updatedAt: seen.updatedAt }).toEqual(seen)
    expect(await me.payments()).toEqual([])
    expect(await me.read(getTrial)).toMatchObject({
      isTrial: false,
      startedAt: null,
      endsAt: null,
      isExpired: false,
    })
    expect((await me.post(cancelSubscription)).body).toMatchObject({
      status: 'cancelled',
      endsAt: '2027-04-30T15:00:00.000Z',
    })
  })
})

describe('usage', () => {
  const row = (sentAt: Date, change: Partial<metering.LedgerRow> = {}): metering.LedgerRow => ({
    messageId: newId(app.clock.ms()),
    channel: 'messaging',
    source: 'direct',
    sourceId: null,
    phone: '+5511988887777',
    email: null,
    providerMessageId: null,
    status: 'sent',
    sentAt,
    ...change,
  })

  test('is counted by source and local day, without emails and older reservations', async () => {
    await startAt(app, '2026-11-20T12:00:00.000Z')
    const me = await billed(app, { plan: 'starter' })
    const ctx = await me.shop.context()
    const old = await metering.reserve(ctx, 3, 'messaging-campaign')
    await app.setClock('2026-12-20T12:00:00.000Z')
    await app.drainJobs()
    const held = await metering.reserve(ctx, 5, 'direct')
    // 23:30 on the 20th in São Paulo, and half an hour into the 21st.
    const night = new Date('2026-12-21T02:30:00.000Z')
    await app.setClock('2026-12-21T15:00:00.000Z')
    await metering.commit(ctx, held, [row(night), row(new Date('2026-12-21T03:30:00.000Z'))])
    await metering.commit(ctx, old, [row(night, { source: 'messaging-campaign' })])
    await metering.recordEmails(ctx, [
      row(night, { channel: 'email', source: 'newsletter', email: 'a@example.com' }),
    ])
    const usage = await me.read(getUsage)
    expect(usage).toEqual({
      cycleStart: '2026-12-20T12:00:00.000Z',
      cycleEnd: '2027-01-20T12:00:00.000Z',
      limit: 1000,
      used: 2,
      reserved: 3,
      remaining: 995,
      percentUsed: 0.2,
      bySource: [
        'automation',
        'messaging-campaign',
        'newsletter',
        'stock-notification',
        'review-request',
        'exchange',
        'inbox',
        'direct',
      ].map((source) => ({ source, used: source === 'direct' ? 2 : 0 })),
      daily: [
        { date: '2026-12-20', used: 1 },
        { date: '2026-12-21', used: 1 },
      ],
    })
  })

  test('a cycle that is not opened yet is empty', async () => {
    await startAt(app, '2026-11-20T12:00:00.000Z')
    const me = await billed(app, { plan: 'starter' })
    await app.setClock('2026-12-20T12:00:00.000Z')
    expect(await me.read(getUsage)).toMatchObject({
      used: 0,
      cycleStart: '2026-12-20T12:00:00.000Z',
      limit: 1000,
    })
    const cycles = () =>
      app.database.query('select starts_at from usage_cycles where store_id = $1', [me.shop.id])
    expect(await cycles()).toHaveLength(1)
    await app.drainJobs()
    expect(await cycles()).toHaveLength(2)
  })
})
