/**
 * Addresses that get no more mail of a store, because mail to them bounced for good or the person reported it as spam
 * (rule 14). They are unsubscribed from two topics that no link names.
 */
import { days, type events, notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { MailEventData } from '#runtime/ports/mail/port'
import { emailKey, emailKeySql } from '#runtime/values/email'
import { unsubscribeFromNewsletter } from '../subscribers/newsletter-unsubscribe.ts'
import { unsubscribe } from '../subscribers/unsubscribes.ts'

const topics = { bounced: 'mail-bounced', complained: 'mail-complained' } as const
export const suppressedTopics = Object.values(topics)

/** Whether mail to an address is suppressed. */
export async function isSuppressed(ctx: Context, email: string): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('email_unsubscribes')
    .select('topic')
    // biome-ignore lint/plugin/contact-spelling: email_unsubscribes holds keys
    .where('email', '=', emailKey(email))
    .where('topic', 'in', suppressedTopics)
    .executeTakeFirst()
  return row !== undefined
}

const listEmails = (stored: readonly events.StoredEvent[]): string[] => [
  ...new Set(stored.map(({ data }) => emailKey((data as MailEventData).email))),
]

/** Suppresses addresses whose mail bounced for good, and notifies the merchant once a day. */
export async function suppressBounced(ctx: Context, stored: events.StoredEvent[]): Promise<void> {
  for (const email of listEmails(stored)) await unsubscribe(ctx, { topic: topics.bounced, subject: email })
  await notifySuppressed(ctx, 'mail-bounced', {
    title: 'Emails could not be delivered',
    message:
      'Mail servers refused the address for good. It gets no more emails of your store, and its message shows as failed. Ask the customer for another address.',
  })
}

/** Suppresses the addresses of people who complained, and unsubscribes them from the newsletter. */
export async function suppressComplained(ctx: Context, stored: events.StoredEvent[]): Promise<void> {
  for (const email of listEmails(stored)) {
    await unsubscribe(ctx, { topic: topics.complained, subject: email })
    const subscribers = await ctx.db
      .selectFrom('newsletter_subscribers')
      .select('id')
      .where(emailKeySql('email'), '=', email)
      .where('status', '=', 'subscribed')
      .execute()
    for (const { id } of subscribers) await unsubscribeFromNewsletter(ctx, id)
  }
  await notifySuppressed(ctx, 'mail-complained', {
    title: 'Somebody reported an email of your store as spam',
    message: 'The person gets no more emails of your store, and is unsubscribed from the newsletter.',
  })
}

/** Lifts the suppression of addresses that the provider delivers to again. */
export async function restoreAddresses(ctx: Context, stored: events.StoredEvent[]): Promise<void> {
  await ctx.db
    .deleteFrom('email_unsubscribes')
    // biome-ignore lint/plugin/contact-spelling: email_unsubscribes holds keys
    .where('email', 'in', listEmails(stored))
    .where('topic', 'in', suppressedTopics)
    .execute()
}

async function notifySuppressed(
  ctx: Context,
  type: string,
  text: { title: string; message: string },
): Promise<void> {
  const day = days.localDay(ctx.now(), ctx.store.timezone)
  await notify(ctx, { type, level: 'warning', ...text, dedupeKey: `${type}:${day}` })
}
