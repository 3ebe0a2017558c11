/** The link that proves that an address, which bought the product, wrote its review. */

import { escaped } from '#operations/store/door'
import { changed } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import { isSigned, sign } from '#runtime/secrets'
import { isId } from '#runtime/values/ids'
import { renderText } from '#runtime/values/variables'
import { spoken } from '#runtime/values/wording'
import { statusFor } from '../reviews/publishing.ts'
import { reviewRules } from '../settings/settings.ts'
import { paidPurchaseBy, settleRequests } from './purchases.ts'

const livesMs = 30 * dayMs

const purpose = 'review-confirm'
const textOf = (ctx: Context, reviewId: string): string => `${ctx.store.id}\n${reviewId}`

/** One for each review. */
export const confirmToken = (ctx: Context, reviewId: string): string =>
  `${reviewId}.${sign(ctx.settings, purpose, textOf(ctx, reviewId))}`

export interface Unconfirmed {
  id: string
  productName: string | null
  verified: boolean
}

/** The review of a token; null for one that is forged, past its 30 days, or whose review is gone. */
export async function reviewOfToken(ctx: Context, token: string): Promise<Unconfirmed | null> {
  const [id = '', signature = ''] = token.split('.')
  if (!isId(id) || !isSigned(ctx.settings, purpose, textOf(ctx, id), signature)) return null
  const row = await ctx.db
    .selectFrom('product_reviews')
    .select(['id', 'product_name as productName', 'verified'])
    .where('id', '=', id)
    .where('created_at', '>', new Date(ctx.clock.ms() - livesMs))
    .executeTakeFirst()
  return row ?? null
}

const mailWords = {
  subject: {
    en: 'Confirm your review at {{store}}',
    'pt-BR': 'Confirme sua avaliação em {{store}}',
    es: 'Confirma tu opinión en {{store}}',
  },
  asks: {
    en: 'Somebody wrote a review of {{product}} at {{store}} with this address. Was it you?',
    'pt-BR': 'Alguém escreveu uma avaliação de {{product}} em {{store}} com este endereço. Foi você?',
    es: 'Alguien escribió una opinión sobre {{product}} en {{store}} con esta dirección. ¿Fuiste tú?',
  },
  product: { en: 'a product', 'pt-BR': 'um produto', es: 'un producto' },
  here: { en: 'Confirm here', 'pt-BR': 'Confirme aqui', es: 'Confírmalo aquí' },
  button: { en: 'Confirm my review', 'pt-BR': 'Confirmar minha avaliação', es: 'Confirmar mi opinión' },
  otherwise: {
    en: 'If it was not you, leave this email alone: the review is not marked as yours.',
    'pt-BR': 'Se não foi você, ignore este e-mail: a avaliação não fica como sua.',
    es: 'Si no fuiste tú, no hagas nada: la opinión no queda como tuya.',
  },
}

/** Sends the link; a review that is verified or gone by now, or whose link would be dead, gets none. */
export async function mailConfirmation(ctx: Context, reviewId: string): Promise<void> {
  const row = await ctx.db
    .selectFrom('product_reviews')
    .select(['customer_email', 'customer_name', 'product_name'])
    .where('id', '=', reviewId)
    .where('verified', '=', false)
    .where('created_at', '>', new Date(ctx.clock.ms() - livesMs))
    .executeTakeFirst()
  if (!row?.customer_email) return
  const { publicUrl } = ctx.settings
  const token = encodeURIComponent(confirmToken(ctx, reviewId))
  const link = `${publicUrl}/storefront/${ctx.store.publicId}/reviews/confirm?token=${token}`
  const { name } = ctx.store
  const words = spoken(mailWords, ctx.store.locale)
  const filled = (text: string): string =>
    renderText(text, { product: row.product_name ?? words.product, store: name }).text
  const [subject, asks] = [filled(words.subject), filled(words.asks)]
  try {
    await ctx.adapters.mail.send({
      to: row.customer_email,
      subject,
      text: `${asks}\n\n${words.here}:\n${link}\n\n${words.otherwise}\n`,
      html:
        `<p>${escaped(asks)}</p><p><a href="${escaped(link)}">${escaped(words.button)}</a></p>` +
        `<p>${escaped(words.otherwise)}</p>`,
      idempotencyKey: `review-confirm:${reviewId}`,
    })
  } catch (error) {
    // An address that takes no mail proves nothing; the review stays as it is.
    if (!(error instanceof Refused)) throw error
    ctx.log.warn({ err: error, reviewId }, 'the address does not take the email to confirm a review')
  }
}

/** Verifies it, once. One that nobody has moderated yet is published where the rules say so. */
export async function confirmReview(ctx: Context, reviewId: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const row = await tx.db
      .selectFrom('product_reviews')
      .select([
        'product_id',
        'variant_id',
        'customer_name',
        'customer_email',
        'rating',
        'title',
        'text',
        'has_images',
        'status',
        'moderated_at',
      ])
      .where('id', '=', reviewId)
      .where('verified', '=', false)
      .forUpdate()
      .executeTakeFirst()
    if (!row?.customer_email) return
    const purchase = await paidPurchaseBy(tx, row.customer_email, row.product_id, row.variant_id)
    const settings = await reviewRules.inForce(tx)
    const isWaiting = row.status === 'pending' && row.moderated_at === null
    const status = statusFor(
      { ...row, name: row.customer_name, verified: true, hasImages: row.has_images },
      settings,
    )
    const isPublished = isWaiting && status === 'approved'
    const now = tx.now()
    await tx.db
      .updateTable('product_reviews')
      .set({
        verified: true,
        verified_source: 'confirmed-email',
        ...(purchase
          ? {
              order_id: purchase.orderId,
              order_item_id: purchase.orderItemId,
              order_number: purchase.orderNumber,
              customer_phone: purchase.phone,
              phone_key: purchase.phoneKey,
            }
          : {}),
        ...(isPublished ? { status, moderated_at: now, moderated_by: 'auto' } : {}),
        updated_at: now,
      })
      .where('id', '=', reviewId)
      .execute()
    if (purchase) await settleRequests(tx, reviewId, row.product_id, purchase)
    if (isPublished) await changed(tx)
  })
}
