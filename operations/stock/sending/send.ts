/** The alerts of one claim: looked at again, rendered, handed over at the number's pace, written down. */

import { unsubscribes } from '#operations/capture/door'
import { optOuts, sending } from '#operations/messaging/door'
import { isAmong } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { type Live, readLive } from '../facts.ts'
import type { AlertContent } from '../settings/schema.ts'
import { readAlerts } from '../settings/settings.ts'
import { type ClaimedAlert, deliverMail, deliverMessage, inParallel, type Result } from './deliver.ts'
import { judge, latestMs } from './leaving.ts'
import { findWay, mayLeave, type Way } from './means.ts'
import { recordResults } from './record.ts'
import { alertMail, valuesOf } from './render.ts'

/** A call that is older was a dead worker's. */
export const deadAfterMs = 2 * 60_000
/** Without a word of it for so long, nobody will know whether a message left. */
const lostAfterMs = 10 * 60_000
/** Of the number's rate: campaigns have the rest. */
const share = 0.2
const turnSeconds = 2
const firstWaitMs = 15_000
const longestWaitMs = 15 * 60_000

export interface SendWork {
  claimId: string
  /** How often nothing could be handed over. */
  tries: number
  /** Places on the number that were taken for it already. */
  places?: number | undefined
}

/** Sends what is still to be sent of a claim. Answers the work that is left with its time, or null. */
export async function sendClaim(
  ctx: Context,
  work: SendWork,
  signal: AbortSignal,
): Promise<{ work: SendWork; at: Date } | null> {
  const run = new Run(ctx, work, await readAlerts(ctx))
  const alerts = await claimedAlerts(ctx, work.claimId)
  if (alerts.length === 0) return null
  if (!(await mayLeave(ctx))) {
    await recordResults(
      ctx,
      work.claimId,
      alerts.filter((each) => each.called_at === null).map((alert) => ({ alert, is: 'back' })),
    )
    return null
  }
  let live: Live | 'gone' | null
  try {
    live = await readLive(ctx, alerts[0]!.product_id, alerts[0]!.variant_id)
  } catch (error) {
    if (!isSilence(error)) throw error
    return run.waitFor(alerts)
  }
  const open = await run.judged(await settleOld(ctx, work.claimId, alerts, run), live)
  const shown = live === 'gone' ? null : live
  await run.sendMails(
    open.filter((each) => each.channel === 'email'),
    shown,
  )
  await run.sendMessages(
    open.filter((each) => each.channel === 'phone'),
    shown,
    signal,
  )
  return run.next()
}

const isSilence = (error: unknown): boolean =>
  error instanceof Unavailable || error instanceof Throttled || error instanceof Refused

const claimedAlerts = (ctx: Context, claimId: string): Promise<ClaimedAlert[]> =>
  ctx.db
    .selectFrom('stock_subscriptions')
    .select([
      'id',
      'product_id',
      'variant_id',
      'product_name',
      'variant_name',
      'product_url',
      'channel',
      'email',
      'phone',
      'contact_key',
      'name',
      'click_token',
      'attempt',
      'claimed_at',
      'called_at',
      'is_wanted',
      'reservation_id',
    ])
    .where('claim_id', '=', claimId)
    .where('status', '=', 'sending')
    .orderBy('created_at')
    .orderBy('id')
    .execute() as Promise<ClaimedAlert[]>

/**
 * What a dead worker may have handed over: it is sent again under its key, but for a message whose provider knows no
 * keys; that one is given up after ten minutes without a word. What another worker has in hand is left to it.
 */
async function settleOld(
  ctx: Context,
  claimId: string,
  alerts: readonly ClaimedAlert[],
  run: Run,
): Promise<ClaimedAlert[]> {
  const now = ctx.clock.ms()
  const knowsKeys = await sending.isIdempotent(ctx)
  const lost: Result[] = []
  const open = alerts.filter((alert) => {
    if (alert.called_at === null) return true
    const at = alert.called_at
    if (now - at.getTime() < deadAfterMs) {
      run.laterAt(new Date(at.getTime() + deadAfterMs))
      return false
    }
    if (now - alert.claimed_at.getTime() >= latestMs) {
      lost.push({ alert, is: 'lost', at })
      return false
    }
    if (alert.channel === 'email' || knowsKeys) return true
    if (now - at.getTime() >= lostAfterMs) lost.push({ alert, is: 'lost', at })
    else run.laterAt(new Date(at.getTime() + lostAfterMs))
    return false
  })
  await recordResults(ctx, claimId, lost)
  return open
}

