/** The email that brings a code. */
import { DateTime } from 'luxon'
import { coupons, escaped, metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import { namedId } from '#runtime/values/ids'
import { renderText } from '#runtime/values/variables'
import { spoken } from '#runtime/values/wording'
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

const mailWords = {
  subject: {
    en: 'Your coupon of {{store}}',
    'pt-BR': 'Seu cupom de {{store}}',
    es: 'Tu cupón de {{store}}',
  },
  thanks: {
    en: 'Thank you for subscribing to {{store}}. Your coupon code is:',
    'pt-BR': 'Obrigado por se inscrever em {{store}}. O código do seu cupom é:',
    es: 'Gracias por suscribirte a {{store}}. El código de tu cupón es:',
  },
  until: {
    en: 'It holds until {{ends}}.',
    'pt-BR': 'Ele vale até {{ends}}.',
    es: 'Es válido hasta el {{ends}}.',
  },
  use: { en: 'Use it at {{place}}', 'pt-BR': 'Use em {{place}}', es: 'Úsalo en {{place}}' },
}

function couponMail(
  ctx: Context,
  { code, coupon, link }: { code: string; coupon: PromisedCoupon | null; link: string },
): { subject: string; text: string; html: string } {
  const { name, domain, timezone, locale } = ctx.store
  const words = spoken({ ...mailWords, leave: unsubscribes.word }, locale)
  const filled = (text: string, more: Record<string, string> = {}): string =>
    renderText(text, { store: name, ...more }).text
  const ends = coupon?.expiresAt
    ? DateTime.fromISO(coupon.expiresAt, { zone: timezone })
        .setLocale(locale)
        .toLocaleString(DateTime.DATETIME_FULL)
    : null
  const until = ends && filled(words.until, { ends })
  const thanks = filled(words.thanks)
  const shop = `https://${domain}`
  return {
    subject: filled(words.subject),
    text: `${[thanks, code, until, filled(words.use, { place: shop }), `${words.leave}: ${link}`].filter(Boolean).join('\n\n')}\n`,
    html:
      `<p>${escaped(thanks)}</p><p style="font:700 24px monospace">${escaped(code)}</p>` +
      (until ? `<p>${escaped(until)}</p>` : '') +
      `<p><a href="${escaped(shop)}">${escaped(filled(words.use, { place: name }))}</a></p>` +
      `<p><a href="${escaped(link)}">${escaped(words.leave)}</a></p>`,
  }
}
