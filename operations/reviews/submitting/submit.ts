/** Accepts reviews written by shoppers. */

import { sql } from 'kysely'
import type { NewRow } from '#db/tables'
import { files, notify } from '#operations/store/index'
import { markStorefrontChanged, snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuseDuplicate } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { emailKey, emailKeySql } from '#runtime/values/email'
import { truncate } from '#runtime/values/truncate'
import { hasProvenAuthor } from '../authorship.ts'
import { reviewConfirmEmail } from '../handles.ts'
import { findOrderByToken } from '../requests/links.ts'
import { buildSearchText } from '../review-text.ts'
import { fileOwner } from '../reviews/moderation.ts'
import { decideStatus } from '../reviews/publishing.ts'
import type { ReviewSettings } from '../settings/schema.ts'
import { reviewRules } from '../settings/settings.ts'
import { reviewImages } from '../uploads.ts'
import { closeRequests, findPaidPurchase, findPurchase, type Purchase } from './purchases.ts'
import type { Submission } from './schema.ts'

const notFoundError = () => refuse('not_found', 'There is nothing here')
const deadLinkError = () =>
  refuse('bad_request', {
    en: 'token: is not valid any more: use the link of your latest email',
    'pt-BR': 'token: não vale mais: use o do seu e-mail mais recente',
    es: 'token: ya no es válido: usa el de tu último correo',
  })

const requiredError = (field: string) =>
  refuse('bad_request', {
    en: `${field}: is required`,
    'pt-BR': `${field}: é obrigatório`,
    es: `${field}: es obligatorio`,
  })

/** Reads the settings. Throws `not_found` if the merchant has turned reviews off. */
export async function requireSettings(ctx: Context): Promise<ReviewSettings> {
  const settings = await reviewRules.getEffective(ctx)
  if (!settings.isEnabled) throw notFoundError()
  return settings
}

type Status = 'pending' | 'approved'

/**
 * Stores a review. A review through the link of a review request is verified, and replaces an earlier review of the
 * product by its author. Refuses content that the form does not allow, and a second review of a product with the same
 * email.
 */
export async function submitReview(
  ctx: Context,
  settings: ReviewSettings,
  body: Submission,
): Promise<{ status: Status }> {
  validateSubmission(settings, body)
  const product = await findProduct(ctx, body)
  return ctx.transaction(async (tx) => {
    const purchase = body.token === undefined ? null : await findPurchaseByLink(tx, body.token, body)
    const name = body.name || truncate(purchase?.customerName ?? '', 80)
    if (!name) throw requiredError('name')
    const written: WrittenReview = {
      product,
      purchase,
      name,
      email: purchase ? purchase.email : body.email!,
      rating: body.rating,
      title: body.title || null,
      text: body.text || null,
      images: (body.imageUrls ?? []).map((url) => ({ id: tx.newId(), url })),
    }
    const known = purchase ? await findExistingReview(tx, product.productId, purchase) : null
    return known ? replaceReview(tx, settings, known, written) : insertReview(tx, settings, written)
  })
}

function validateSubmission({ form }: ReviewSettings, body: Submission): void {
  const { token, email, name, text, imageUrls = [] } = body
  if (token === undefined) {
    if (!form.allowWithoutPurchase) {
      throw refuse('forbidden', {
        en: 'Only customers can review: use the link that we sent you after your order',
        'pt-BR': 'Só clientes podem avaliar: use o link que enviamos depois do seu pedido',
        es: 'Solo los clientes pueden opinar: usa el enlace que te enviamos tras tu pedido',
      })
    }
    if (!name) throw requiredError('name')
    if (email === undefined) throw requiredError('email')
  }
  if (form.requireText && !text) throw requiredError('text')
  if (imageUrls.length > 0 && !form.allowImages) {
    throw refuse('bad_request', {
      en: 'imageUrls: pictures are not taken here',
      'pt-BR': 'imageUrls: não são aceitas aqui',
      es: 'imageUrls: no se aceptan aquí',
    })
  }
  if (imageUrls.length > form.maxImages) {
    throw refuse('bad_request', {
      en: `imageUrls: must have at most ${form.maxImages}`,
      'pt-BR': `imageUrls: no máximo ${form.maxImages}`,
      es: `imageUrls: como máximo ${form.maxImages}`,
    })
  }
}