/** One run over a claim, and when the next one is due. */
class Run {
  readonly #ctx: Context
  readonly #work: SendWork
  readonly #settings: AlertContent
  #at: Date | null = null
  #places = 0
  #isTrouble = false
  /** Nothing more is handed over in this run. */
  #isHeld = false

  constructor(ctx: Context, work: SendWork, settings: AlertContent) {
    this.#ctx = ctx
    this.#work = work
    this.#settings = settings
    this.#places = work.places ?? 0
  }

  /** At that time there is more to do. */
  laterAt(at: Date): void {
    if (this.#at === null || at < this.#at) this.#at = at
  }

  /** The platform is silent: in a day everybody has their place again. */
  async waitFor(alerts: readonly ClaimedAlert[]): Promise<{ work: SendWork; at: Date } | null> {
    const now = this.#ctx.clock.ms()
    const given = alerts.filter(
      (each) => each.called_at === null && now - each.claimed_at.getTime() >= latestMs,
    )
    await recordResults(
      this.#ctx,
      this.#work.claimId,
      given.map((alert) => ({ alert, is: 'back' })),
    )
    if (given.length < alerts.length) this.#trouble()
    return this.next()
  }

  /** Those that leave, or may have left already; of the others, what became of them is written down. */
  async judged(alerts: readonly ClaimedAlert[], live: Live | 'gone' | null): Promise<ClaimedAlert[]> {
    const standing = {
      now: this.#ctx.now(),
      settings: this.#settings,
      live,
      hasTried: this.#work.tries > 0,
    }
    const stays = alerts.flatMap((each) => (each.called_at === null ? (judge(each, standing) ?? []) : []))
    await recordResults(this.#ctx, this.#work.claimId, stays)
    const stay = new Set(stays.map(({ alert }) => alert))
    return alerts.filter((each) => !stay.has(each))
  }

  next(): { work: SendWork; at: Date } | null {
    if (this.#at === null) return null
    const tries = this.#isTrouble ? this.#work.tries + 1 : 0
    const places = this.#places > 0 ? { places: this.#places } : {}
    return { work: { claimId: this.#work.claimId, tries, ...places }, at: this.#at }
  }

  #trouble(): void {
    this.#isTrouble = true
    const waitMs = Math.min(firstWaitMs * 2 ** Math.min(this.#work.tries, 10), longestWaitMs)
    this.laterAt(new Date(this.#ctx.clock.ms() + waitMs))
  }

  async sendMails(alerts: readonly ClaimedAlert[], live: Live | null): Promise<void> {
    const mine = await markCalled(this.#ctx, this.#work.claimId, alerts)
    const results: Result[] = []
    try {
      await inParallel(mine, async (alert) => {
        const values = valuesOf(alert, live, this.#ctx.store)
        const mail = alertMail(this.#settings, values, unsubscribes.link(this.#ctx, 'stock', alert.id))
        this.#note(results, alert, await deliverMail(this.#ctx, alert, mail))
      })
    } finally {
      await recordResults(this.#ctx, this.#work.claimId, results)
    }
  }

  /** Phones, as many at a time as the number sends in two seconds of its share. */
  async sendMessages(alerts: readonly ClaimedAlert[], live: Live | null, signal: AbortSignal): Promise<void> {
    if (alerts.length === 0) return
    const way = await findWay(this.#ctx, this.#settings)
    if (typeof way === 'string') {
      const never = alerts.filter((each) => each.called_at === null)
      await recordResults(
        this.#ctx,
        this.#work.claimId,
        never.map((alert) => ({ alert, is: 'back' })),
      )
      if (never.length < alerts.length) this.#trouble()
      return
    }
    const perSecond = await sending.ratePerSecond(this.#ctx, way.connection)
    const turnSize = Math.max(1, Math.floor(perSecond * share * turnSeconds))
    let open = await this.#withoutOptedOut(alerts, way)
    // A mail server that is down holds up no phone.
    this.#isHeld = false
    while (open.length > 0 && !this.#isHeld) {
      if (signal.aborted) {
        this.laterAt(this.#ctx.now())
        return
      }
      if (this.#places === 0) {
        this.#places = Math.min(turnSize, open.length)
        const turn = await sending.takeTurn(this.#ctx, way.connection, this.#places, share, perSecond)
        if (!(await sending.reaches(this.#ctx, turn))) {
          this.laterAt(turn)
          return
        }
      }
      const batch = open.slice(0, this.#places)
      open = open.slice(batch.length)
      this.#places = 0
      await this.#sendBatch(batch, live, way)
    }
    if (open.length > 0) this.laterAt(this.#at ?? this.#ctx.now())
  }

  async #withoutOptedOut(alerts: readonly ClaimedAlert[], way: Way): Promise<ClaimedAlert[]> {
    if (way.template?.category === 'utility') return [...alerts]
    const keys = await optOuts.among(
      this.#ctx,
      alerts.flatMap((each) => each.contact_key ?? []),
    )
    const isOut = (each: ClaimedAlert) => each.called_at === null && keys.has(each.contact_key ?? '')
    await recordResults(
      this.#ctx,
      this.#work.claimId,
      alerts.filter(isOut).map((alert) => ({ alert, is: 'cancelled', reason: 'opted-out' })),
    )
    return alerts.filter((each) => !isOut(each))
  }

  async #sendBatch(batch: readonly ClaimedAlert[], live: Live | null, way: Way): Promise<void> {
    const ctx = this.#ctx
    const phones = way.template ? batch.map((each) => each.phone!) : []
    const recipients = await sending.takeRecipients(ctx, way.connection, phones)
    const allowed = batch.filter((each) => recipients.has(each.phone!))
    const results: Result[] = []
    for (const alert of batch) {
      if (!recipients.has(alert.phone!)) this.#note(results, alert, { alert, is: 'back' })
    }
    // Where keys are known again, all at once; else each right before its call, so that few are in doubt.
    const mine = way.isIdempotent ? await markCalled(ctx, this.#work.claimId, allowed) : allowed
    const unknown = new Set<string>()
    try {
      await inParallel(mine, async (alert) => {
        if (!way.isIdempotent && (await markCalled(ctx, this.#work.claimId, [alert])).length === 0) return
        const values = valuesOf(alert, live, ctx.store)
        const result = await deliverMessage(ctx, alert, { way, settings: this.#settings, values })
        if (result === null) unknown.add(alert.phone!)
        else if (result.is === 'later' && result.at) await sending.throttled(ctx, way.connection, result.at)
        this.#note(results, alert, result)
      })
    } finally {
      const unsent = results.filter(({ is }) => is !== 'sent').map(({ alert }) => alert.phone!)
      await recipients.giveBack(unsent.filter((phone) => recipients.has(phone) && !unknown.has(phone)))
      await recordResults(ctx, this.#work.claimId, results)
    }
  }

  /** Of what may have left already, only what is certain counts. */
  #note(results: Result[], alert: ClaimedAlert, result: Result | null): void {
    const mayHaveLeft = alert.called_at !== null
    if (result === null || (mayHaveLeft && (result.is === 'back' || result.is === 'later'))) {
      this.laterAt(new Date(this.#ctx.clock.ms() + deadAfterMs))
      return
    }
    if (result.is === 'later') {
      const isOver = this.#ctx.clock.ms() - alert.claimed_at.getTime() >= latestMs
      if (isOver) {
        results.push({ alert, is: 'failed', reason: 'provider-error' })
        return
      }
      this.#isHeld = true
      if (result.at) this.laterAt(result.at)
      else this.#trouble()
    }
    results.push(result)
  }
}

/** Written before the call. Answers those that are ours: never called, or by somebody who is dead. */
async function markCalled(
  ctx: Context,
  claimId: string,
  alerts: readonly ClaimedAlert[],
): Promise<ClaimedAlert[]> {
  if (alerts.length === 0) return []
  const now = ctx.now()
  const ids = alerts.map((each) => each.id)
  const marked = await ctx.db
    .updateTable('stock_subscriptions')
    .set({ called_at: now })
    .where(isAmong('id', ids, 'uuid'))
    .where('claim_id', '=', claimId)
    .where('status', '=', 'sending')
    .where((eb) =>
      eb.or([eb('called_at', 'is', null), eb('called_at', '<=', new Date(now.getTime() - deadAfterMs))]),
    )
    .returning('id')
    .execute()
  const ours = new Set(marked.map((row) => row.id))
  return alerts.filter((each) => ours.has(each.id))
}
