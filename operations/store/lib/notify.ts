import type { Context } from '#runtime/context'

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
  /** A second notice with the same key is passed over. */
  dedupeKey?: string
}

/** Tells the merchant, in the caller's transaction. */
export async function notify(_ctx: Context, _notice: Notice): Promise<void> {
  throw new Error('being written')
}