interface Product {
  productId: string
  name: string
  imageUrl: string | null
  variantId: string | null
  variantName: string | null
}

async function findProduct(ctx: Context, { productId, ...body }: Submission): Promise<Product> {
  const variantId = body.variantId ?? null
  const snapshot = (await snapshots.find(ctx, [productId])).get(productId)
  if (!snapshot?.exists)
    throw refuse('bad_request', {
      en: 'productId: there is no such product',
      'pt-BR': 'productId: não existe',
      es: 'productId: no existe',
    })
  const variant = snapshot.variants.find((each) => each.variantId === variantId)
  if (variantId !== null && !variant) {
    throw refuse('bad_request', {
      en: 'variantId: the product has no such variant',
      'pt-BR': 'variantId: o produto não tem esta variação',
      es: 'variantId: el producto no tiene esta variante',
    })
  }
  const { name, imageUrl } = snapshot
  return { productId, name, imageUrl, variantId, variantName: variant?.name ?? null }
}

/** Finds the purchase of a request's link, and locks the link, so that concurrent uses run one after the other. */
async function findPurchaseByLink(tx: Context, token: string, body: Submission): Promise<Purchase> {
  const orderId = await findOrderByToken(tx, token, true)
  if (orderId === null) throw deadLinkError()
  const purchase = await findPurchase(tx, orderId, body.productId, body.variantId ?? null)
  if (!purchase)
    throw refuse('bad_request', {
      en: 'productId: is not part of this order',
      'pt-BR': 'productId: não faz parte deste pedido',
      es: 'productId: no es parte de este pedido',
    })
  return purchase
}

interface ExistingReview {
  id: string
  status: string
  is_proven: boolean
}

