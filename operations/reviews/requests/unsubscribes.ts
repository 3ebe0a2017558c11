/** Lets people unsubscribe from emails with review requests, through the unsubscribe page that all sections share. */
import { unsubscribes } from '#operations/capture/index'
import type { Context } from '#runtime/context'

const topic = 'reviews'

/** Finds which of these addresses are unsubscribed. Returns them in lower case. */
export const findUnsubscribed = (ctx: Context, emails: readonly string[]): Promise<ReadonlySet<string>> =>
  unsubscribes.findUnsubscribed(ctx, emails, topic)

/** Builds the unsubscribe link for an email to this address, and the List-Unsubscribe headers. */
export function buildUnsubscribe(
  ctx: Context,
  email: string,
): { link: string; headers: Record<string, string> } {
  const link = unsubscribes.buildLink(ctx, topic, email)
  return { link, headers: unsubscribes.buildHeaders(link) }
}
