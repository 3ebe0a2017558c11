/**
 * Registers the team's messages with the outbox: checks preconditions at dispatch, and updates the conversation when a
 * message's status changes (rule 5).
 */
import { outbox, type sending } from '#operations/messaging/index'
import { readEntitlement } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { buildProviderContent } from '../messages/compose.ts'
import type { MediaRow } from '../receiving/inbound.ts'
import { recountWaiting } from '../waiting.ts'
import { isWindowOpen } from '../window.ts'

interface TeamMessage extends outbox.SingleState {
  conversationId: string
  type: string
  text: string | null
  media: MediaRow | null
  templateId: number | null
  parameters: { header: string[]; body: string[]; buttons: string[] } | null
  /** The provider's id of the message that this one answers. */
  replyTo: string | null
  lastInboundAt: Date | null
}

export const teamMessages = outbox.defineSingleSource<TeamMessage>()({
  kind: 'in',
  messageSource: 'inbox',
  table: 'inbox_messages',
  columns: {
    phone: null,
    code: ['error_code', 'text'],
    reason: ['error_message', 'text'],
    calledAt: ['claimed_at', 'timestamptz'],
    nextTryAt: ['not_before'],
    conversationId: ['conversation_id'],
    type: ['type'],
    text: ['text'],
    media: ['media'],
    templateId: ['officialapi_template_id'],
    parameters: ['template_parameters'],
  },
  join: (messages) =>
    messages
      .innerJoin('conversations as c', 'c.id', 'm.conversation_id')
      .innerJoin('contacts as k', 'k.id', 'c.contact_id')
      .leftJoin('inbox_messages as r', 'r.id', 'm.reply_to_message_id')
      .select(['k.phone', 'c.last_inbound_at as lastInboundAt', 'r.provider_message_id as replyTo']),
  inFlightStatuses: ['queued'],
  claimColumns: ['not_before'],
  via: 'official',
  retryDelaysMs: [5_000, 30_000, 120_000],
  // Never delays a message, because a customer waits for the answer.
  maxWaitMs: 0,
  isReply: ({ templateId }) => templateId === null,
  async checkPreconditions(tx, { type, lastInboundAt }) {
    if (!(await readEntitlement(tx)).canWrite) {
      const reason = 'The subscription does not allow messages any more'
      return { code: 'subscription-inactive', reason }
    }
    if (type === 'template' || isWindowOpen(lastInboundAt, tx.now())) return null
    const reason = 'The window closed before the message could leave: send an approved template'
    return { code: 'window-closed', reason }
  },
  async prepare(_tx, row) {
    const { phone, replyTo } = row
    const content = buildProviderContent(row)
    return { row, outgoing: { phone: phone!, content, via: 'official', ...(replyTo ? { replyTo } : {}) } }
  },
  describeSent: ({ conversationId }) => ({ sourceId: conversationId, sourceName: null }),
  async onTransitions(tx, moves) {
    for (const { before, after } of moves) if (after.status !== before.status) await showStatus(tx, after)
  },
})

async function showStatus(tx: Context, { id, conversationId, status }: TeamMessage): Promise<void> {
  await tx.db
    .updateTable('conversations')
    .set({ last_message_status: status, updated_at: tx.now() })
    .where('id', '=', conversationId)
    .where('last_message_id', '=', id)
    .execute()
  if (status !== 'sent') await recountWaiting(tx, conversationId)
}

/**
 * Fails the queued messages after the official number was disconnected, except for claimed ones: they may have been sent,
 * and a status callback will record their result.
 */
export async function failQueued(ctx: Context): Promise<void> {
  const waiting = await ctx.db
    .selectFrom('inbox_messages')
    .select('id')
    .where('status', '=', 'queued')
    .where('claimed_at', 'is', null)
    .execute()
  const failure = {
    kind: 'failed',
    code: 'disconnected',
    reason: 'The official number was disconnected',
  } as const
  await outbox.recordOutcomes(
    ctx,
    teamMessages,
    waiting.map(({ id }) => id),
    ({ calledAt }) => (calledAt ? null : failure),
  )
}

/**
 * Applies delivery statuses to the inbox's copies of messages that other sections sent. The copies do not count
 * attempts, so every status is applied as the first.
 */
export const applyCallback = (ctx: Context, changes: sending.DeliveryStatus[]): Promise<void> =>
  teamMessages.applyStatuses(
    ctx,
    changes.map((change) => ({ ...change, attempt: 1 })),
  )
