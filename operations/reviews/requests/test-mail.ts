/** Sends a test email of a review request. */
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { reviewRules } from '../settings/settings.ts'
import { buildReviewUrl } from './links.ts'
import { buildRequestMail } from './texts.ts'

/**
 * Sends the email at once, about the first product of the catalog. It is not counted as a request. `to` is by default the
 * address of the user who created the API key. Refuses an address that the mail server refuses. Throws `Unavailable` if
 * the mail server does not respond.
 */
export async function sendTestMail(
  ctx: Context,
  to: string | undefined,
): Promise<{ sentTo: string; subject: string }> {
  const sentTo = to ?? (await findCreatorEmail(ctx))
  const settings = await reviewRules.getForShoppers(ctx)
  const product = await ctx.db
    .selectFrom('product_snapshots')
    .select('name')
    .where('exists', '=', true)
    .orderBy('product_id')
    .limit(1)
    .executeTakeFirst()
  const { subject, html, text, replyTo } = buildRequestMail(
    settings,
    {
      customerName: 'Ana Souza',
      orderNumber: '1001',
      productNames: [product?.name ?? 'Sample product'],
      storeName: ctx.store.name,
      locale: ctx.store.locale,
      reviewUrl: buildReviewUrl(ctx, 'test'),
      token: 'test',
    },
    null,
  )
  const testSubject = `[Test] ${subject}`
  try {
    await files.sendMail(ctx, {
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

async function findCreatorEmail(ctx: Context): Promise<string> {
  const { email } = await ctx.db
    .selectFrom('store_people')
    .select('email')
    .where('user_id', '=', ctx.actor.userId)
    .executeTakeFirstOrThrow()
  return email
}
