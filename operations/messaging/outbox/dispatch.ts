/**
 * Dispatches messages to the provider: one call per message, several in parallel. One recipient's error does not stop
 * the others.
 */

import { files, health } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { pause } from '#runtime/pause'
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { type Mail, toMailRefusal } from '#runtime/ports/mail/port'
import { isConnectionFailure } from '#runtime/ports/retry-delay'
import { countRecipients } from '../numbers/limit.ts'
import { type Connection, type Content, deliver, pauseNumber, type SendOutcome } from '../sending/deliver.ts'
import { buildKey, type MessageState, type OutboxSource, type RequeueReason } from './outbox-source.ts'
import { markCalled } from './rows.ts'
import type { Outcome } from './transitions.ts'

/** A message of the number, or an email, to one recipient. */
export type Outgoing =
  | { phone: string; content: Content; via?: 'official'; replyTo?: string }
  | { mail: Omit<Mail, 'idempotencyKey'> }

/** An outgoing message of a batch, with its row. */
export type OutgoingMessage<M> = Outgoing & { message: M }

/** A known outcome of a call. */
export type DispatchResult =
  | Extract<Outcome, { kind: 'sent' | 'failed' }>
  | { kind: 'requeued'; because: RequeueReason }

/** `unknown`: the message stays claimed until a retry under the same key, or a status event, resolves it. */
type CallResult = DispatchResult | { kind: 'unknown' }

/** Makes one call. Every mail provider supports idempotency keys. */
export async function call(
  ctx: Context,
  outgoing: Outgoing,
  key: string,
  isCounted = false,
): Promise<CallResult> {
  // The time is read before the call, so that a reply is never older than the message it replies to.
  const at = ctx.now()
  if ('mail' in outgoing) return callMail(ctx, outgoing.mail, key, at)
  const { phone, content, via, replyTo } = outgoing
  const message = { phone, content, isCounted, ...(via ? { via } : {}), ...(replyTo ? { replyTo } : {}) }
  return toCallResult(await deliver(ctx, message, key), at)
}

async function callMail(
  ctx: Context,
  mail: Omit<Mail, 'idempotencyKey'>,
  idempotencyKey: string,
  at: Date,
): Promise<CallResult> {
  try {
    const { messageId } = await files.sendMail(ctx, { ...mail, idempotencyKey })
    return { kind: 'sent', at, providerMessageId: messageId }
  } catch (error) {
    if (error instanceof Refused) return { kind: 'failed', code: toMailRefusal(error), reason: error.message }
    if (error instanceof Throttled) {
      return { kind: 'requeued', because: { reason: 'throttled', afterMs: error.retryAfterMs } }
    }
    if (!(error instanceof Unavailable)) throw error
    if (error instanceof AccessLost) return { kind: 'requeued', because: await toMailOutage(ctx) }
    return error.accepted === 'no'
      ? {
          kind: 'requeued',
          because: {
            reason: 'provider-unavailable',
            ...(isConnectionFailure(error) ? { isDown: true as const } : {}),
          },
        }
      : { kind: 'unknown' }
  }
}

/**
 * The mail provider rejects this server's access, which only the operator can fix: no email is sent until the health
 * check asks the provider again.
 */
async function toMailOutage(ctx: Context): Promise<RequeueReason> {
  const until = (await health.mailBlockedUntil(ctx)) ?? new Date(ctx.clock.ms() + minuteMs)
  return { reason: 'provider-unavailable', isDown: true, until }
}

const concernsRecipientOnly = (reason: RequeueReason): boolean =>
  reason.reason === 'throttled' && reason.isOfRecipient === true

const maxRecipientWaitMs = 10_000

/**
 * If the provider throttles this recipient alone, tries once more after a pause while the rest of the batch continues.
 */
async function callWithRetry(ctx: Context, outgoing: Outgoing, key: string): Promise<CallResult> {
  const result = await call(ctx, outgoing, key, true)
  if (result.kind !== 'requeued' || result.because.reason !== 'throttled' || !result.because.isOfRecipient)
    return result
  const { afterMs } = result.because
  const hasWaited = afterMs <= maxRecipientWaitMs && (await pause(afterMs, ctx.services.abortSignal))
  return hasWaited ? call(ctx, outgoing, key, true) : result
}

function toCallResult(outcome: SendOutcome, at: Date): CallResult {
  switch (outcome.outcome) {
    case 'accepted':
      return { kind: 'sent', at, providerMessageId: outcome.providerMessageId }
    case 'refused':
      return { kind: 'failed', code: outcome.code, reason: outcome.message }
    case 'disconnected':
      return { kind: 'requeued', because: { reason: 'disconnected' } }
    case 'retry': {
      if (outcome.reason === 'throttled') {
        const { outcome: _is, ...because } = outcome
        return { kind: 'requeued', because }
      }
      const { reason, isDown } = outcome
      return {
        kind: 'requeued',
        because: reason === 'number-limit' ? { reason } : { reason, ...(isDown ? { isDown } : {}) },
      }
    }
    case 'unknown':
      return { kind: 'unknown' }
  }
}

