/**
 * Sends the alerts of one claim: checks again whether each may be sent, renders and dispatches them, and records the
 * results.
 */

import { unsubscribes } from '#operations/capture/index'
import { optOuts, outbox, sending } from '#operations/messaging/index'
import { mayUse } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { type LiveVariant, readLiveVariant } from '../facts.ts'
import type { AlertContent } from '../settings/schema.ts'
import { readAlerts } from '../settings/settings.ts'
import {
  type Alert,
  type AlertResult,
  alerts as alertSource,
  applyResult,
  unsubscribedMeanwhile,
} from './outbox-source.ts'
import { buildValues, renderMail, renderMessage } from './render.ts'
import { findSendContext, type SendContext } from './send-context.ts'
import { checkAlert, maxClaimAgeMs } from './send-decision.ts'

const firstBackoffMs = 15_000
const maxBackoffMs = 15 * minuteMs

export interface SendWork {
  claimId: string
  /** Number of consecutive tries that could not send anything. */
  tries: number
  /** Number of rate slots that are already reserved for this work. */
  places?: number | undefined
}
type NextWork = { work: SendWork; at: Date } | null

/** Sends the remaining alerts of a claim. Returns the work to queue next and its time, or null if the claim is done. */
export async function sendClaim(ctx: Context, work: SendWork, signal: AbortSignal): Promise<NextWork> {
  const run = new Run(ctx, work, await readAlerts(ctx))
  const alerts = await readClaimedAlerts(ctx, work.claimId)
  if (alerts.length === 0) return null
  if (!(await mayUse(ctx, 'stock-alerts'))) {
    await run.recordResults(alerts, requeueUnlessCalled)
    return null
  }
  let live: LiveVariant | 'gone' | null
  try {
    live = await readLiveVariant(ctx, alerts[0]!.product_id, alerts[0]!.variant_id)
  } catch (error) {
    if (!isPlatformUnavailable(error)) throw error
    return run.waitForPlatform(alerts)
  }
  const open = await run.selectSendable(alerts, live, await sending.isIdempotent(ctx))
  const shown = live === 'gone' ? null : live
  const ofChannel = (channel: Alert['channel']) => open.filter((each) => each.channel === channel)
  await run.sendMails(ofChannel('email'), shown)
  await run.sendMessages(ofChannel('phone'), shown, signal)
  return run.next()
}

const requeueUnlessCalled = ({ calledAt }: Alert): AlertResult | null =>
  calledAt ? null : { kind: 'requeued', because: null }

const isPlatformUnavailable = (error: unknown): boolean =>
  error instanceof Unavailable || error instanceof Throttled || error instanceof Refused

async function readClaimedAlerts(ctx: Context, claimId: string): Promise<Alert[]> {
  const rows = await outbox
    .selectMessages(ctx, alertSource)
    .where('m.claim_id', '=', claimId)
    .where('m.status', '=', 'sending')
    .orderBy('m.created_at')
    .orderBy('m.id')
    .execute()
  return rows as unknown as Alert[]
}

type OutgoingAlert = outbox.OutgoingMessage<Alert>

/** One run over the alerts of a claim. It also computes when the next run is due. */
class Run {
  readonly #ctx: Context
  readonly #work: SendWork
  readonly #settings: AlertContent
  #at: Date | null = null
  #places = 0
  #isBackingOff = false

  constructor(ctx: Context, work: SendWork, settings: AlertContent) {
    this.#ctx = ctx
    this.#work = work
    this.#settings = settings
    this.#places = work.places ?? 0
  }

