/** Builds the review form that a review request's link opens: as JSON for scripts, or as an HTML page without scripts. */
import { escapeHtml, isAmong } from '#operations/store/index'
import {
  type FormPage,
  honeypot,
  renderShopperPage,
  type ShopperTexts,
  snapshots,
} from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { FormRenderer, renderHidden } from '#runtime/values/form-renderer'
import { truncate } from '#runtime/values/truncate'
import { renderText } from '#runtime/values/variables'
import { getText, getTexts } from '#runtime/values/wording'
import { findOrderByToken } from '../requests/links.ts'
import type { ReviewSettings } from '../settings/schema.ts'
import { requireSettings } from './submit.ts'

interface FormItem {
  productId: string
  variantId: string | null
  name: string
  imageUrl: string | null
  isReviewed: boolean
}

export interface RequestForm {
  storeName: string
  /** The customer's name, with which the form is filled. */
  name: string | null
  items: FormItem[]
  form: Pick<ReviewSettings['form'], 'allowImages' | 'maxImages' | 'requireText'>
}

/**
 * Finds the products of the token's order, each once, because variants share a review. Null if the token is unknown or
 * expired.
 */
export async function findRequestForm(
  ctx: Context,
  { form }: ReviewSettings,
  token: string,
): Promise<RequestForm | null> {
  const orderId = await findOrderByToken(ctx, token)
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

interface FormOptions {
  productId: string
  variantId: string | null
  /** The product's name. */
  heading: string
  /** A text above the fields. */
  note?: string
  /** The customer's name, with which the form is filled. */
  name?: string | null
  /** The token of the request's link. Null for a form without an order, which asks for an email. */
  token: string | null
  requireText: boolean
}

const buildFormAction = (ctx: Context): string => `/storefront/${ctx.store.publicId}/reviews`

/** Renders the page, with one form per item. `sent` is the submitted form, if it was refused. */
export function renderFormPage(
  ctx: Context,
  { storeName, name, items, form: { requireText } }: RequestForm,
  token: string,
  sent = new FormRenderer(),
): Response {
  const { again, order } = getTexts(words, ctx.store.locale)
  const forms = items.map(({ productId, variantId, name: heading, isReviewed }, at) => {
    const note = isReviewed ? { note: again } : {}
    return renderForm(ctx, sent, { productId, variantId, heading, name, token, requireText, ...note }, at)
  })
  const { text } = renderText(order, { store: storeName })
  return renderShopperPage(ctx.store.locale, text, sent.renderUnshown() + forms.join(''))
}

/** Renders the page for a review without an order, of which only the product is known. */
async function renderOpenPage(ctx: Context, { form }: ReviewSettings, sent: FormRenderer): Promise<Response> {
  const { productId = '', variantId = null } = sent.fields
  const product = (await snapshots.find(ctx, [productId])).get(productId)
  const heading = product?.name ?? ''
  const { requireText } = form
  const drawn = renderForm(ctx, sent, { productId, variantId, heading, token: null, requireText }, 0)
  return renderShopperPage(
    ctx.store.locale,
    getText(words.yourReview, ctx.store.locale),
    sent.renderUnshown() + drawn,
  )
}

/** Renders a refused form again: for the order's product while the link is valid, otherwise without an order. */
export const reviewAgain: FormPage = {
  async draw(ctx, _visit, filled) {
    const settings = await requireSettings(ctx)
    const { token = '', productId } = filled.fields
    const form = await findRequestForm(ctx, settings, token)
    return form?.items.some((item) => item.productId === productId)
      ? renderFormPage(ctx, form, token, filled)
      : renderOpenPage(ctx, settings, filled)
  },
}

/** Renders a form. `at` is its index on the page, which makes the ids of its fields unique. */
function renderForm(ctx: Context, sent: FormRenderer, written: FormOptions, at: number): string {
  const { productId, variantId, heading, note, name, token, requireText } = written
  const text = getTexts(words, ctx.store.locale)
  const action = buildFormAction(ctx)
  const form = sent.forAddress(action, { productId })
  const field = (its: string) => ({ name: its, id: `${its}-${at}` })
  const stars = [5, 4, 3, 2, 1].map((n) => ({ value: String(n), label: `${n} ${'★'.repeat(n)}` }))
  return (
    (heading ? `<h2>${escapeHtml(heading)}</h2>` : '') +
    form.form(
      ` action="${escapeHtml(action)}"`,
      (note ? `<p>${escapeHtml(note)}</p>` : '') +
        (token === null ? '' : renderHidden('token', token)) +
        renderHidden('productId', productId) +
        (variantId === null ? '' : renderHidden('variantId', variantId)) +
        honeypot +
        form.select({ ...field('rating'), label: text.rating, attributes: 'required' }, [
          { value: '', label: text.choose },
          ...stars,
        ]) +
        form.input({
          ...field('title'),
          label: text.title,
          attributes: 'maxlength="150" autocomplete="off"',
        }) +
        form.textarea({
          ...field('text'),
          label: text.opinion,
          attributes: `maxlength="5000" rows="5"${requireText ? ' required' : ''}`,
        }) +
        form.input({
          ...field('name'),
          label: text.name,
          initial: truncate(name ?? '', 80),
          attributes: 'required maxlength="80" autocomplete="name"',
        }) +
        (token === null
          ? form.input({
              ...field('email'),
              label: text.email,
              attributes: 'type="email" required maxlength="254" autocomplete="email"',
            })
          : '') +
        `<button>${escapeHtml(text.send)}</button>`,
    )
  )
}

export function renderSentPage(ctx: Context): Response {
  const { thanks, received } = getTexts(words, ctx.store.locale)
  return renderShopperPage(ctx.store.locale, thanks, `<p>${escapeHtml(received)}</p>`)
}

/** The texts of the pages that shoppers see if their form is refused or their link is not valid. */
export const reviewPeople: ShopperTexts = {
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
