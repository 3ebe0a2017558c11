/** Handing over: one call a message, several at once, one recipient's refusal stopping no other. */

import { health } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { pause } from '#runtime/pause'
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { type Mail, mailRefusal } from '#runtime/ports/mail/port'
import { isInTrouble } from '#runtime/ports/waiting'
import { takeRecipients } from '../numbers/limit.ts'
import { type Connection, type Content, deliver, type Outcome, throttled } from '../sending/deliver.ts'
import { keyOf, type Lane, type Standing, type Trouble } from './lane.ts'
import type { Fate } from './moves.ts'
import { markCalled } from './rows.ts'

/** What one recipient gets: a message of the number, or an email. */
export type Posted =
  | { phone: string; content: Content; via?: 'official'; replyTo?: string }
  | { mail: Omit<Mail, 'idempotencyKey'> }

/** The same of one message of a batch. */
export type Letter<M> = Posted & { message: M }

/** What is certain of a message after its call. */
export type Told = Extract<Fate, { is: 'sent' | 'failed' }> | { is: 'back'; because: Trouble }

/** Nobody knows: it stays claimed, is asked about under its key, or a status proves it. */
type Answer = Told | { is: 'unknown' }

/** One call. An email's key is known again by every provider of mail. */
export async function call(ctx: Context, posted: Posted, key: string, isCounted = false): Promise<Answer> {
  // Before the call: what answers the message is never older than it.
  const at = ctx.now()
  if ('mail' in posted) return mailed(ctx, posted.mail, key, at)
  const { phone, content, via, replyTo } = posted
  const message = { phone, content, isCounted, ...(via ? { via } : {}), ...(replyTo ? { replyTo } : {}) }
  return toldOf(await deliver(ctx, message, key), at)
}

async function mailed(
  ctx: Context,
  mail: Omit<Mail, 'idempotencyKey'>,
  idempotencyKey: string,
  at: Date,
): Promise<Answer> {
  try {
    const { messageId } = await ctx.adapters.mail.send({ ...mail, idempotencyKey })
    return { is: 'sent', at, providerMessageId: messageId }
  } catch (error) {
    if (error instanceof Refused) return { is: 'failed', code: mailRefusal(error), reason: error.message }
    if (error instanceof Throttled) {
      return { is: 'back', because: { reason: 'throttled', afterMs: error.retryAfterMs } }
    }
    if (!(error instanceof Unavailable)) throw error
    if (error instanceof AccessLost) return { is: 'back', because: await mailLost(ctx) }
    return error.accepted === 'no'
      ? {
          is: 'back',
          because: {
            reason: 'provider-unavailable',
            ...(isInTrouble(error) ? { isDown: true as const } : {}),
          },
        }
      : { is: 'unknown' }
  }
}

/** Whoever runs the server has to act: no address is at fault, and none is tried before the provider was asked again. */
async function mailLost(ctx: Context): Promise<Trouble> {
  const until = (await health.mailWaits(ctx)) ?? new Date(ctx.clock.ms() + minuteMs)
  return { reason: 'provider-unavailable', isDown: true, until }
}

const isOfRecipient = (trouble: Trouble): boolean =>
  trouble.reason === 'throttled' && trouble.isOfRecipient === true

const waitsAtMostMs = 10_000

/** One of a batch: who was written to a moment ago is tried once more, while the others leave. */
async function callPatiently(ctx: Context, posted: Posted, key: string): Promise<Answer> {
  const told = await call(ctx, posted, key, true)
  if (told.is !== 'back' || told.because.reason !== 'throttled' || !told.because.isOfRecipient) return told
  const { afterMs } = told.because
  const hasWaited = afterMs <= waitsAtMostMs && (await pause(afterMs, ctx.services.ending))
  return hasWaited ? call(ctx, posted, key, true) : told
}

function toldOf(outcome: Outcome, at: Date): Answer {
  switch (outcome.outcome) {
    case 'accepted':
      return { is: 'sent', at, providerMessageId: outcome.providerMessageId }
    case 'refused':
      return { is: 'failed', code: outcome.code, reason: outcome.message }
    case 'disconnected':
      return { is: 'back', because: { reason: 'disconnected' } }
    case 'retry': {
      if (outcome.reason === 'throttled') {
        const { outcome: _is, ...because } = outcome
        return { is: 'back', because }
      }
      const { reason, isDown } = outcome
      return {
        is: 'back',
        because: reason === 'number-limit' ? { reason } : { reason, ...(isDown ? { isDown } : {}) },
      }
    }
    case 'unknown':
      return { is: 'unknown' }
  }
}

