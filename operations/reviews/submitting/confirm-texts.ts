/** The pages behind the link that confirms a review. */
import { escaped } from '#operations/store/door'
import { shopperPage } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { object, z } from '#runtime/schema'
import { renderText } from '#runtime/values/variables'
import { spoken } from '#runtime/values/wording'
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

/** A button: following the link alone, as mail scanners do, changes nothing. */
export function confirmPage(ctx: Context, { productName }: Unconfirmed): Response {
  const { wasItYou, confirm, product, yes } = spoken(words, ctx.store.locale)
  const { text } = renderText(confirm, { product: productName ?? product })
  const form = `<form method="post"><button>${escaped(yes)}</button></form>`
  return shopperPage(ctx.store.locale, wasItYou, `<p>${escaped(text)}</p>${form}`)
}

export function confirmedPage(ctx: Context): Response {
  const { thanks, confirmed } = spoken(words, ctx.store.locale)
  return shopperPage(ctx.store.locale, thanks, `<p>${escaped(confirmed)}</p>`)
}
