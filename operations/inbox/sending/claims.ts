/** Which message of a conversation leaves next: claimed in the database before it does. */
import type { Context } from '#runtime/context'
import type { MediaRow } from '../receiving/inbound.ts'

/** Calls of one message: the first, and three more. */
export const callsAtMost = 4
/** A claim that is older belongs to a dead worker. */
const deadAfterMs = 2 * 60_000
/** Without a word of it for so long, nobody will know whether a message left. */
export const lostAfterMs = 10 * 60_000

export interface ClaimedMessage {
  id: string
  conversationId: string
  type: string
  text: string | null
  media: MediaRow | null
  templateId: number | null
  parameters: { header: string[]; body: string[]; buttons: string[] } | null
  reservationId: string | null
  /** The provider's id of the message it answers. */
  replyTo: string | null
  /** How often it was handed over, this time included. */
  attempts: number
  /** It was handed over before, and nobody knows what became of it. */
  mayHaveLeft: boolean
  phone: string
  lastInboundAt: Date | null
}

export type Next =
  | { is: 'claimed'; message: ClaimedMessage }
  /** May have left, and nobody will know any more. */
  | { is: 'lost'; message: ClaimedMessage }
  | { is: 'later'; at: Date }
  | { is: 'none' }

/**
 * The oldest queued message of a conversation. `claimed_at` is set while it may be with the provider, `not_before` says
 * until when nobody else touches it. One that may have left is handed over again only where the provider knows its
 * key; elsewhere it holds back nobody.
 */
export async function claimNext(ctx: Context, conversationId: string, isIdempotent: boolean): Promise<Next> {
  return ctx.transaction(async (tx) => {
    const now = tx.now()
    const rows = await queuedOf(tx, conversationId)
    for (const row of rows) {
      const message = claimedFrom(row)
      if (row.claimed_at === null || (isIdempotent && row.attempts < callsAtMost)) {
        if (row.not_before !== null && row.not_before > now) return { is: 'later', at: row.not_before }
        await tx.db
          .updateTable('inbox_messages')
          .set({
            claimed_at: row.claimed_at ?? now,
            not_before: new Date(now.getTime() + deadAfterMs),
            attempts: row.attempts + 1,
          })
          .where('id', '=', row.id)
          .execute()
        return { is: 'claimed', message }
      }
      // Otherwise the watchdog comes back to it: a job that waited for it would hold back what is sent meanwhile.
      if (row.claimed_at.getTime() + lostAfterMs <= now.getTime()) return { is: 'lost', message }
    }
    return { is: 'none' }
  })
}

const queuedOf = (tx: Context, conversationId: string) =>
  tx.db
    .selectFrom('inbox_messages as m')
    .innerJoin('conversations as c', 'c.id', 'm.conversation_id')
    .innerJoin('contacts as k', 'k.id', 'c.contact_id')
    .leftJoin('inbox_messages as r', 'r.id', 'm.reply_to_message_id')
    .select([
      'm.id',
      'm.conversation_id',
      'm.type',
      'm.text',
      'm.media',
      'm.officialapi_template_id',
      'm.template_parameters',
      'm.reservation_id',
      'm.attempts',
      'm.claimed_at',
      'm.not_before',
      'r.provider_message_id as reply_to',
      'k.phone',
      'c.last_inbound_at',
    ])
    .where('m.conversation_id', '=', conversationId)
    .where('m.status', '=', 'queued')
    .orderBy('m.created_at')
    .orderBy('m.id')
    .limit(20)
    .forUpdate('m')
    .execute()

type QueuedRow = Awaited<ReturnType<typeof queuedOf>>[number]

const claimedFrom = (row: QueuedRow): ClaimedMessage => ({
  id: row.id,
  conversationId: row.conversation_id,
  type: row.type,
  text: row.text,
  media: row.media as MediaRow | null,
  templateId: row.officialapi_template_id,
  parameters: row.template_parameters as ClaimedMessage['parameters'],
  reservationId: row.reservation_id,
  replyTo: row.reply_to,
  attempts: row.attempts + 1,
  mayHaveLeft: row.claimed_at !== null,
  phone: row.phone,
  lastInboundAt: row.last_inbound_at,
})

/** Certainly not taken: it may be handed over again at `at`. `isCounted` false: this time does not count. */
export async function putBack(
  ctx: Context,
  message: ClaimedMessage,
  at: Date,
  isCounted = true,
): Promise<void> {
  await ctx.db
    .updateTable('inbox_messages')
    .set({ claimed_at: null, not_before: at, attempts: message.attempts - (isCounted ? 0 : 1) })
    .where('id', '=', message.id)
    .where('status', '=', 'queued')
    .execute()
}

/** Perhaps taken: whoever may look at it again does so at `at`. */
export async function holdUntil(ctx: Context, message: ClaimedMessage, at: Date): Promise<void> {
  await ctx.db
    .updateTable('inbox_messages')
    .set({ not_before: at })
    .where('id', '=', message.id)
    .where('status', '=', 'queued')
    .execute()
}