/** Calls at once: a slow provider does not make a batch slow. On PGlite they take turns underneath. */
const atOnce = 16

const unavailable: Trouble = { reason: 'provider-unavailable' }

export interface Handed<M> {
  /** Who was not called, as the claim was no longer ours, is not among them, nor is what nobody knows of. */
  told: { message: M; told: Told }[]
  /** Why it stopped before its end. */
  trouble: Trouble | null
  /** A fault of ours, to be thrown once what is known is written down. */
  error: unknown
}

export interface Batch<M> {
  letters: readonly Letter<M>[]
  /** The number that its messages leave through. */
  connection: Connection | null
  /** Whose messages they are. */
  claimId: string
  /** Whether the provider knows a key again; otherwise each call is written down before it is made. */
  isIdempotent: boolean
  /** They may have left already: only what is certain is told of them. */
  isSecondCall?: boolean
}

/**
 * Hands letters over, outside any transaction: recipients are counted against the number's limit first and given back
 * where nothing left; trouble ends the batch, and what was not called is back for the same reason.
 */
export async function handOver<M extends Pick<Standing, 'id' | 'attempt'>, Row extends Standing>(
  ctx: Context,
  lane: Lane<Row>,
  batch: Batch<M>,
): Promise<Handed<M>> {
  const { letters, connection, claimId, isIdempotent, isSecondCall } = batch
  const handed: Handed<M> = { told: [], trouble: null, error: null }
  const phoneOf = (letter: Letter<M>): string | null => ('phone' in letter ? letter.phone : null)
  const templates = letters.flatMap((each) =>
    'phone' in each && each.content.kind === 'template' ? each.phone : [],
  )
  const recipients = connection ? await takeRecipients(ctx, connection, templates) : null
  const hasRoom = (letter: Letter<M>): boolean => recipients?.has(phoneOf(letter) ?? '') ?? true
  const unsent: string[] = []
  let isOver = false
  let limited: Trouble | null = null
  const note = (letter: Letter<M>, told: Answer): void => {
    const phone = phoneOf(letter)
    if (phone !== null && (told.is === 'failed' || told.is === 'back')) unsent.push(phone)
    const trouble = told.is === 'back' ? told.because : told.is === 'unknown' ? unavailable : null
    if (trouble && isOfRecipient(trouble)) limited = trouble
    else if (trouble) {
      handed.trouble ??= trouble
      // A mail server may put off one address alone: the others are tried.
      isOver ||= phone !== null || trouble.reason === 'throttled' || isLost(trouble)
    }
    if (told.is === 'unknown' || (isSecondCall && told.is === 'back')) return
    handed.told.push({ message: letter.message, told })
  }
  const isLost = (trouble: Trouble): boolean => 'until' in trouble
  const allowed = letters.filter(hasRoom)
  const isOurs = async ({ message: { id } }: Letter<M>): Promise<boolean> =>
    isIdempotent || (await markCalled(ctx, lane, claimId, [id])).has(id)
  let next = 0
  if (allowed.some((letter) => 'mail' in letter) && (await health.mailWaits(ctx))) {
    handed.trouble = await mailLost(ctx)
    isOver = true
  }
  const inTurn = async (): Promise<void> => {
    while (next < allowed.length && !isOver && !handed.error) {
      const letter = allowed[next]!
      next += 1
      try {
        if (await isOurs(letter)) note(letter, await callPatiently(ctx, letter, keyOf(lane, letter.message)))
      } catch (error) {
        handed.error ??= error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, allowed.length) }, inTurn))
  const because = handed.trouble ?? unavailable
  for (const letter of allowed.slice(next)) note(letter, { is: 'back', because })
  for (const letter of letters)
    if (!hasRoom(letter)) note(letter, { is: 'back', because: { reason: 'number-limit' } })
  const isNumberHeld = handed.trouble?.reason === 'throttled'
  // Nothing but people who were written to a moment ago: whoever asks goes on later, and the number is free meanwhile.
  if (handed.told.every(({ told }) => told.is === 'back')) handed.trouble ??= limited
  if (connection && isNumberHeld && handed.trouble?.reason === 'throttled') {
    await throttled(ctx, connection, new Date(ctx.clock.ms() + handed.trouble.afterMs))
  }
  await recipients?.giveBack(unsent)
  return handed
}