/** Number of parallel calls: one by one, a slow provider would slow the batch down. PGlite serializes their queries. */
const concurrency = 16

const unavailable: RequeueReason = { reason: 'provider-unavailable' }

export interface DispatchReport<M> {
  /** Without messages that were not sent because the claim was lost, and those whose outcome is unknown. */
  results: { message: M; outcome: DispatchResult }[]
  /** Why the batch stopped early. */
  stoppedBy: RequeueReason | null
  /** An internal error, to be thrown after the known results are recorded. */
  error: unknown
}

export interface Batch<M> {
  messages: readonly OutgoingMessage<M>[]
  /** The number that the messages are sent from. */
  connection: Connection | null
  claimId: string
  /** Whether the provider deduplicates by key; if not, each call is recorded before it is made. */
  isIdempotent: boolean
  /** The messages may have been sent before: only final outcomes are reported. */
  isRetry?: boolean
}

/**
 * Dispatches a batch, outside any transaction. First counts its recipients against the number's limit; recipients whose
 * message was not sent are uncounted at the end. If the connection fails, the batch stops and the remaining messages are
 * requeued for the same reason.
 */
export async function dispatch<M extends Pick<MessageState, 'id' | 'attempt'>, Row extends MessageState>(
  ctx: Context,
  source: OutboxSource<Row>,
  batch: Batch<M>,
): Promise<DispatchReport<M>> {
  const { messages, connection, claimId, isIdempotent, isRetry } = batch
  const report: DispatchReport<M> = { results: [], stoppedBy: null, error: null }
  const getPhone = (outgoing: OutgoingMessage<M>): string | null =>
    'phone' in outgoing ? outgoing.phone : null
  const templates = messages.flatMap((each) =>
    'phone' in each && each.content.kind === 'template' ? each.phone : [],
  )
  const recipients = connection ? await countRecipients(ctx, connection, templates) : null
  const isWithinLimit = (outgoing: OutgoingMessage<M>): boolean =>
    recipients?.has(getPhone(outgoing) ?? '') ?? true
  const unsent: string[] = []
  let isOver = false
  let limited: RequeueReason | null = null
  const note = (outgoing: OutgoingMessage<M>, result: CallResult): void => {
    const phone = getPhone(outgoing)
    if (phone !== null && (result.kind === 'failed' || result.kind === 'requeued')) unsent.push(phone)
    const reason =
      result.kind === 'requeued' ? result.because : result.kind === 'unknown' ? unavailable : null
    if (reason && concernsRecipientOnly(reason)) limited = reason
    else if (reason) {
      report.stoppedBy ??= reason
      // A mail server may defer a single address: the others are still tried.
      isOver ||= phone !== null || reason.reason === 'throttled' || isOutage(reason)
    }
    if (result.kind === 'unknown' || (isRetry && result.kind === 'requeued')) return
    report.results.push({ message: outgoing.message, outcome: result })
  }
  const isOutage = (reason: RequeueReason): boolean => 'until' in reason
  const allowed = messages.filter(isWithinLimit)
  const isOurs = async ({ message: { id } }: OutgoingMessage<M>): Promise<boolean> =>
    isIdempotent || (await markCalled(ctx, source, claimId, [id])).has(id)
  let next = 0
  if (allowed.some((outgoing) => 'mail' in outgoing) && (await health.mailBlockedUntil(ctx))) {
    report.stoppedBy = await toMailOutage(ctx)
    isOver = true
  }
  const work = async (): Promise<void> => {
    while (next < allowed.length && !isOver && !report.error) {
      const outgoing = allowed[next]!
      next += 1
      try {
        if (await isOurs(outgoing))
          note(outgoing, await callWithRetry(ctx, outgoing, buildKey(source, outgoing.message)))
      } catch (error) {
        report.error ??= error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, allowed.length) }, work))
  const because = report.stoppedBy ?? unavailable
  for (const outgoing of allowed.slice(next)) note(outgoing, { kind: 'requeued', because })
  for (const outgoing of messages)
    if (!isWithinLimit(outgoing)) note(outgoing, { kind: 'requeued', because: { reason: 'number-limit' } })
  const isNumberHeld = report.stoppedBy?.reason === 'throttled'
  // Only recipients were throttled: the caller continues later, and the number is not paused for other batches.
  if (report.results.every(({ outcome }) => outcome.kind === 'requeued')) report.stoppedBy ??= limited
  if (connection && isNumberHeld && report.stoppedBy?.reason === 'throttled') {
    await pauseNumber(ctx, connection, new Date(ctx.clock.ms() + report.stoppedBy.afterMs))
  }
  await recipients?.uncount(unsent)
  return report
}
