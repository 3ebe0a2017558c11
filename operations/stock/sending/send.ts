/** The alerts of one claim: looked at again, rendered, handed over at the number's pace, written down. */

import { unsubscribes } from '#operations/capture/door'
import { optOuts, outbox, sending } from '#operations/messaging/door'
import { mayUse } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { type Live, readLive } from '../facts.ts'
import type { AlertContent } from '../settings/schema.ts'
import { readAlerts } from '../settings/settings.ts'
import { type Alert, after, alerts as lane, leftMeanwhile, type Result } from './lane.ts'
import { judge, latestMs } from './leaving.ts'
import { findWay, type Way } from './means.ts'
import { alertMail, messageContent, valuesOf } from './render.ts'

const firstWaitMs = 15_000
const longestWaitMs = 15 * minuteMs

export interface SendWork {
  claimId: string
  /** How often nothing could be handed over. */
  tries: number
  /** Places on the number that were taken for it already. */
  places?: number | undefined
}
type Left = { work: SendWork; at: Date } | null

/** Sends what is still to be sent of a claim. Answers the work that is left with its time, or null. */
export async function sendClaim(ctx: Context, work: SendWork, signal: AbortSignal): Promise<Left> {
  const run = new Run(ctx, work, await readAlerts(ctx))
  const alerts = await claimedAlerts(ctx, work.claimId)
  if (alerts.length === 0) return null
  if (!(await mayUse(ctx, 'stock-alerts'))) {
    await run.settle(alerts, backUnlessCalled)
    return null
  }
  let live: Live | 'gone' | null
  try {
    live = await readLive(ctx, alerts[0]!.product_id, alerts[0]!.variant_id)
  } catch (error) {
    if (!isSilence(error)) throw error
    return run.waitFor(alerts)
  }
  const open = await run.judged(alerts, live, await sending.isIdempotent(ctx))
  const shown = live === 'gone' ? null : live
  const ofChannel = (channel: Alert['channel']) => open.filter((each) => each.channel === channel)
  await run.sendMails(ofChannel('email'), shown)
  await run.sendMessages(ofChannel('phone'), shown, signal)
  return run.next()
}

const backUnlessCalled = ({ calledAt }: Alert): Result | null =>
  calledAt ? null : { is: 'back', because: null }

const isSilence = (error: unknown): boolean =>
  error instanceof Unavailable || error instanceof Throttled || error instanceof Refused

async function claimedAlerts(ctx: Context, claimId: string): Promise<Alert[]> {
  const rows = await outbox
    .rowsOf(ctx, lane)
    .where('m.claim_id', '=', claimId)
    .where('m.status', '=', 'sending')
    .orderBy('m.created_at')
    .orderBy('m.id')
    .execute()
  return rows as unknown as Alert[]
}

type Letter = outbox.Letter<Alert>

/** One run over a claim, and when the next one is due. */
class Run {
  readonly #ctx: Context
  readonly #work: SendWork
  readonly #settings: AlertContent
  #at: Date | null = null
  #places = 0
  #isTrouble = false

  constructor(ctx: Context, work: SendWork, settings: AlertContent) {
    this.#ctx = ctx
    this.#work = work
    this.#settings = settings
    this.#places = work.places ?? 0
  }

