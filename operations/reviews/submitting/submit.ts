/** Reviews that shoppers write. */

import { sql } from 'kysely'
import type { NewRow } from '#db/tables'
import { files, notify } from '#operations/store/door'
import { changed, snapshots } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { unlessTaken } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { cut } from '#runtime/values/cut'
import { emailKey, emailKeyOf } from '#runtime/values/email'
import { reviewConfirmEmail } from '../handles.ts'
import { reviewImages } from '../pictures.ts'
import { isProven } from '../proven.ts'
import { orderOfToken } from '../requests/links.ts'
import { ownerOf } from '../reviews/moderation.ts'
import { statusFor } from '../reviews/publishing.ts'
import type { ReviewSettings } from '../settings/schema.ts'
import { reviewRules } from '../settings/settings.ts'
import { searchText } from '../words.ts'
import { type Purchase, paidPurchaseBy, purchaseOf, settleRequests } from './purchases.ts'
import type { Submission } from './schema.ts'

const nothingHere = () => refuse('not_found', 'There is nothing here')
const deadLink = () =>
  refuse('bad_request', {
    en: 'token: is not valid any more: use the link of your latest email',
    'pt-BR': 'token: não vale mais: use o do seu e-mail mais recente',
    es: 'token: ya no es válido: usa el de tu último correo',
  })

const isRequired = (field: string) =>
  refuse('bad_request', {
    en: `${field}: is required`,
    'pt-BR': `${field}: é obrigatório`,
    es: `${field}: es obligatorio`,
  })

/** The settings where reviews are on; refused with a 404 otherwise. */
export async function openSettings(ctx: Context): Promise<ReviewSettings> {
  const settings = await reviewRules.inForce(ctx)
  if (!settings.isEnabled) throw nothingHere()
  return settings
}

type Status = 'pending' | 'approved'

/**
 * Stores a review; through the link of a request it is verified, and replaces what its author wrote before. Refuses
 * what the form does not take, and a second review of a product by one email.
 */
export async function submitReview(
  ctx: Context,
  settings: ReviewSettings,
  body: Submission,
): Promise<{ status: Status }> {
  refuseUnfit(settings, body)
  const product = await productOf(ctx, body)
  return ctx.transaction(async (tx) => {
    const purchase = body.token === undefined ? null : await purchaseByLink(tx, body.token, body)
    const name = body.name || cut(purchase?.customerName ?? '', 80)
    if (!name) throw isRequired('name')
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
    const known = purchase ? await reviewBefore(tx, product.productId, purchase) : null
    return known ? replace(tx, settings, known, written) : add(tx, settings, written)
  })
}

