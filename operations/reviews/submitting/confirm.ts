/**
 * Verifies a review by a confirmation link: it is mailed to the review's email address, which has bought the product. The
 * click proves that the owner of the address wrote the review.
 */

import { escapeHtml, files } from '#operations/store/index'
import { markStorefrontChanged } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import { hasValidSignature, sign } from '#runtime/secrets'
import { isId } from '#runtime/values/ids'
import { renderText } from '#runtime/values/variables'
import { getTexts } from '#runtime/values/wording'
import { decideStatus } from '../reviews/publishing.ts'
import { reviewRules } from '../settings/settings.ts'
import { closeRequests, findPaidPurchase } from './purchases.ts'

const livesMs = 30 * dayMs

const purpose = 'review-confirm'
const buildSignedText = (ctx: Context, reviewId: string): string => `${ctx.store.id}\n${reviewId}`

/** Creates the token of a review's link, which is always the same for a review. */
export const createConfirmToken = (ctx: Context, reviewId: string): string =>
  `${reviewId}.${sign(ctx.settings, purpose, buildSignedText(ctx, reviewId))}`

export interface Unconfirmed {
  id: string
  productName: string | null
  verified: boolean
}

/** Finds the review of a token; null if the token is invalid, or the review is older than 30 days or was deleted. */
export async function findReviewByToken(ctx: Context, token: string): Promise<Unconfirmed | null> {
  const [id = '', signature = ''] = token.split('.')
  if (!isId(id) || !hasValidSignature(ctx.settings, purpose, buildSignedText(ctx, id), signature)) return null
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

/** Sends the confirmation link, unless the review is verified or deleted, or the link has expired. */
export async function sendConfirmationEmail(ctx: Context, reviewId: string): Promise<void> {
  const row = await ctx.db
    .selectFrom('product_reviews')
    .select(['customer_email', 'customer_name', 'product_name'])
    .where('id', '=', reviewId)
    .where('verified', '=', false)
    .where('created_at', '>', new Date(ctx.clock.ms() - livesMs))
    .executeTakeFirst()
  if (!row?.customer_email) return
  const { publicUrl } = ctx.settings
  const token = encodeURIComponent(createConfirmToken(ctx, reviewId))
  const link = `${publicUrl}/storefront/${ctx.store.publicId}/reviews/confirm?token=${token}`
  const { name } = ctx.store
  const words = getTexts(mailWords, ctx.store.locale)
  const filled = (text: string): string =>
    renderText(text, { product: row.product_name ?? words.product, store: name }).text
  const [subject, asks] = [filled(words.subject), filled(words.asks)]
  try {
    await files.sendMail(ctx, {
      to: row.customer_email,
      subject,
      text: `${asks}\n\n${words.here}:\n${link}\n\n${words.otherwise}\n`,
      html:
        `<p>${escapeHtml(asks)}</p><p><a href="${escapeHtml(link)}">${escapeHtml(words.button)}</a></p>` +
        `<p>${escapeHtml(words.otherwise)}</p>`,
      idempotencyKey: `review-confirm:${reviewId}`,
    })
  } catch (error) {
    // The mail server refuses the address, so nobody can confirm the review: it stays unverified.
    if (!(error instanceof Refused)) throw error
    ctx.log.warn({ err: error, reviewId }, 'review confirmation email refused')
  }
}

/**
 * Verifies a review, unless it is verified. If nobody has moderated it yet, the rules for publishing decide its status
 * again.
 */
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
    const purchase = await findPaidPurchase(tx, row.customer_email, row.product_id, row.variant_id)
    const settings = await reviewRules.getEffective(tx)
    const isWaiting = row.status === 'pending' && row.moderated_at === null
    const status = decideStatus(
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
    if (purchase) await closeRequests(tx, reviewId, row.product_id, purchase)
    if (isPublished) await markStorefrontChanged(tx)
  })
}
