/** Consistency of everything the merchant can read about a subscription: no two answers disagree. */
import { expect } from 'vitest'
import getCheckoutResult from '#operations/subscription/reads/api/get-checkout-result'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import getTrial from '#operations/subscription/reads/api/get-trial'
import getUsage from '#operations/subscription/reads/api/get-usage'
import listPayments from '#operations/subscription/reads/api/list-payments'
import type { Billed } from './subscriber.ts'

type Json = Record<string, unknown>
const sumUsed = (rows: { used: number }[]): number => rows.reduce((sum, each) => sum + each.used, 0)

/** Reads and compares all answers; returns the subscription. */
// biome-ignore lint/suspicious/noExplicitAny: as answers are read in tests
export async function checkReadings(me: Billed, now: Date): Promise<any> {
  const shown = await me.read(getSubscription)
  const said = JSON.stringify(shown)
  const holds = (what: string, isSo: boolean): void => expect(isSo, `${what}: ${said}`).toBe(true)
  const ahead = (at: string | null): boolean => at !== null && new Date(at) > now
  const { status } = shown
  const goesOn = status === 'active' || status === 'past-due'

  holds(
    'the next charge has an instant and an amount',
    (shown.nextChargeAt === null) === (shown.nextChargeAmount === null),
  )
  holds('nothing is charged by what is over', goesOn || shown.nextChargeAt === null)
  holds('grace is of what is owed', (status === 'past-due') === ahead(shown.graceEndsAt))
  holds('an expired grace period is not shown', status === 'past-due' || shown.graceEndsAt === null)
  holds('a pause has its reason', (shown.pausedAt === null) === (shown.pauseReason === null) || !goesOn)
  if (status === 'paused') holds('paused since', shown.pausedAt !== null && !ahead(shown.pausedAt))
  if (status === 'active') {
    holds('what goes on does not end', shown.endsAt === null && shown.cancelledAt === null)
    holds('a pause to come', shown.pausedAt === null || ahead(shown.pausedAt))
  }
  if (status === 'cancelled') holds('access to the end', ahead(shown.endsAt))
  if (status === 'ended') holds('over since', shown.endsAt !== null && !ahead(shown.endsAt))
  if (status === 'trialing') holds('a trial', ahead(shown.trialEndsAt))
  holds(
    'a change to come',
    shown.scheduledChange === null || (goesOn && ahead(shown.scheduledChange.effectiveAt)),
  )
  holds('a period', shown.currentPeriodStart < shown.currentPeriodEnd && !ahead(shown.currentPeriodStart))
  holds('a coupon with charges left', shown.coupon === null || shown.coupon.remainingCycles !== 0)
  const agreed = [shown.price, shown.billingCycle, shown.currency].map((each) => each === null)
  holds(
    'what was agreed to, or nothing',
    agreed.every((each) => each === (shown.provider === null)),
  )

  const checkout = await me.read(getCheckoutResult)
  const isOpen = checkout.status === 'open'
  expect([isOpen, checkout.checkoutUrl !== null], JSON.stringify(checkout)).toEqual([isOpen, isOpen])
  if (checkout.status !== 'none') {
    expect([checkout.status, isOpen], 'completed').toEqual([checkout.status, checkout.completedAt === null])
    if (isOpen) expect(ahead(checkout.expiresAt), 'an open page can be paid').toBe(true)
  }

  const payments: Json[] = (await me.read(listPayments)).data
  for (const each of payments) {
    const isIn = each.status === 'approved' || each.status === 'refunded'
    expect([each.paidAt !== null, each], 'paid at').toEqual([isIn, each])
    if (each.periodStart !== null)
      expect(String(each.periodStart) < String(each.periodEnd), JSON.stringify(each)).toBe(true)
  }
  const trial = await me.read(getTrial)
  expect(trial.isTrial).toBe(status === 'trialing')
  const failed = payments.find((each) => each.status === 'rejected')
  expect(trial.lastFailedPayment?.failedAt ?? null).toBe(failed?.createdAt ?? null)

  const usage = await me.read(getUsage)
  expect(usage.remaining).toBe(Math.max(0, usage.limit - usage.used - usage.reserved))
  expect([sumUsed(usage.bySource), sumUsed(usage.daily)], JSON.stringify(usage)).toEqual([
    usage.used,
    usage.used,
  ])
  expect(new Date(usage.cycleStart) <= now, JSON.stringify(usage)).toBe(true)
  if (shown.canWrite) {
    expect(ahead(usage.cycleEnd), `${said} ${JSON.stringify(usage)}`).toBe(true)
    expect(usage.limit, said).toBe(shown.messagesPerCycle)
  }
  return shown
}
