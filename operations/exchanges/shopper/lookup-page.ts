/** The first page: a form to look up an order. Plain HTML without scripts. */
import { escapeHtml } from '#operations/store/index'
import { honeypot } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { FormRenderer, renderHidden } from '#runtime/values/form-renderer'
import { getTexts } from '#runtime/values/wording'
import type { ExchangeContent } from '../settings/schema.ts'
import { keptPrefix } from './forms.ts'
import {
  pagesBase,
  renderExchangePage,
  renderParagraphs,
  renderPolicy,
  requestsAction,
} from './page-words.ts'

const pageWords = {
  orderNumber: { en: 'Order number', 'pt-BR': 'Número do pedido', es: 'Número de pedido' },
  contact: {
    en: 'Email or phone of the order',
    'pt-BR': 'E-mail ou telefone do pedido',
    es: 'Correo o teléfono del pedido',
  },
  find: { en: 'Find my order', 'pt-BR': 'Encontrar meu pedido', es: 'Buscar mi pedido' },
  kept: {
    en: 'What you filled in is kept: it is there again once your order is found.',
    'pt-BR': 'O que você preencheu está guardado e volta a aparecer assim que encontrarmos o pedido.',
    es: 'Lo que has rellenado se conserva: volverá a aparecer cuando se encuentre el pedido.',
  },
}

export function renderLookupPage(
  ctx: Context,
  { texts }: ExchangeContent,
  sent = new FormRenderer(),
): Response {
  const words = getTexts(pageWords, ctx.store.locale)
  const action = `${pagesBase(ctx)}/lookup`
  const form = sent.forAddress(action)
  const along = keptFields(ctx, sent)
  const drawn = form.form(
    ` action="${escapeHtml(action)}"`,
    honeypot +
      along.join('') +
      form.input({
        name: 'orderNumber',
        label: words.orderNumber,
        attributes:
          'required maxlength="60" autocomplete="off" autocapitalize="characters" spellcheck="false"',
      }) +
      form.input({
        name: 'contact',
        label: words.contact,
        attributes:
          'required maxlength="254" autocomplete="email" inputmode="email" autocapitalize="none" spellcheck="false"',
      }) +
      `<button>${escapeHtml(words.find)}</button>`,
  )
  const body =
    sent.renderUnshown() +
    (along.length > 0 ? `<p>${escapeHtml(words.kept)}</p>` : '') +
    renderParagraphs(texts.intro) +
    drawn +
    renderPolicy(ctx, texts.policy)
  return renderExchangePage(ctx, texts.pageTitle, body)
}

/** Hidden fields that keep a filled-in request form while the shopper looks the order up again. */
function keptFields(ctx: Context, sent: FormRenderer): string[] {
  const isRequest = sent.forAddress(requestsAction(ctx)).isSubmitted
  return Object.entries(sent.fields).flatMap(([name, value]) => {
    if (name.startsWith(keptPrefix)) return renderHidden(name, value)
    return isRequest && name !== 'sessionToken' && value !== '' ? renderHidden(keptPrefix + name, value) : []
  })
}
