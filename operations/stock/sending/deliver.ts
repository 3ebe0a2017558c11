/** Claimed alerts on their way: handed over, one recipient's refusal stopping no other. */
import { sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { Refused, Unavailable } from '#runtime/ports/errors'
import type { Values } from '#runtime/values/variables'
import type { AlertContent } from '../settings/schema.ts'
import type { Reason } from '../subscription-schema.ts'
import type { Way } from './means.ts'
import { type AlertMail, messageText, templateContent } from './render.ts'

/** A subscription whose alert was claimed. */
export interface ClaimedAlert {
  id: string
  product_id: string
  variant_id: string
  product_name: string
  variant_name: string | null
  product_url: string | null
  channel: string
  email: string | null
  phone: string | null
  contact_key: string | null
  name: string | null
  click_token: string
  attempt: number
  claimed_at: Date
  called_at: Date | null
  /** By the merchant: neither stock nor settings hold it back. */
  is_wanted: boolean
  reservation_id: string | null
}

/** What became of one; what is not told of stays claimed. */
export type Result = { alert: ClaimedAlert } & (
  | { is: 'sent'; at: Date; providerMessageId: string | null; text: string | null }
  | { is: 'failed'; reason: Reason; isStopped?: boolean }
  | { is: 'cancelled'; reason: Reason }
  /** Certainly not accepted, and nothing can carry it now: it waits again, in its place. */
  | { is: 'back' }
  /** Certainly not accepted: tried again a little later. */
  | { is: 'later'; at: Date | null }
  /** Nobody knows whether it left, and nobody will. */
  | { is: 'lost'; at: Date }
)

export const keyOf = (alert: ClaimedAlert): string => `st_${alert.id}_${alert.attempt}`

/** Calls at once: a slow provider does not make a batch slow. */
const atOnce = 16

/** Runs `act` for all, some at once. The first fault of ours is thrown when all have ended. */
export async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  let fault: unknown = null
  const turn = async (): Promise<void> => {
    while (next < items.length && fault === null) {
      const item = items[next]!
      next += 1
      try {
        await act(item)
      } catch (error) {
        fault ??= error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, turn))
  if (fault !== null) throw fault
}

/** One email. Null: nobody knows whether it was taken; under its key it can be sent again. */
export async function deliverMail(
  ctx: Context,
  alert: ClaimedAlert,
  mail: AlertMail,
): Promise<Result | null> {
  // Before the call: what it brings about is never older than it.
  const at = ctx.now()
  try {
    await ctx.adapters.mail.send({ to: alert.email!, ...mail, idempotencyKey: keyOf(alert) })
    return { alert, is: 'sent', at, providerMessageId: null, text: null }
  } catch (error) {
    if (error instanceof Refused) {
      const isAddress = error.code === 'recipient-refused' || error.code === 'invalid-recipient'
      return { alert, is: 'failed', reason: isAddress ? 'bounced' : 'provider-error' }
    }
    if (error instanceof Unavailable) return error.accepted === 'no' ? { alert, is: 'later', at: null } : null
    throw error
  }
}

const reasons: Readonly<Record<string, Reason>> = {
  'not-on-network': 'not-on-network',
  undelivered: 'undelivered',
  'recipient-stopped': 'opted-out',
}
/** Of what a provider says, the reason that a merchant is told. */
export const reasonOf = (code: string | null): Reason => reasons[code ?? ''] ?? 'provider-error'

/** One message. `isCounted` against the number's limit already. Null: nobody knows whether it was taken. */
export async function deliverMessage(
  ctx: Context,
  alert: ClaimedAlert,
  { way, settings, values }: { way: Way; settings: AlertContent; values: Values },
): Promise<Result | null> {
  const rendered = way.template
    ? templateContent(way.template, values, ctx.store)
    : textContent(messageText(settings, values))
  if (rendered.text === '') return { alert, is: 'failed', reason: 'provider-error' }
  const at = ctx.now()
  const outcome = await sending.deliver(
    ctx,
    { phone: alert.phone!, content: rendered.content, isCounted: true },
    keyOf(alert),
  )
  switch (outcome.outcome) {
    case 'accepted':
      return { alert, is: 'sent', at, providerMessageId: outcome.providerMessageId, text: rendered.text }
    case 'refused':
      return {
        alert,
        is: 'failed',
        reason: reasonOf(outcome.code),
        isStopped: outcome.code === 'recipient-stopped',
      }
    case 'disconnected':
      return { alert, is: 'back' }
    case 'retry':
      if (outcome.reason === 'number-limit') return { alert, is: 'back' }
      if (outcome.reason === 'provider-unavailable') return { alert, is: 'later', at: null }
      return { alert, is: 'later', at: new Date(ctx.clock.ms() + outcome.afterMs) }
    case 'unknown':
      return null
  }
}

const textContent = (text: string): { content: sending.Content; text: string } => ({
  content: { kind: 'text', text, media: null },
  text,
})
