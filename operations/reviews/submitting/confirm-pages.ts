/** Renders the pages that the confirmation link of a review opens. */
import { escapeHtml } from '#operations/store/index'
import { renderShopperPage } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { object, z } from '#runtime/schema'
import { renderText } from '#runtime/values/variables'
import { getTexts } from '#runtime/values/wording'
import type { Unconfirmed } from './confirm.ts'

export const confirmQuery = object({ token: z.string().min(1).max(200) })

const words = {
  wasItYou: { en: 'Was it you?', 'pt-BR': 'Foi você?', es: '¿Fuiste tú?' },
  confirm: {
    en: 'Confirm that you wrote the review of {{product}}.',
    'pt-BR': 'Confirme que você escreveu a avaliação de {{product}}.',
    es: 'Confirma que escribiste la opinión sobre {{product}}.',
  },
  product: { en: 'a product', 'pt-BR': 'um produto', es: 'un producto' },
  yes: { en: 'Yes, it was me', 'pt-BR': 'Sim, fui eu', es: 'Sí, fui yo' },
  thanks: { en: 'Thank you', 'pt-BR': 'Obrigado', es: 'Gracias' },
  confirmed: {
    en: 'Your review is confirmed. You can close this page.',
    'pt-BR': 'Sua avaliação está confirmada. Você pode fechar esta página.',
    es: 'Tu opinión está confirmada. Puedes cerrar esta página.',
  },
}

/**
 * Renders a page with a button that confirms the review. Opening the link does not confirm it, because mail scanners
 * open links.
 */
export function renderConfirmPage(ctx: Context, { productName }: Unconfirmed): Response {
  const { wasItYou, confirm, product, yes } = getTexts(words, ctx.store.locale)
  const { text } = renderText(confirm, { product: productName ?? product })
  const form = `<form method="post"><button>${escapeHtml(yes)}</button></form>`
  return renderShopperPage(ctx.store.locale, wasItYou, `<p>${escapeHtml(text)}</p>${form}`)
}

export function renderConfirmedPage(ctx: Context): Response {
  const { thanks, confirmed } = getTexts(words, ctx.store.locale)
  return renderShopperPage(ctx.store.locale, thanks, `<p>${escapeHtml(confirmed)}</p>`)
}
