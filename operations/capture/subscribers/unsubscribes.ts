/**
 * The one way out of every email: a signed link whose token says what is left by whom. A topic is wired by the section
 * that sends its emails; one that is not is kept here, by address.
 */
import type { Context } from '#runtime/context'
import { isSigned, sign } from '#runtime/secrets'
import { emailKey } from '#runtime/values/email'
import type { Wording } from '#runtime/values/wording'

/** What leaving the emails of a topic does, in a transaction; again it changes nothing. */
export type Leave = (ctx: Context, subject: string) => Promise<unknown>

/** What a link stands for: of a topic that is kept here, the subject is the email address. */
export interface Leaving {
  topic: string
  subject: string
}

/** The word of the link. */
export const word: Wording = {
  en: 'Unsubscribe',
  'pt-BR': 'Cancelar inscrição',
  es: 'Cancelar suscripción',
}

const purpose = 'unsubscribe'
const textOf = (ctx: Context, body: string): string => `${ctx.store.id}\n${body}`

/** The address of the page that unsubscribes `subject` from a topic of this store. It does not expire. */
export function link(ctx: Context, topic: string, subject: string): string {
  const body = Buffer.from(JSON.stringify([topic, subject])).toString('base64url')
  const { publicUrl } = ctx.settings
  const signature = sign(ctx.settings, purpose, textOf(ctx, body))
  return `${publicUrl}/storefront/${ctx.store.publicId}/unsubscribe?token=${body}.${signature}`
}

/** Headers of an email with that link: mail programs offer it, and one click is enough. */
export const headers = (address: string): Record<string, string> => ({
  'List-Unsubscribe': `<${address}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
})

/** What a token of this store says; null when it is forged. */
export function read(ctx: Context, token: string): Leaving | null {
  const [body = '', signature = ''] = token.split('.')
  if (!isSigned(ctx.settings, purpose, textOf(ctx, body), signature)) return null
  const [topic, subject] = JSON.parse(Buffer.from(body, 'base64url').toString()) as [string, string]
  return { topic, subject }
}

/** Leaves the emails of a topic. Twice is once. */
export async function leave(ctx: Context, { topic, subject }: Leaving): Promise<void> {
  const leaves = ctx.wired.unsubscribes[topic]
  await ctx.transaction((tx) => (leaves ? leaves(tx, subject) : keep(tx, topic, subject)))
}

async function keep(ctx: Context, topic: string, email: string): Promise<void> {
  await ctx.db
    .insertInto('email_unsubscribes')
    .values({ email: emailKey(email), topic, created_at: ctx.now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Whether an address has left the emails of a topic that is kept here. */
export async function has(ctx: Context, email: string, topic: string): Promise<boolean> {
  return (await among(ctx, [email], topic)).size > 0
}

/** Which of these addresses have, as their keys (`emailKey`). */
export async function among(
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
