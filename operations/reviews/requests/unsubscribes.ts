/** The way out of review emails: the page of all unsubscribe links, which keeps by address who has left. */
import { unsubscribes } from '#operations/capture/door'
import type { Context } from '#runtime/context'

const topic = 'reviews'

/** Which of these addresses have left, in lower case. */
export const unsubscribedAmong = (ctx: Context, emails: readonly string[]): Promise<ReadonlySet<string>> =>
  unsubscribes.among(ctx, emails, topic)

/** The link of an email to this address, and the headers that let a mail program offer it. */
export function wayOut(ctx: Context, email: string): { link: string; headers: Record<string, string> } {
  const link = unsubscribes.link(ctx, topic, email)
  return { link, headers: unsubscribes.headers(link) }
}
