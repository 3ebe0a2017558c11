/** The form behind the link of a request: what can be reviewed, as JSON, or as a plain page for a person. */
import { escaped, isAmong } from '#operations/store/door'
import { type FormAgain, type PeopleWords, shopperPage, snapshots, trap } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { cut } from '#runtime/values/cut'
import { Filled, hidden } from '#runtime/values/filled'
import { renderText } from '#runtime/values/variables'
import { said, spoken } from '#runtime/values/wording'
import { orderOfToken } from '../requests/links.ts'
import type { ReviewSettings } from '../settings/schema.ts'
import { openSettings } from './submit.ts'

interface FormItem {
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
  email: { en: 'Your email', 'pt-BR': 'Seu e-mail', es: 'Tu correo' },
  yourReview: { en: 'Your review', 'pt-BR': 'Sua avaliação', es: 'Tu valoración' },
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

interface Written {
  productId: string
  variantId: string | null
  /** Of the product. */
  heading: string
  /** Above the fields. */
  note?: string
  /** Of the customer, to begin with. */
  name?: string | null
  /** Null: who writes says an email instead. */
  token: string | null
  requireText: boolean
}

const actionOf = (ctx: Context): string => `/storefront/${ctx.store.publicId}/reviews`

/** One form for each item, without scripts. `sent`: one of them, where it was refused. */
export function formPage(
  ctx: Context,
  { storeName, name, items, form: { requireText } }: RequestForm,
  token: string,
  sent = new Filled(),
): Response {
  const { again, order } = spoken(words, ctx.store.locale)
  const forms = items.map(({ productId, variantId, name: heading, isReviewed }, at) => {
    const note = isReviewed ? { note: again } : {}
    return formFor(ctx, sent, { productId, variantId, heading, name, token, requireText, ...note }, at)
  })
  const { text } = renderText(order, { store: storeName })
  return shopperPage(ctx.store.locale, text, sent.above() + forms.join(''))
}

/** Without an order: nothing but the product is known. */
async function openPage(ctx: Context, { form }: ReviewSettings, sent: Filled): Promise<Response> {
  const { productId = '', variantId = null } = sent.fields
  const product = (await snapshots.find(ctx, [productId])).get(productId)
  const heading = product?.name ?? ''
  const { requireText } = form
  const drawn = formFor(ctx, sent, { productId, variantId, heading, token: null, requireText }, 0)
  return shopperPage(ctx.store.locale, said(words.yourReview, ctx.store.locale), sent.above() + drawn)
}

/** The form of an order's product as long as its link holds, and one without an order otherwise. */
export const reviewAgain: FormAgain = {
  async draw(ctx, _visit, filled) {
    const settings = await openSettings(ctx)
    const { token = '', productId } = filled.fields
    const form = await formOf(ctx, settings, token)
    return form?.items.some((item) => item.productId === productId)
      ? formPage(ctx, form, token, filled)
      : openPage(ctx, settings, filled)
  },
}

/** `at`: of several on a page. */
function formFor(ctx: Context, sent: Filled, written: Written, at: number): string {
  const { productId, variantId, heading, note, name, token, requireText } = written
  const text = spoken(words, ctx.store.locale)
  const action = actionOf(ctx)
  const form = sent.of(action, { productId })
  const field = (its: string) => ({ name: its, id: `${its}-${at}` })
  const stars = [5, 4, 3, 2, 1].map((n) => ({ value: String(n), label: `${n} ${'★'.repeat(n)}` }))
  return (
    (heading ? `<h2>${escaped(heading)}</h2>` : '') +
    form.form(
      ` action="${escaped(action)}"`,
      (note ? `<p>${escaped(note)}</p>` : '') +
        (token === null ? '' : hidden('token', token)) +
        hidden('productId', productId) +
        (variantId === null ? '' : hidden('variantId', variantId)) +
        trap +
        form.select({ ...field('rating'), label: text.rating, more: 'required' }, [
          { value: '', label: text.choose },
          ...stars,
        ]) +
        form.input({ ...field('title'), label: text.title, more: 'maxlength="150" autocomplete="off"' }) +
        form.textarea({
          ...field('text'),
          label: text.opinion,
          more: `maxlength="5000" rows="5"${requireText ? ' required' : ''}`,
        }) +
        form.input({
          ...field('name'),
          label: text.name,
          first: cut(name ?? '', 80),
          more: 'required maxlength="80" autocomplete="name"',
        }) +
        (token === null
          ? form.input({
              ...field('email'),
              label: text.email,
              more: 'type="email" required maxlength="254" autocomplete="email"',
            })
          : '') +
        `<button>${escaped(text.send)}</button>`,
    )
  )
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
    email: words.email,
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
