/** The email that brings a code. */
import { DateTime } from 'luxon'
import { coupons, escaped, metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import { namedId } from '#runtime/values/ids'
import type { PromisedCoupon } from './codes.ts'
import * as unsubscribes from './unsubscribes.ts'

/** Sends a code that is due to a subscriber who is still one; of another, nothing. */
export async function mailCoupon(ctx: Context, subscriberId: string): Promise<void> {
  const row = await ctx.db
    .selectFrom('newsletter_subscribers')
    .select(['id', 'email', 'coupon', 'coupon_code', 'created_at'])
    .where('id', '=', subscriberId)
    .where('status', '=', 'subscribed')
    .where('coupon_status', '=', 'issued')
    .where('coupon_email', '=', 'due')
    .executeTakeFirst()
  if (!row?.email || !row.coupon_code) return
  const { email, coupon_code: code } = row
  const coupon = row.coupon as PromisedCoupon | null
  // Held too long: an email with a code that has ended promises nothing.
  if (!coupons.holds(coupon?.expiresAt ?? null, ctx.now())) {
    await end(ctx, subscriberId, 'refused')
    return
  }
  const link = unsubscribes.link(ctx, 'newsletter', subscriberId)
  try {
    await ctx.adapters.mail.send({
      to: email,
      ...couponMail(ctx, { code, coupon, link }),
      headers: unsubscribes.headers(link),
      idempotencyKey: `newsletter-coupon:${subscriberId}`,
    })
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    ctx.log.warn({ err: error, subscriberId }, 'the address does not take the email with the coupon')
    await end(ctx, subscriberId, 'refused')
    return
  }
  await ctx.transaction(async (tx) => {
    await end(tx, subscriberId, 'sent')
    await metering.record(tx, [
      {
        messageId: namedId(`newsletter coupon ${subscriberId}`, row.created_at.getTime()),
        channel: 'email',
        source: 'newsletter',
        sourceId: subscriberId,
        phone: null,
        email,
        providerMessageId: null,
        status: 'sent',
        sentAt: tx.now(),
      },
    ])
  })
}

async function end(ctx: Context, subscriberId: string, how: 'sent' | 'refused'): Promise<void> {
  await ctx.db
    .updateTable('newsletter_subscribers')
    .set({ coupon_email: how })
    .where('id', '=', subscriberId)
    .where('coupon_email', '=', 'due')
    .execute()
}

function couponMail(
  ctx: Context,
  { code, coupon, link }: { code: string; coupon: PromisedCoupon | null; link: string },
): { subject: string; text: string; html: string } {
  const { name, domain, timezone } = ctx.store
  const until = coupon?.expiresAt
    ? `It holds until ${DateTime.fromISO(coupon.expiresAt, { zone: timezone }).toFormat('yyyy-MM-dd HH:mm')} (${timezone}).`
    : null
  const thanks = `Thank you for subscribing to ${name}. Your coupon code is:`
  const shop = `https://${domain}`
  return {
    subject: `Your coupon of ${name}`.replace(/[\r\n]+/g, ' '),
    text: `${[thanks, code, until, `Use it at ${shop}`, `Unsubscribe: ${link}`].filter(Boolean).join('\n\n')}\n`,
    html:
      `<p>${escaped(thanks)}</p><p style="font:700 24px monospace">${escaped(code)}</p>` +
      (until ? `<p>${escaped(until)}</p>` : '') +
      `<p><a href="${escaped(shop)}">Use it at ${escaped(name)}</a></p>` +
      `<p><a href="${escaped(link)}">Unsubscribe</a></p>`,
  }
}
