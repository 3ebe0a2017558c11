/** The form behind the link of a request: what can be reviewed, as JSON, or as a plain page for a person. */
import { escaped, htmlAnswer, isAmong } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { type Refusal, statusOf } from '#runtime/errors'
import { orderOfToken } from '../requests/links.ts'
import type { ReviewSettings } from '../settings/schema.ts'

export interface FormItem {
  productId: string
  variantId: string | null
  name: string
  imageUrl: string | null
  isReviewed: boolean
}

export interface RequestForm {
  storeName: string
  /** The customer's own, to begin with. */
  name: string | null
  items: FormItem[]
  form: Pick<ReviewSettings['form'], 'allowImages' | 'maxImages' | 'requireText'>
}

/** The products of the token's order, each once: it has one review, whatever the variants. Null where the token is unknown or past its time. */
export async function formOf(
  ctx: Context,
  { form }: ReviewSettings,
  token: string,
): Promise<RequestForm | null> {
  const orderId = await orderOfToken(ctx, token)
  if (orderId === null) return null
  const lines = await ctx.db
    .selectFrom('order_items as i')
    .innerJoin('orders as o', 'o.id', 'i.order_id')
    .select(['i.product_id', 'i.variant_id', 'i.name', 'i.image_url', 'o.customer_name', 'o.customer_email'])
    .where('i.order_id', '=', orderId)
    .where('i.product_id', 'is not', null)
    .orderBy('i.position')
    .execute()
  const items = [...new Map([...lines].reverse().map((line) => [line.product_id, line])).values()].reverse()
  const productIds = items.map((item) => item.product_id!)
  const reviews = await ctx.db
    .selectFrom('product_reviews')
    .select(['product_id', 'order_id'])
    .where(isAmong('product_id', productIds))
    .where('order_id', '=', orderId)
    .execute()
  const reviewed = new Set(reviews.map((row) => row.product_id))
  const { allowImages, maxImages, requireText } = form
  return {
    storeName: ctx.store.name,
    name: items[0]?.customer_name ?? null,
    items: items.map((item) => ({
      productId: item.product_id!,
      variantId: item.variant_id,
      name: item.name,
      imageUrl: item.image_url,
      isReviewed: reviewed.has(item.product_id!),
    })),
    form: { allowImages, maxImages, requireText },
  }
}

/** One form for each item, without scripts. */
export function formPage(
  ctx: Context,
  { storeName, name, items, form }: RequestForm,
  token: string,
): Response {
  const action = `/storefront/${ctx.store.publicId}/reviews`
  const stars = [5, 4, 3, 2, 1].map((n) => `<option value="${n}">${'★'.repeat(n)}</option>`).join('')
  const forms = items.map(
    ({ productId, variantId, name: product, isReviewed }) =>
      `<form method="post" action="${escaped(action)}"><h2>${escaped(product)}</h2>` +
      (isReviewed ? '<p>You have reviewed it: sending again replaces what you wrote.</p>' : '') +
      `<input type="hidden" name="token" value="${escaped(token)}">` +
      `<input type="hidden" name="productId" value="${escaped(productId)}">` +
      (variantId === null ? '' : `<input type="hidden" name="variantId" value="${escaped(variantId)}">`) +
      '<div hidden><input name="website" tabindex="-1" autocomplete="off"></div>' +
      `<label>Your rating<select name="rating">${stars}</select></label>` +
      `<label>Title<input name="title" maxlength="150"></label>` +
      `<label>Your opinion<textarea name="text" maxlength="5000" rows="5"${form.requireText ? ' required' : ''}></textarea></label>` +
      `<label>Your name<input name="name" required maxlength="80" value="${escaped((name ?? '').slice(0, 80))}"></label>` +
      '<button>Send the review</button></form>',
  )
  return htmlAnswer(`Your order at ${storeName}`, forms.join(''), 200, {
    moreStyle: 'textarea{width:100%;box-sizing:border-box;font:inherit;padding:.5rem}',
  })
}

export const sentPage = (): Response =>
  htmlAnswer('Thank you for your review', '<p>It was received. You can close this page.</p>')

export const deadLinkPage = (): Response =>
  htmlAnswer(
    'This link is not valid any more',
    '<p>Look whether it is complete, or use the one in your latest email.</p>',
    404,
  )

/** What the form did not take, in its words. */
export const refusedPage = ({ code, message }: Refusal): Response =>
  htmlAnswer(
    'The review could not be sent',
    `<p>${escaped(message.replace(/^[a-zA-Z]+: /, ''))}.</p><p>Go back, and try again.</p>`,
    statusOf(code),
  )
