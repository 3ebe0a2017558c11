/** The outbox source of single sends: tried within the request, then by a job (rule 5). */
import { readEntitlement } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { messageSettle } from '../handles.ts'
import { defineSingleSource } from '../outbox/define-source.ts'
import { indeterminateAfterMs } from '../outbox/outbox-source.ts'
import { dispatchOne, type SingleState } from '../outbox/single.ts'
import type { Content } from '../sending/deliver.ts'
import type { Parameters } from './content.ts'

interface SingleMessage extends SingleState {
  sourceId: string | null
  type: string
  text: string | null
  mediaUrl: string | null
  mediaFileName: string | null
  templateId: number | null
  parameters: Parameters | null
  via: string | null
  createdAt: Date
}

const twoMinutesMs = 120_000

export const singleSends = defineSingleSource<SingleMessage>()({
  kind: 'dm',
  messageSource: 'direct',
  table: 'direct_messages',
  columns: {
    code: ['error_code', 'text'],
    reason: ['error_message', 'text'],
    sourceId: ['source_id'],
    type: ['type'],
    text: ['text'],
    mediaUrl: ['media_url'],
    mediaFileName: ['media_file_name'],
    templateId: ['officialapi_template_id'],
    parameters: ['template_parameters'],
    via: ['via'],
    createdAt: ['created_at'],
  },
  inFlightStatuses: ['queued'],
  claimColumns: ['next_try_at'],
  retryDelaysMs: [5_000, 30_000, ...Array.from({ length: 5 }, () => twoMinutesMs)],
  // A single send does not wait for a number: the request that sends it must respond at once.
  maxWaitMs: 0,
  async checkPreconditions(tx, { nextTryAt, createdAt }) {
    // The message is still claimed by the request, which has just checked the preconditions.
    if (nextTryAt && nextTryAt > tx.now()) return null
    if (tx.now().getTime() - createdAt.getTime() >= indeterminateAfterMs) {
      return { code: 'provider-error', reason: 'The messaging provider took nothing for ten minutes' }
    }
    if ((await readEntitlement(tx)).canWrite) return null
    return { code: 'subscription-inactive', reason: 'The subscription does not allow messages any more' }
  },
  prepare: async (_tx, row) => ({
    row,
    outgoing: {
      phone: row.phone!,
      content: readContent(row),
      ...(row.via === 'official' ? { via: 'official' } : {}),
    },
  }),
  describeSent: ({ id, sourceId, text }) => ({ sourceId: sourceId ?? id, sourceName: null, text }),
})

/** Restores the content of the first dispatch from the row. */
function readContent({
  type,
  text,
  mediaUrl,
  mediaFileName,
  templateId,
  parameters,
}: SingleMessage): Content {
  if (templateId !== null) return { kind: 'template', templateId, parameters: parameters!, media: null }
  const kind = type as 'image' | 'video' | 'document'
  const media = mediaUrl === null ? null : { type: kind, url: mediaUrl, fileName: mediaFileName }
  return { kind: 'text', text: text ?? '', media }
}

/**
 * Dispatches a message that is still queued, and queues the next try. `isOurs` takes over the claim, because its
 * previous holder is certainly gone.
 */
export async function dispatchSend(ctx: Context, messageId: string, isOurs = false): Promise<void> {
  const at = await dispatchOne(ctx, singleSends, messageId, { isOurs })
  if (at) await ctx.queue(messageSettle, { storeId: ctx.store.id, messageId }, { at })
}
