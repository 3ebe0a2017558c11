/** What the sections tell the merchant. */
import type { Context } from '#runtime/context'
import { cut } from '#runtime/values/cut'

export interface Notice {
  /** `^[a-z0-9-]{1,60}$`, such as `campaign-sent`. */
  type: string
  level: 'info' | 'success' | 'warning' | 'error'
  /** At most 120 characters. */
  title: string
  /** At most 1000. */
  message: string | null
  link?: string | null
  data?: Record<string, unknown> | null
  /** Only these members see it; left out: every member. */
  recipientIds?: string[]
  /** A second notice with the same key is passed over; null where the caller moves a row under its lock, once. */
  dedupeKey: string | null
}

/** Tells the merchant, in the caller's transaction. Longer texts than a notification may have are cut. */
export async function notify(ctx: Context, notice: Notice): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .insertInto('notifications')
    .values({
      id: ctx.newId(),
      type: notice.type,
      level: notice.level,
      title: shortened(notice.title, 120),
      message: notice.message === null ? null : shortened(notice.message, 1000),
      link: notice.link ?? null,
      data: notice.data ? JSON.stringify(notice.data) : null,
      source: 'system',
      recipient_ids: notice.recipientIds ?? null,
      dedupe_key: notice.dedupeKey,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['store_id', 'dedupe_key']).doNothing())
    .execute()
}

const shortened = (text: string, atMost: number): string =>
  text.length <= atMost ? text : `${cut(text, atMost - 1)}…`