  next(): NextWork {
    if (this.#at === null) return null
    const tries = this.#isBackingOff ? this.#work.tries + 1 : 0
    const places = this.#places > 0 ? { places: this.#places } : {}
    return { work: { claimId: this.#work.claimId, tries, ...places }, at: this.#at }
  }

  /**
   * Records the results that `resultOf` returns, except for alerts that a status event has ended. Returns the alerts
   * without a result.
   */
  async recordResults(
    alerts: readonly Alert[],
    resultOf: (alert: Alert) => AlertResult | null,
  ): Promise<Alert[]> {
    const results = new Map<string, AlertResult>()
    for (const alert of alerts) {
      const result = resultOf(alert)
      if (result) results.set(alert.id, result)
    }
    const applyTo = (row: Alert): Alert => applyResult(this.#ctx, row, results.get(row.id)!)
    await outbox.recordOutcomes(this.#ctx, alertSource, [...results.keys()], applyTo, this.#work.claimId)
    return alerts.filter(({ id }) => !results.has(id))
  }

  /**
   * Schedules a retry, because the platform does not respond. Subscriptions claimed more than a day ago wait again
   * instead.
   */
  async waitForPlatform(alerts: readonly Alert[]): Promise<NextWork> {
    const waiting = await this.recordResults(alerts, (each) =>
      this.#isOver(each) ? requeueUnlessCalled(each) : null,
    )
    if (waiting.length > 0) this.#backOff()
    return this.next()
  }

  /** Returns the alerts to send, or to resend under their idempotency key. Records the results of the others. */
  async selectSendable(
    alerts: readonly Alert[],
    live: LiveVariant | 'gone' | null,
    isIdempotent: boolean,
  ): Promise<Alert[]> {
    const facts = {
      now: this.#ctx.now(),
      settings: this.#settings,
      live,
      hasTried: this.#work.tries > 0,
    }
    const waiting = new Set<string>()
    const open = await this.recordResults(alerts, (each) => {
      const found = each.calledAt
        ? this.#resolveCalled(each, each.calledAt, isIdempotent)
        : checkAlert(each, facts)
      if (!(found instanceof Date)) return found
      waiting.add(each.id)
      this.#scheduleAt(found)
      return null
    })
    return open.filter(({ id }) => !waiting.has(id))
  }

  /**
   * Resolves an alert for which an earlier run has recorded a call. Returns:
   * - null to resend it under its idempotency key;
   * - a date to check again then: another worker may still be sending it, or, without idempotency keys, a status event may
   *   still show whether it was accepted;
   * - otherwise the result: indeterminate.
   */
  #resolveCalled(alert: Alert, at: Date, isIdempotent: boolean): Date | AlertResult | null {
    const now = this.#ctx.now()
    const deadAt = addMs(at, outbox.deadAfterMs)
    if (now < deadAt) return deadAt
    const indeterminate: AlertResult = { kind: 'indeterminate', at }
    const isOver = this.#isOver(alert) || alert.code === unsubscribedMeanwhile
    if (alert.channel === 'email' || isIdempotent) return isOver ? indeterminate : null
    const indeterminateAt = addMs(at, outbox.indeterminateAfterMs)
    return now < indeterminateAt ? indeterminateAt : indeterminate
  }

  async sendMails(alerts: readonly Alert[], live: LiveVariant | null): Promise<void> {
    const { store } = this.#ctx
    const messages = alerts.map((message) => {
      const unsubscribe = unsubscribes.buildLink(this.#ctx, 'stock', message.id)
      const mail = renderMail(this.#settings, buildValues(message, live, store), unsubscribe, store.locale)
      return { message, mail: { to: message.email!, ...mail } }
    })
    await this.#dispatch(messages, null, true)
  }

  /** Sends alerts to phones, in batches of what the number can send in two seconds at this sender's share of its rate. */
  async sendMessages(alerts: readonly Alert[], live: LiveVariant | null, signal: AbortSignal): Promise<void> {
    if (alerts.length === 0) return
    const ctx = this.#ctx
    const sendContext = await findSendContext(ctx, this.#settings)
    if (typeof sendContext === 'string') {
      const called = await this.recordResults(alerts, requeueUnlessCalled)
      if (called.length > 0) this.#backOff()
      return
    }
    const { connection, isIdempotent } = sendContext
    const perSecond = await sending.readRatePerSecond(ctx, connection)
    let open = await this.#buildMessages(alerts, live, sendContext)
    let isStopped = false
    while (open.length > 0 && !isStopped) {
      if (signal.aborted) {
        this.#scheduleAt(ctx.now())
        return
      }
      if (this.#places === 0) {
        this.#places = Math.min(outbox.getBatchSize(perSecond), open.length)
        const slotAt = await sending.reserveRateSlots(
          ctx,
          connection,
          this.#places,
          outbox.defaultRateShare,
          perSecond,
        )
        if (!(await sending.waitForSlot(ctx, slotAt))) {
          this.#scheduleAt(slotAt)
          return
        }
      }
      const batch = open.slice(0, this.#places)
      open = open.slice(batch.length)
      this.#places = 0
      isStopped = await this.#dispatch(batch, connection, isIdempotent)
    }
    if (open.length > 0) this.#scheduleAt(this.#at ?? ctx.now())
  }

  /**
   * Renders the messages. Leaves out phones that have opted out meanwhile and messages with an empty text, and records
   * their results.
   */
  async #buildMessages(
    alerts: readonly Alert[],
    live: LiveVariant | null,
    { template }: SendContext,
  ): Promise<OutgoingAlert[]> {
    const keys = alerts.flatMap((each) => each.contact_key ?? [])
    const optedOut = template?.category === 'utility' ? null : await optOuts.findOptedOut(this.#ctx, keys)
    const { store } = this.#ctx
    const messages = new Map(
      alerts.map((alert) => {
        const values = buildValues(alert, live, store)
        const { content, text } = renderMessage(this.#settings, template, values, store)
        return [alert.id, { message: { ...alert, text }, phone: alert.phone!, content }]
      }),
    )
    const open = await this.recordResults(alerts, ({ id, calledAt, contact_key: key }) => {
      if (!calledAt && optedOut?.has(key ?? '')) return { kind: 'cancelled', code: 'opted-out' }
      return messages.get(id)!.message.text === '' ? emptyText : null
    })
    return open.map(({ id }) => messages.get(id)!)
  }

  /** Dispatches a batch and records its results. Returns true if no further batch may be dispatched now. */
  async #dispatch(
    messages: readonly OutgoingAlert[],
    connection: sending.Connection | null,
    isIdempotent: boolean,
  ): Promise<boolean> {
    const alerts = messages.map(({ message }) => message)
    const ids = alerts.map(({ id }) => id)
    const { claimId } = this.#work
    // With idempotency keys all calls are recorded in advance, because a crashed batch can be resent. Without them,
    // `outbox.dispatch` records each call right before it is made, so that few alerts become indeterminate after a crash.
    const called = isIdempotent ? await outbox.markCalled(this.#ctx, alertSource, claimId, ids) : new Set(ids)
    const { results, stoppedBy, error } = await outbox.dispatch(this.#ctx, alertSource, {
      messages: messages.filter(({ message }) => called.has(message.id)),
      connection,
      claimId,
      isIdempotent,
    })
    const outcomes = new Map(results.map((each) => [each.message.id, each.outcome]))
    const unknown = await this.recordResults(alerts, (alert) => toResult(alert, outcomes.get(alert.id)))
    if (error) throw error
    const now = this.#ctx.now()
    for (const { outcome: each } of results) {
      if (each.kind === 'requeued' && each.because.reason === 'throttled') {
        this.#scheduleAt(addMs(now, each.because.afterMs))
      }
    }
    if (unknown.length > 0) this.#scheduleAt(addMs(now, outbox.deadAfterMs))
    // Retry while nothing can be dispatched. After a day the subscriptions wait again.
    if (stoppedBy?.reason === 'provider-unavailable' && stoppedBy.until) this.#scheduleAt(stoppedBy.until)
    else if (stoppedBy?.reason === 'provider-unavailable') this.#backOff()
    else if (stoppedBy?.reason === 'throttled') this.#scheduleAt(addMs(now, stoppedBy.afterMs))
    else return false
    return true
  }

  #isOver({ claimed_at: at }: Alert): boolean {
    return this.#ctx.clock.ms() - at.getTime() >= maxClaimAgeMs
  }

  /** Schedules the next run for `at`, unless it is already due earlier. */
  #scheduleAt(at: Date): void {
    if (this.#at === null || at < this.#at) this.#at = at
  }

  #backOff(): void {
    this.#isBackingOff = true
    const waitMs = Math.min(firstBackoffMs * 2 ** Math.min(this.#work.tries, 10), maxBackoffMs)
    this.#scheduleAt(addMs(this.#ctx.now(), waitMs))
  }
}

const addMs = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

const emptyText: AlertResult = { kind: 'failed', code: 'provider-error', reason: 'Its text is empty' }

/**
 * The result to record; null to leave the alert unchanged. An alert that was called before may have been sent then, so
 * it is never requeued.
 */
function toResult({ calledAt, text }: Alert, outcome: outbox.DispatchResult | undefined): AlertResult | null {
  if (outcome?.kind === 'sent') return { ...outcome, ...(text === undefined ? {} : { text }) }
  return outcome && !(outcome.kind === 'requeued' && calledAt) ? outcome : null
}