  next(): Left {
    if (this.#at === null) return null
    const tries = this.#isTrouble ? this.#work.tries + 1 : 0
    const places = this.#places > 0 ? { places: this.#places } : {}
    return { work: { claimId: this.#work.claimId, tries, ...places }, at: this.#at }
  }

  /** Writes down what became of some, but for what a status has settled meanwhile; answers the others. */
  async settle(alerts: readonly Alert[], resultOf: (alert: Alert) => Result | null): Promise<Alert[]> {
    const results = new Map<string, Result>()
    for (const alert of alerts) {
      const result = resultOf(alert)
      if (result) results.set(alert.id, result)
    }
    const fateOf = (row: Alert): Alert => after(this.#ctx, row, results.get(row.id)!)
    await outbox.settle(this.#ctx, lane, [...results.keys()], fateOf, this.#work.claimId)
    return alerts.filter(({ id }) => !results.has(id))
  }

  /** The platform is silent: in a day everybody has their place again. */
  async waitFor(alerts: readonly Alert[]): Promise<Left> {
    const waiting = await this.settle(alerts, (each) => (this.#isOver(each) ? backUnlessCalled(each) : null))
    if (waiting.length > 0) this.#trouble()
    return this.next()
  }

  /** Those that leave, or are sent again under their key; of the others, what became of them is written down. */
  async judged(alerts: readonly Alert[], live: Live | 'gone' | null, knowsKeys: boolean): Promise<Alert[]> {
    const standing = {
      now: this.#ctx.now(),
      settings: this.#settings,
      live,
      hasTried: this.#work.tries > 0,
    }
    const held = new Set<string>()
    const open = await this.settle(alerts, (each) => {
      const found = each.calledAt ? this.#doubt(each, each.calledAt, knowsKeys) : judge(each, standing)
      if (!(found instanceof Date)) return found
      held.add(each.id)
      this.#laterAt(found)
      return null
    })
    return open.filter(({ id }) => !held.has(id))
  }

  /**
   * Of what a dead worker may have handed over: null, it is sent again under its key; else when to look at it, until it
   * is lost: another worker may have it in hand, and where no key is known a callback may prove it.
   */
  #doubt(alert: Alert, at: Date, knowsKeys: boolean): Date | Result | null {
    const now = this.#ctx.now()
    const deadAt = later(at, outbox.deadAfterMs)
    if (now < deadAt) return deadAt
    const lost: Result = { is: 'lost', at }
    const isOver = this.#isOver(alert) || alert.code === leftMeanwhile
    if (alert.channel === 'email' || knowsKeys) return isOver ? lost : null
    const lostAt = later(at, outbox.lostAfterMs)
    return now < lostAt ? lostAt : lost
  }

  async sendMails(alerts: readonly Alert[], live: Live | null): Promise<void> {
    const { store } = this.#ctx
    const letters = alerts.map((message) => {
      const unsubscribe = unsubscribes.link(this.#ctx, 'stock', message.id)
      const mail = alertMail(this.#settings, valuesOf(message, live, store), unsubscribe, store.locale)
      return { message, mail: { to: message.email!, ...mail } }
    })
    await this.#hand(letters, null, true)
  }

  /** Phones, as many at a time as the number sends in two seconds of its share. */
  async sendMessages(alerts: readonly Alert[], live: Live | null, signal: AbortSignal): Promise<void> {
    if (alerts.length === 0) return
    const ctx = this.#ctx
    const way = await findWay(ctx, this.#settings)
    if (typeof way === 'string') {
      const called = await this.settle(alerts, backUnlessCalled)
      if (called.length > 0) this.#trouble()
      return
    }
    const { connection, isIdempotent } = way
    const perSecond = await sending.ratePerSecond(ctx, connection)
    let open = await this.#messages(alerts, live, way)
    let isHeld = false
    while (open.length > 0 && !isHeld) {
      if (signal.aborted) {
        this.#laterAt(ctx.now())
        return
      }
      if (this.#places === 0) {
        this.#places = Math.min(outbox.turnSize(perSecond), open.length)
        const turn = await sending.takeTurn(ctx, connection, this.#places, outbox.share, perSecond)
        if (!(await sending.reaches(ctx, turn))) {
          this.#laterAt(turn)
          return
        }
      }
      const batch = open.slice(0, this.#places)
      open = open.slice(batch.length)
      this.#places = 0
      isHeld = await this.#hand(batch, connection, isIdempotent)
    }
    if (open.length > 0) this.#laterAt(this.#at ?? ctx.now())
  }

  /** What phones get; who opted out meanwhile, or has nothing to read, gets nothing. */
  async #messages(alerts: readonly Alert[], live: Live | null, { template }: Way): Promise<Letter[]> {
    const keys = alerts.flatMap((each) => each.contact_key ?? [])
    const optedOut = template?.category === 'utility' ? null : await optOuts.among(this.#ctx, keys)
    const { store } = this.#ctx
    const letters = new Map(
      alerts.map((alert) => {
        const values = valuesOf(alert, live, store)
        const { content, text } = messageContent(this.#settings, template, values, store)
        return [alert.id, { message: { ...alert, text }, phone: alert.phone!, content }]
      }),
    )
    const open = await this.settle(alerts, ({ id, calledAt, contact_key: key }) => {
      if (!calledAt && optedOut?.has(key ?? '')) return { is: 'cancelled', code: 'opted-out' }
      return letters.get(id)!.message.text === '' ? nothingToSay : null
    })
    return open.map(({ id }) => letters.get(id)!)
  }

  /** Hands over and writes down what is known. Answers whether nothing more can be handed over now. */
  async #hand(
    letters: readonly Letter[],
    connection: sending.Connection | null,
    isIdempotent: boolean,
  ): Promise<boolean> {
    const alerts = letters.map(({ message }) => message)
    const ids = alerts.map(({ id }) => id)
    const { claimId } = this.#work
    // Where keys are known again, all at once; else each right before its call, so that few are in doubt.
    const mine = isIdempotent ? await outbox.markCalled(this.#ctx, lane, claimId, ids) : new Set(ids)
    const { told, trouble, error } = await outbox.handOver(this.#ctx, lane, {
      letters: letters.filter(({ message }) => mine.has(message.id)),
      connection,
      claimId,
      isIdempotent,
    })
    const toldOf = new Map(told.map((each) => [each.message.id, each.told]))
    const unknown = await this.settle(alerts, (alert) => resultOf(alert, toldOf.get(alert.id)))
    if (error) throw error
    const now = this.#ctx.now()
    for (const { told: each } of told) {
      if (each.is === 'back' && each.because.reason === 'throttled') {
        this.#laterAt(later(now, each.because.afterMs))
      }
    }
    if (unknown.length > 0) this.#laterAt(later(now, outbox.deadAfterMs))
    // Nobody was tried: in a day everybody has their place again.
    if (trouble?.reason === 'provider-unavailable' && trouble.until) this.#laterAt(trouble.until)
    else if (trouble?.reason === 'provider-unavailable') this.#trouble()
    else if (trouble?.reason === 'throttled') this.#laterAt(later(now, trouble.afterMs))
    else return false
    return true
  }

  #isOver({ claimed_at: at }: Alert): boolean {
    return this.#ctx.clock.ms() - at.getTime() >= latestMs
  }

  /** At that time there is more to do. */
  #laterAt(at: Date): void {
    if (this.#at === null || at < this.#at) this.#at = at
  }

  #trouble(): void {
    this.#isTrouble = true
    const waitMs = Math.min(firstWaitMs * 2 ** Math.min(this.#work.tries, 10), longestWaitMs)
    this.#laterAt(later(this.#ctx.now(), waitMs))
  }
}

const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

const nothingToSay: Result = { is: 'failed', code: 'provider-error', reason: 'Its text is empty' }

/** Of what may have left before, only what is certain counts; null: it stays as it is. */
function resultOf({ calledAt, text }: Alert, told: outbox.Told | undefined): Result | null {
  if (told?.is === 'sent') return { ...told, ...(text === undefined ? {} : { text }) }
  return told && !(told.is === 'back' && calledAt) ? told : null
}
