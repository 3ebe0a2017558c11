/** Where a shopper begins: a form that looks an order up. Plain, no scripts. */
import { escaped } from '#operations/store/door'
import { trap } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { Filled, hidden } from '#runtime/values/filled'
import { spoken } from '#runtime/values/wording'
import type { ExchangeContent } from '../settings/schema.ts'
import { kept } from './forms.ts'
import { exchangePage, pagesBase, paragraphs, policyOf, requestsAction } from './page-words.ts'

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

export function lookupPage(ctx: Context, { texts }: ExchangeContent, sent = new Filled()): Response {
  const words = spoken(pageWords, ctx.store.locale)
  const action = `${pagesBase(ctx)}/lookup`
  const form = sent.of(action)
  const along = keptFields(ctx, sent)
  const drawn = form.form(
    ` action="${escaped(action)}"`,
    trap +
      along.join('') +
      form.input({
        name: 'orderNumber',
        label: words.orderNumber,
        more: 'required maxlength="60" autocomplete="off" autocapitalize="characters" spellcheck="false"',
      }) +
      form.input({
        name: 'contact',
        label: words.contact,
        more: 'required maxlength="254" autocomplete="email" inputmode="email" autocapitalize="none" spellcheck="false"',
      }) +
      `<button>${escaped(words.find)}</button>`,
  )
  const body =
    sent.above() +
    (along.length > 0 ? `<p>${escaped(words.kept)}</p>` : '') +
    paragraphs(texts.intro) +
    drawn +
    policyOf(ctx, texts.policy)
  return exchangePage(ctx, texts.pageTitle, body)
}

/** A request whose lookup has expired goes along, and is not lost. */
function keptFields(ctx: Context, sent: Filled): string[] {
  const isRequest = sent.of(requestsAction(ctx)).isSent
  return Object.entries(sent.fields).flatMap(([name, value]) => {
    if (name.startsWith(kept)) return hidden(name, value)
    return isRequest && name !== 'sessionToken' && value !== '' ? hidden(kept + name, value) : []
  })
}
