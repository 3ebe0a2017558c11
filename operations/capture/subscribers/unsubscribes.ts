/**
 * Unsubscribe links of all emails. A link has a signed token with the topic of the emails and the subject, the person
 * to unsubscribe. A section may register a handler for a topic; unsubscribes from other topics are stored here by email
 * address.
 */
import type { Context } from '#runtime/context'
import { hasValidSignature, sign } from '#runtime/secrets'
import { emailKey } from '#runtime/values/email'
import type { Wording } from '#runtime/values/wording'

/** Unsubscribes a subject from a topic, inside a transaction. Idempotent. */
export type UnsubscribeHandler = (ctx: Context, subject: string) => Promise<unknown>

/** Target of a link. The topic's handler defines what the subject is; without a handler it is the email address. */
export interface UnsubscribeTarget {
  topic: string
  subject: string
}

/** The text of the link. */
export const linkLabel: Wording = {
  en: 'Unsubscribe',
  'pt-BR': 'Cancelar inscrição',
  es: 'Cancelar suscripción',
}

const purpose = 'unsubscribe'
const toSignedText = (ctx: Context, body: string): string => `${ctx.store.id}\n${body}`

/** The URL of the page that unsubscribes `subject` from a topic of this store. It does not expire. */
export function buildLink(ctx: Context, topic: string, subject: string): string {
  const body = Buffer.from(JSON.stringify([topic, subject])).toString('base64url')
  const { publicUrl } = ctx.settings
  const signature = sign(ctx.settings, purpose, toSignedText(ctx, body))
  return `${publicUrl}/storefront/${ctx.store.publicId}/unsubscribe?token=${body}.${signature}`
}

/** Email headers for an unsubscribe link, with which mail programs offer one-click unsubscribe. */
export const buildHeaders = (address: string): Record<string, string> => ({
  'List-Unsubscribe': `<${address}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
})

/** Returns the target of a token of this store; null if the token is forged. */
export function parseToken(ctx: Context, token: string): UnsubscribeTarget | null {
  const [body = '', signature = ''] = token.split('.')
  if (!hasValidSignature(ctx.settings, purpose, toSignedText(ctx, body), signature)) return null
  const [topic, subject] = JSON.parse(Buffer.from(body, 'base64url').toString()) as [string, string]
  return { topic, subject }
}

/** Unsubscribes from a topic. Idempotent. */
export async function unsubscribe(ctx: Context, { topic, subject }: UnsubscribeTarget): Promise<void> {
  const leaves = ctx.extensions.unsubscribes[topic]
  await ctx.transaction((tx) => (leaves ? leaves(tx, subject) : storeUnsubscribe(tx, topic, subject)))
}

async function storeUnsubscribe(ctx: Context, topic: string, email: string): Promise<void> {
  await ctx.db
    .insertInto('email_unsubscribes')
    .values({ email: emailKey(email), topic, created_at: ctx.now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Whether an address has unsubscribed from a topic without a handler. */
export async function hasUnsubscribed(ctx: Context, email: string, topic: string): Promise<boolean> {
  return (await findUnsubscribed(ctx, [email], topic)).size > 0
}

/** Returns those of the emails that have unsubscribed from a topic without a handler, as keys (`emailKey`). */
export async function findUnsubscribed(
  ctx: Context,
  emails: readonly string[],
  topic: string,
): Promise<ReadonlySet<string>> {
  if (emails.length === 0) return new Set()
  const rows = await ctx.db
    .selectFrom('email_unsubscribes')
    .select('email')
    .where('topic', '=', topic)
    // biome-ignore lint/plugin/contact-spelling: email_unsubscribes holds keys
    .where('email', 'in', [...new Set(emails.map(emailKey))])
    .execute()
  return new Set(rows.map((row) => row.email))
}