function refuseUnfit({ form }: ReviewSettings, body: Submission): void {
  const { token, email, name, text, imageUrls = [] } = body
  if (token === undefined) {
    if (!form.allowWithoutPurchase) {
      throw refuse('forbidden', {
        en: 'Only customers can review: use the link that we sent you after your order',
        'pt-BR': 'Só clientes podem avaliar: use o link que enviamos depois do seu pedido',
        es: 'Solo los clientes pueden opinar: usa el enlace que te enviamos tras tu pedido',
      })
    }
    if (!name) throw isRequired('name')
    if (email === undefined) throw isRequired('email')
  }
  if (form.requireText && !text) throw isRequired('text')
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

async function productOf(ctx: Context, { productId, ...body }: Submission): Promise<Product> {
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

/** Two who use one link at once take turns. */
async function purchaseByLink(tx: Context, token: string, body: Submission): Promise<Purchase> {
  const orderId = await orderOfToken(tx, token, true)
  if (orderId === null) throw deadLink()
  const purchase = await purchaseOf(tx, orderId, body.productId, body.variantId ?? null)
  if (!purchase)
    throw refuse('bad_request', {
      en: 'productId: is not part of this order',
      'pt-BR': 'productId: não faz parte deste pedido',
      es: 'productId: no es parte de este pedido',
    })
  return purchase
}

interface Known {
  id: string
  status: string
  is_proven: boolean
}

async function reviewBefore(tx: Context, productId: string, purchase: Purchase): Promise<Known | null> {
  const { orderId, email } = purchase
  const row = await tx.db
    .selectFrom('product_reviews')
    .select(['id', 'status', isProven('product_reviews').as('is_proven')])
    .where('product_id', '=', productId)
    .where('source', '<>', 'import')
    .where((eb) =>
      eb.or([
        eb('order_id', '=', orderId),
        ...(email ? [sql<boolean>`${emailKeyOf('customer_email')} = ${emailKey(email)}`] : []),
      ]),
    )
    // That of the address first: no other can get its place.
    .orderBy(
      sql`(${emailKeyOf('customer_email')} is not distinct from ${email && emailKey(email)}::text) desc`,
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

const statusOf = (settings: ReviewSettings, review: WrittenReview): Status =>
  statusFor({ ...review, verified: review.purchase !== null, hasImages: review.images.length > 0 }, settings)

/** What the author wrote, and what follows from it. */
function columnsOf(tx: Context, review: WrittenReview, status: Status) {
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
    search_text: reviewWords({ name, email, title, text, productName: product.name }),
    moderated_at: status === 'approved' ? tx.now() : null,
    moderated_by: status === 'approved' ? 'auto' : null,
    updated_at: tx.now(),
  } satisfies Partial<NewRow<'product_reviews'>>
}

/** What a search among reviews looks in. */
export const reviewWords = (review: {
  name: string
  email: string | null
  title: string | null
  text: string | null
  productName: string | null
}): string => searchText([review.name, review.email, review.title, review.text, review.productName])

async function add(
  tx: Context,
  settings: ReviewSettings,
  review: WrittenReview,
): Promise<{ status: Status }> {
  const status = statusOf(settings, review)
  const id = tx.newId()
  const now = tx.now()
  const written = tx.db.insertInto('product_reviews').values({
    ...columnsOf(tx, review, status),
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
  await unlessTaken('product_reviews_once', once, () => written.execute())
  await follow(tx, id, review)
  if (status === 'pending') await tellOfPending(tx, id, review)
  if (!review.purchase) await askForProof(tx, id, review)
  if (status === 'approved') await changed(tx)
  return { status }
}

/**
 * What its author wrote before: the reply and the day it was first written stay. What somebody else wrote under the
 * address goes, with all that was made of it: the link is the address's own.
 */
async function replace(
  tx: Context,
  settings: ReviewSettings,
  known: Known,
  review: WrittenReview,
): Promise<{ status: Status }> {
  if (known.is_proven && known.status === 'rejected')
    throw refuse('conflict', {
      en: 'This review was not published, and cannot be changed',
      'pt-BR': 'Esta avaliação não foi publicada e não pode ser alterada',
      es: 'Esta opinión no se publicó y no se puede cambiar',
    })
  const status = statusOf(settings, review)
  await tx.db
    .updateTable('product_reviews')
    .set({
      ...columnsOf(tx, review, status),
      source: 'request',
      ...(status === 'pending' ? { featured: false } : {}),
      ...(known.is_proven ? {} : untouched(tx.now())),
    })
    .where('id', '=', known.id)
    .execute()
  await follow(tx, known.id, review)
  // One that waits already was told of: a form that is sent twice is one.
  const waits = known.is_proven && known.status === 'pending'
  if (status === 'pending' && !waits) await tellOfPending(tx, known.id, review)
  if (status === 'approved' || known.status === 'approved') await changed(tx)
  return { status }
}

const untouched = (now: Date) => ({
  featured: false,
  show_images: true,
  reply_text: null,
  reply_author: null,
  replied_at: null,
  reviewed_at: now,
  created_at: now,
})

async function follow(tx: Context, id: string, review: WrittenReview): Promise<void> {
  await files.setUses(
    tx,
    ownerOf(id),
    review.images.map(({ url }, at) => ({
      url: ownPicture(tx, url, at),
      purpose: reviewImages,
      field: `imageUrls.${at}`,
    })),
  )
  if (review.purchase) await settleRequests(tx, id, review.product.productId, review.purchase)
}

/** Only what was uploaded here. */
function ownPicture(tx: Context, url: string, at: number): string {
  if (tx.adapters.storage.owns(url)) return url
  throw refuse('bad_request', {
    en: `imageUrls.${at}: was not uploaded here`,
    'pt-BR': `imageUrls.${at}: não foi enviada por aqui`,
    es: `imageUrls.${at}: no se subió aquí`,
  })
}

async function tellOfPending(
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

/** An address alone proves nothing: where it bought the product, a link is mailed to it. */
async function askForProof(tx: Context, id: string, { product, email }: WrittenReview): Promise<void> {
  if (email === null) return
  const purchase = await paidPurchaseBy(tx, email, product.productId, product.variantId)
  if (purchase) await tx.queue(reviewConfirmEmail, { reviewId: id })
}
