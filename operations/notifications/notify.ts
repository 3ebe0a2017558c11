/** Notifications that sections create. */
import type { Context } from '#runtime/context'
import { countCharacters, truncate } from '#runtime/values/truncate'

export interface Notice {
  /** `^[a-z0-9-]{1,60}$`, such as `campaign-sent`. */
  type: string
  level: 'info' | 'success' | 'warning' | 'error'
  /** At most 120 characters. */
  title: string
  /** At most 1000 characters. */
  message: string | null
  link?: string | null
  data?: Record<string, unknown> | null
  /** Only these members see it; by default every member. */
  recipientIds?: string[]
  /** A second notice with the same key is skipped; null if the caller already ensures that it runs once. */
  dedupeKey: string | null
}

/** Creates a notification, in the caller's transaction. Truncates texts that are too long. */
export async function notify(ctx: Context, notice: Notice): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .insertInto('notifications')
    .values({
      id: ctx.newId(),
      type: notice.type,
      level: notice.level,
      title: shorten(notice.title, 120),
      message: notice.message === null ? null : shorten(notice.message, 1000),
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

const shorten = (text: string, atMost: number): string =>
  countCharacters(text) <= atMost ? text : `${truncate(text, atMost - 1)}…`
