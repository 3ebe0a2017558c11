/** The form behind the link of a request: what can be reviewed, as JSON, or as a plain page for a person. */
import { escaped, isAmong } from '#operations/store/door'
import { type PeopleWords, shopperPage } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { renderText } from '#runtime/values/variables'
import { spoken } from '#runtime/values/wording'
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

const words = {
  order: { en: 'Your order at {{store}}', 'pt-BR': 'Seu pedido em {{store}}', es: 'Tu pedido en {{store}}' },
  again: {
    en: 'You have reviewed it: sending again replaces what you wrote.',
    'pt-BR': 'Você já avaliou: enviar de novo substitui o que você escreveu.',
    es: 'Ya lo has valorado: si lo envías otra vez, se sustituye lo que escribiste.',
  },
  rating: { en: 'Your rating', 'pt-BR': 'Sua nota', es: 'Tu valoración' },
  choose: { en: 'Choose', 'pt-BR': 'Escolha', es: 'Elige' },
  title: { en: 'Title', 'pt-BR': 'Título', es: 'Título' },
  opinion: { en: 'Your opinion', 'pt-BR': 'Sua opinião', es: 'Tu opinión' },
  name: { en: 'Your name', 'pt-BR': 'Seu nome', es: 'Tu nombre' },
  send: { en: 'Send the review', 'pt-BR': 'Enviar a avaliação', es: 'Enviar la opinión' },
  thanks: {
    en: 'Thank you for your review',
    'pt-BR': 'Obrigado pela sua avaliação',
    es: 'Gracias por tu opinión',
  },
  received: {
    en: 'It was received. You can close this page.',
    'pt-BR': 'Nós a recebemos. Você pode fechar esta página.',
    es: 'La hemos recibido. Puedes cerrar esta página.',
  },
}

/** One form for each item, without scripts. */
export function formPage(
  ctx: Context,
  { storeName, name, items, form }: RequestForm,
  token: string,
): Response {
  const { again, rating, choose, title, opinion, name: yours, send, order } = spoken(words, ctx.store.locale)
  const action = `/storefront/${ctx.store.publicId}/reviews`
  const stars = [5, 4, 3, 2, 1].map((n) => `<option value="${n}">${n} ${'★'.repeat(n)}</option>`).join('')
  const forms = items.map(
    ({ productId, variantId, name: product, isReviewed }) =>
      `<form method="post" action="${escaped(action)}"><h2>${escaped(product)}</h2>` +
      (isReviewed ? `<p>${escaped(again)}</p>` : '') +
      `<input type="hidden" name="token" value="${escaped(token)}">` +
      `<input type="hidden" name="productId" value="${escaped(productId)}">` +
      (variantId === null ? '' : `<input type="hidden" name="variantId" value="${escaped(variantId)}">`) +
      '<div hidden><input name="website" tabindex="-1" autocomplete="off"></div>' +
      `<label>${escaped(rating)}<select name="rating" required><option value="">${escaped(choose)}</option>${stars}</select></label>` +
      `<label>${escaped(title)}<input name="title" maxlength="150" autocomplete="off"></label>` +
      `<label>${escaped(opinion)}<textarea name="text" maxlength="5000" rows="5"${form.requireText ? ' required' : ''}></textarea></label>` +
      `<label>${escaped(yours)}<input name="name" required maxlength="80" autocomplete="name" value="${escaped((name ?? '').slice(0, 80))}"></label>` +
      `<button>${escaped(send)}</button></form>`,
  )
  const { text } = renderText(order, { store: storeName })
  return shopperPage(ctx.store.locale, text, forms.join(''))
}

export function sentPage(ctx: Context): Response {
  const { thanks, received } = spoken(words, ctx.store.locale)
  return shopperPage(ctx.store.locale, thanks, `<p>${escaped(received)}</p>`)
}

/** What is refused: with the names of the form's fields. */
export const reviewPeople: PeopleWords = {
  refused: {
    en: 'The review could not be sent',
    'pt-BR': 'Não foi possível enviar a avaliação',
    es: 'No se pudo enviar la opinión',
  },
  fields: {
    rating: words.rating,
    title: words.title,
    text: words.opinion,
    name: words.name,
    email: { en: 'Your email', 'pt-BR': 'Seu e-mail', es: 'Tu correo' },
    imageUrls: { en: 'Pictures', 'pt-BR': 'Imagens', es: 'Imágenes' },
    productId: { en: 'Product', 'pt-BR': 'Produto', es: 'Producto' },
    variantId: { en: 'Variant', 'pt-BR': 'Variação', es: 'Variante' },
    token: { en: 'Link', 'pt-BR': 'Link', es: 'Enlace' },
  },
  missing: {
    title: {
      en: 'This link is not valid any more',
      'pt-BR': 'Este link não vale mais',
      es: 'Este enlace ya no es válido',
    },
    text: {
      en: 'Look whether it is complete, or use the one in your latest email.',
      'pt-BR': 'Verifique se ele está completo, ou use o do seu e-mail mais recente.',
      es: 'Comprueba que esté completo, o usa el de tu último correo.',
    },
  },
}
