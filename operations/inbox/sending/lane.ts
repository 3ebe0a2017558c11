/** Messages of the team leave by the outbox: what speaks against one by now, and what its conversation shows (rule 5). */
import { outbox, type sending } from '#operations/messaging/door'
import { entitlementOf } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { contentOf } from '../messages/compose.ts'
import type { MediaRow } from '../receiving/inbound.ts'
import { recountWaiting } from '../waiting.ts'
import { isWindowOpen } from '../window.ts'

interface TeamMessage extends outbox.Single {
  conversationId: string
  type: string
  text: string | null
  media: MediaRow | null
  templateId: number | null
  parameters: { header: string[]; body: string[]; buttons: string[] } | null
  /** The provider's id of the message it answers. */
  replyTo: string | null
  lastInboundAt: Date | null
}

export const teamMessages = outbox.single<TeamMessage>()({
  kind: 'in',
  source: 'inbox',
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
  joined: (messages) =>
    messages
      .innerJoin('conversations as c', 'c.id', 'm.conversation_id')
      .innerJoin('contacts as k', 'k.id', 'c.contact_id')
      .leftJoin('inbox_messages as r', 'r.id', 'm.reply_to_message_id')
      .select(['k.phone', 'c.last_inbound_at as lastInboundAt', 'r.provider_message_id as replyTo']),
  leaving: ['queued'],
  claim: ['not_before'],
  via: 'official',
  retriesAfterMs: [5_000, 30_000, 120_000],
  // Somebody waits for the answer to their message: they are told at once.
  waitsMs: 0,
  isAnswer: ({ templateId }) => templateId === null,
  async objection(tx, { type, lastInboundAt }) {
    if (!(await entitlementOf(tx)).canWrite) {
      const reason = 'The subscription does not allow messages any more'
      return { code: 'subscription-inactive', reason }
    }
    if (type === 'template' || isWindowOpen(lastInboundAt, tx.now())) return null
    const reason = 'The window closed before the message could leave: send an approved template'
    return { code: 'window-closed', reason }
  },
  async letter(tx, row) {
    const { phone, replyTo } = row
    const content = await contentOf(tx, row)
    return { row, letter: { phone: phone!, content, via: 'official', ...(replyTo ? { replyTo } : {}) } }
  },
  departing: ({ conversationId }) => ({ sourceId: conversationId, sourceName: null }),
  async moved(tx, moves) {
    for (const { before, after } of moves) if (after.status !== before.status) await show(tx, after)
  },
})

async function show(tx: Context, { id, conversationId, status }: TeamMessage): Promise<void> {
  await tx.db
    .updateTable('conversations')
    .set({ last_message_status: status, updated_at: tx.now() })
    .where('id', '=', conversationId)
    .where('last_message_id', '=', id)
    .execute()
  if (status !== 'sent') await recountWaiting(tx, conversationId)
}

/** Without an official number nothing that waits can leave. What may have left already is settled by its callback. */
export async function failQueued(ctx: Context): Promise<void> {
  const waiting = await ctx.db
    .selectFrom('inbox_messages')
    .select('id')
    .where('status', '=', 'queued')
    .where('claimed_at', 'is', null)
    .execute()
  const gone = { is: 'failed', code: 'disconnected', reason: 'The official number was disconnected' } as const
  await outbox.settle(
    ctx,
    teamMessages,
    waiting.map(({ id }) => id),
    ({ calledAt }) => (calledAt ? null : gone),
  )
}

/** Statuses of the messages that other sections sent and the inbox shows, at whatever attempt. */
export const applyCallback = (ctx: Context, changes: sending.DeliveryStatus[]): Promise<void> =>
  teamMessages.applyStatuses(
    ctx,
    changes.map((change) => ({ ...change, attempt: 1 })),
  )
