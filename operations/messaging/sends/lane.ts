/** Single sends leave by the outbox: within the request first, then by a job (rule 5). */
import { entitlementOf } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { messageSettle } from '../handles.ts'
import { single } from '../outbox/declare.ts'
import { lostAfterMs } from '../outbox/lane.ts'
import { handOne, type Single } from '../outbox/single.ts'
import type { Content } from '../sending/deliver.ts'
import type { Parameters } from './content.ts'

interface SingleMessage extends Single {
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

export const singleSends = single<SingleMessage>()({
  kind: 'dm',
  source: 'direct',
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
  leaving: ['queued'],
  claim: ['next_try_at'],
  retriesAfterMs: [5_000, 30_000, ...Array.from({ length: 5 }, () => twoMinutesMs)],
  // Whoever asked for it has the answer at once.
  waitsMs: 0,
  async objection(tx, { nextTryAt, createdAt }) {
    // The request has just looked at it.
    if (nextTryAt && nextTryAt > tx.now()) return null
    if (tx.now().getTime() - createdAt.getTime() >= lostAfterMs) {
      return { code: 'provider-error', reason: 'The messaging provider took nothing for ten minutes' }
    }
    if ((await entitlementOf(tx)).canWrite) return null
    return { code: 'subscription-inactive', reason: 'The subscription does not allow messages any more' }
  },
  letter: async (_tx, row) => ({
    row,
    letter: {
      phone: row.phone!,
      content: contentIn(row),
      ...(row.via === 'official' ? { via: 'official' } : {}),
    },
  }),
  departing: ({ id, sourceId, text }) => ({ sourceId: sourceId ?? id, sourceName: null, text }),
})

/** The content again, as it was handed over first. */
function contentIn({ type, text, mediaUrl, mediaFileName, templateId, parameters }: SingleMessage): Content {
  if (templateId !== null) return { kind: 'template', templateId, parameters: parameters!, media: null }
  const kind = type as 'image' | 'video' | 'document'
  const media = mediaUrl === null ? null : { type: kind, url: mediaUrl, fileName: mediaFileName }
  return { kind: 'text', text: text ?? '', media }
}

/** Looks at a message that is queued still; the next look is queued. `isOurs`: whoever had it in hand is gone for certain. */
export async function settleSend(ctx: Context, messageId: string, isOurs = false): Promise<void> {
  const at = await handOne(ctx, singleSends, messageId, { isOurs })
  if (at) await ctx.queue(messageSettle, { storeId: ctx.store.id, messageId }, { at })
}
