/**
 * The way out of review emails. Its page and what it keeps belong to the section of captures, which is registered at
 * start; without it nobody has left, and emails carry no such link.
 */
import type { Context } from '#runtime/context'

export const topic = 'reviews'

export interface Unsubscribes {
  /** Which of these addresses have left the emails of a topic, in lower case. */
  among(ctx: Context, emails: readonly string[], topic: string): Promise<ReadonlySet<string>>
  /** The address of the page that unsubscribes one. */
  link(ctx: Context, topic: string, email: string): string
  /** Headers of an email with that link. */
  headers(link: string): Record<string, string>
}

let registered: Unsubscribes | null = null
/** Called once at start. */
export const registerUnsubscribes = (unsubscribes: Unsubscribes): void => {
  registered = unsubscribes
}

export const unsubscribedAmong = async (
  ctx: Context,
  emails: readonly string[],
): Promise<ReadonlySet<string>> =>
  registered && emails.length > 0 ? registered.among(ctx, emails, topic) : new Set()

export function wayOut(
  ctx: Context,
  email: string,
): { link: string; headers: Record<string, string> } | null {
  if (!registered) return null
  const link = registered.link(ctx, topic, email)
  return { link, headers: registered.headers(link) }
}
