/** The email with a coupon code. */
import { DateTime } from 'luxon'
import { coupons, escapeHtml, files, metering } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import { idFromName } from '#runtime/values/ids'
import { renderText } from '#runtime/values/variables'
import { getTexts } from '#runtime/values/wording'
import type { PromisedCoupon } from './codes.ts'
import * as unsubscribes from './unsubscribes.ts'

/** Sends a subscriber the code that is due. Sends nothing if they have unsubscribed. */
export async function sendCouponEmail(ctx: Context, subscriberId: string): Promise<void> {
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
  // An expired code is not sent.
  if (!coupons.isUsableAt(coupon?.expiresAt ?? null, ctx.now())) {
    await recordOutcome(ctx, subscriberId, 'refused')
    return
  }
  const link = unsubscribes.buildLink(ctx, 'newsletter', subscriberId)
  try {
    await files.sendMail(ctx, {
      to: email,
      ...buildCouponMail(ctx, { code, coupon, link }),
      headers: unsubscribes.buildHeaders(link),
      idempotencyKey: `newsletter-coupon:${subscriberId}`,
    })
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    ctx.log.warn({ err: error, subscriberId }, 'coupon email refused')
    await recordOutcome(ctx, subscriberId, 'refused')
    return
  }
  await ctx.transaction(async (tx) => {
    await recordOutcome(tx, subscriberId, 'sent')
    await metering.recordEmails(tx, [
      {
        messageId: idFromName(`newsletter coupon ${subscriberId}`, row.created_at.getTime()),
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

async function recordOutcome(ctx: Context, subscriberId: string, how: 'sent' | 'refused'): Promise<void> {
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

function buildCouponMail(
  ctx: Context,
  { code, coupon, link }: { code: string; coupon: PromisedCoupon | null; link: string },
): { subject: string; text: string; html: string } {
  const { name, domain, timezone, locale } = ctx.store
  const words = getTexts({ ...mailWords, leave: unsubscribes.linkLabel }, locale)
  const filled = (text: string, more: Record<string, string> = {}): string =>
    renderText(text, { store: name, ...more }).text
  const expiresAt = coupon?.expiresAt
    ? DateTime.fromISO(coupon.expiresAt, { zone: timezone })
        .setLocale(locale)
        .toLocaleString(DateTime.DATETIME_FULL)
    : null
  const until = expiresAt && filled(words.until, { ends: expiresAt })
  const thanks = filled(words.thanks)
  const shop = `https://${domain}`
  return {
    subject: filled(words.subject),
    text: `${[thanks, code, until, filled(words.use, { place: shop }), `${words.leave}: ${link}`].filter(Boolean).join('\n\n')}\n`,
    html:
      `<p>${escapeHtml(thanks)}</p><p style="font:700 24px monospace">${escapeHtml(code)}</p>` +
      (until ? `<p>${escapeHtml(until)}</p>` : '') +
      `<p><a href="${escapeHtml(shop)}">${escapeHtml(filled(words.use, { place: name }))}</a></p>` +
      `<p><a href="${escapeHtml(link)}">${escapeHtml(words.leave)}</a></p>`,
  }
}