async function findExistingReview(
  tx: Context,
  productId: string,
  purchase: Purchase,
): Promise<ExistingReview | null> {
  const { orderId, email } = purchase
  const row = await tx.db
    .selectFrom('product_reviews')
    .select(['id', 'status', hasProvenAuthor('product_reviews').as('is_proven')])
    .where('product_id', '=', productId)
    .where('source', '<>', 'import')
    .where((eb) =>
      eb.or([
        eb('order_id', '=', orderId),
        ...(email ? [sql<boolean>`${emailKeySql('customer_email')} = ${emailKey(email)}`] : []),
      ]),
    )
    // Prefers the review with this email address, because the unique index allows only one per product and address.
    .orderBy(
      sql`(${emailKeySql('customer_email')} is not distinct from ${email && emailKey(email)}::text) desc`,
    )
    .orderBy('id')
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

interface WrittenReview {
  product: Product
  purchase: Purchase | null
  name: string
  email: string | null
  rating: number
  title: string | null
  text: string | null
  images: { id: string; url: string }[]
}

const chooseStatus = (settings: ReviewSettings, review: WrittenReview): Status =>
  decideStatus(
    { ...review, verified: review.purchase !== null, hasImages: review.images.length > 0 },
    settings,
  )

/** The columns with what the author wrote, and those that are derived from it. */
function buildColumns(tx: Context, review: WrittenReview, status: Status) {
  const { product, purchase, name, email, rating, title, text, images } = review
  return {
    product_name: product.name,
    product_image_url: product.imageUrl,
    variant_id: product.variantId,
    variant_name: product.variantName,
    order_id: purchase?.orderId ?? null,
    order_item_id: purchase?.orderItemId ?? null,
    order_number: purchase?.orderNumber ?? null,
    customer_name: name,
    customer_email: email,
    customer_phone: purchase?.phone ?? null,
    phone_key: purchase?.phoneKey ?? null,
    rating,
    title,
    text,
    images: JSON.stringify(images),
    status,
    rejection_reason: null,
    verified: purchase !== null,
    verified_source: purchase ? 'order' : null,
    search_text: buildReviewSearchText({ name, email, title, text, productName: product.name }),
    moderated_at: status === 'approved' ? tx.now() : null,
    moderated_by: status === 'approved' ? 'auto' : null,
    updated_at: tx.now(),
  } satisfies Partial<NewRow<'product_reviews'>>
}

/** Builds the normalized text in which a search for reviews looks for its words. */
export const buildReviewSearchText = (review: {
  name: string
  email: string | null
  title: string | null
  text: string | null
  productName: string | null
}): string => buildSearchText([review.name, review.email, review.title, review.text, review.productName])

async function insertReview(
  tx: Context,
  settings: ReviewSettings,
  review: WrittenReview,
): Promise<{ status: Status }> {
  const status = chooseStatus(settings, review)
  const id = tx.newId()
  const now = tx.now()
  const written = tx.db.insertInto('product_reviews').values({
    ...buildColumns(tx, review, status),
    id,
    product_id: review.product.productId,
    source: review.purchase ? 'request' : 'storefront',
    import_key: null,
    reply_text: null,
    reply_author: null,
    reviewed_at: now,
    created_at: now,
  })
  const once = {
    en: 'There is a review of this product by this email already',
    'pt-BR': 'Já existe uma avaliação deste produto com este e-mail',
    es: 'Ya hay una opinión sobre este producto con este correo',
  }
  await refuseDuplicate('product_reviews_once', once, () => written.execute())
  await updateRelated(tx, id, review)
  if (status === 'pending') await notifyPending(tx, id, review)
  if (!review.purchase) await queueConfirmation(tx, id, review)
  if (status === 'approved') await markStorefrontChanged(tx)
  return { status }
}

/**
 * Replaces an existing review. If its author is proven, it keeps the merchant's reply and the original date. Otherwise
 * somebody else may have written it with this email address, and it is overwritten completely: the link proves who owns
 * the address.
 */
async function replaceReview(
  tx: Context,
  settings: ReviewSettings,
  known: ExistingReview,
  review: WrittenReview,
): Promise<{ status: Status }> {
  if (known.is_proven && known.status === 'rejected')
    throw refuse('conflict', {
      en: 'This review was not published, and cannot be changed',
      'pt-BR': 'Esta avaliação não foi publicada e não pode ser alterada',
      es: 'Esta opinión no se publicó y no se puede cambiar',
    })
  const status = chooseStatus(settings, review)
  await tx.db
    .updateTable('product_reviews')
    .set({
      ...buildColumns(tx, review, status),
      source: 'request',
      ...(status === 'pending' ? { featured: false } : {}),
      ...(known.is_proven ? {} : resetModeration(tx.now())),
    })
    .where('id', '=', known.id)
    .execute()
  await updateRelated(tx, known.id, review)
  // The merchant was already notified of a review that was pending before, so that resubmitting does not notify again.
  const waits = known.is_proven && known.status === 'pending'
  if (status === 'pending' && !waits) await notifyPending(tx, known.id, review)
  if (status === 'approved' || known.status === 'approved') await markStorefrontChanged(tx)
  return { status }
}

const resetModeration = (now: Date) => ({
  featured: false,
  show_images: true,
  reply_text: null,
  reply_author: null,
  replied_at: null,
  reviewed_at: now,
  created_at: now,
})

async function updateRelated(tx: Context, id: string, review: WrittenReview): Promise<void> {
  await files.setUses(
    tx,
    fileOwner(id),
    review.images.map(({ url }, at) => ({
      url: requireUploadedUrl(tx, url, at),
      purpose: reviewImages,
      field: `imageUrls.${at}`,
    })),
  )
  if (review.purchase) await closeRequests(tx, id, review.product.productId, review.purchase)
}

/** Refuses the URL of a picture that was not uploaded to our storage. */
function requireUploadedUrl(tx: Context, url: string, at: number): string {
  if (tx.adapters.storage.owns(url)) return url
  throw refuse('bad_request', {
    en: `imageUrls.${at}: was not uploaded here`,
    'pt-BR': `imageUrls.${at}: não foi enviada por aqui`,
    es: `imageUrls.${at}: no se subió aquí`,
  })
}

async function notifyPending(
  tx: Context,
  id: string,
  { product, name, rating }: WrittenReview,
): Promise<void> {
  await notify(tx, {
    type: 'review-pending',
    level: 'info',
    title: 'A review waits for you',
    message: `${name} gave ${product.name} ${rating} of 5 stars.`,
    data: { reviewId: id, productId: product.productId, rating },
    dedupeKey: null,
  })
}

/**
 * Queues the email with the confirmation link, if the email address has bought the product. A typed address alone
 * proves nothing.
 */
async function queueConfirmation(tx: Context, id: string, { product, email }: WrittenReview): Promise<void> {
  if (email === null) return
  const purchase = await findPaidPurchase(tx, email, product.productId, product.variantId)
  if (purchase) await tx.queue(reviewConfirmEmail, { reviewId: id })
}
