/** The email of a request, to look at it. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { reviewRules } from '../settings/settings.ts'
import { reviewUrl } from './links.ts'
import { requestMail } from './texts.ts'

/**
 * Sends it at once, about the first product of the catalog; nothing is counted. `to`: left out, the address of the
 * key's creator. Refuses an address that the mail server refuses; throws `Unavailable` where it does not answer.
 */
export async function sendTestMail(
  ctx: Context,
  to: string | undefined,
): Promise<{ sentTo: string; subject: string }> {
  const sentTo = to ?? (await ownAddress(ctx))
  const settings = await reviewRules.forShoppers(ctx)
  const product = await ctx.db
    .selectFrom('product_snapshots')
    .select('name')
    .where('exists', '=', true)
    .orderBy('product_id')
    .limit(1)
    .executeTakeFirst()
  const { subject, html, text, replyTo } = requestMail(
    settings,
    {
      customerName: 'Ana Souza',
      orderNumber: '1001',
      productNames: [product?.name ?? 'Sample product'],
      storeName: ctx.store.name,
      locale: ctx.store.locale,
      reviewUrl: reviewUrl(ctx, 'test'),
      token: 'test',
    },
    null,
  )
  const testSubject = `[Test] ${subject}`
  try {
    await ctx.adapters.mail.send({
      to: sentTo,
      subject: testSubject,
      html,
      text,
      ...(replyTo ? { replyTo } : {}),
      idempotencyKey: ctx.sendKey('review-test:'),
    })
  } catch (error) {
    if (error instanceof Refused) throw refuse('bad_request', `email: ${error.message}`)
    throw error
  }
  return { sentTo, subject: testSubject }
}

async function ownAddress(ctx: Context): Promise<string> {
  const { email } = await ctx.db
    .selectFrom('store_people')
    .select('email')
    .where('user_id', '=', ctx.actor.userId)
    .executeTakeFirstOrThrow()
  return email
}
