/** Pages and texts of the unsubscribe link. */
import { escapeHtml } from '#operations/store/index'
import { renderShopperPage, type ShopperTexts } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { object, z } from '#runtime/schema'
import { renderText } from '#runtime/values/variables'
import { getText } from '#runtime/values/wording'
import * as unsubscribes from './unsubscribes.ts'

export const unsubscribeQuery = object({ token: z.string().min(1).max(2000) })

const words = {
  left: {
    en: 'You are unsubscribed',
    'pt-BR': 'Sua inscrição foi cancelada',
    es: 'Tu suscripción está cancelada',
  },
  noMore: {
    en: 'You will get no more of these emails from {{store}}.',
    'pt-BR': 'Você não receberá mais estes e-mails de {{store}}.',
    es: 'No recibirás más correos de este tipo de {{store}}.',
  },
}

const renderNotice = (ctx: Context): string => {
  const { name, locale } = ctx.store
  return `<p>${escapeHtml(renderText(getText(words.noMore, locale), { store: name }).text)}</p>`
}

export function renderUnsubscribePage(ctx: Context): Response {
  const { locale } = ctx.store
  const word = escapeHtml(getText(unsubscribes.linkLabel, locale))
  const form = `<form method="post"><button>${word}</button></form>`
  return renderShopperPage(locale, getText(unsubscribes.linkLabel, locale), renderNotice(ctx) + form)
}

export const renderUnsubscribedPage = (ctx: Context): Response =>
  renderShopperPage(ctx.store.locale, getText(words.left, ctx.store.locale), renderNotice(ctx))

export const unsubscribePeople: ShopperTexts = {
  missing: {
    title: {
      en: 'This link does not work',
      'pt-BR': 'Este link não funciona',
      es: 'Este enlace no funciona',
    },
    text: {
      en: 'Look whether it is complete.',
      'pt-BR': 'Verifique se ele está completo.',
      es: 'Comprueba que esté completo.',
    },
  },
}

/** Returns the target of an unsubscribe link. Refuses (404) a forged token. */
export function requireUnsubscribeTarget(ctx: Context, token: string): unsubscribes.UnsubscribeTarget {
  const leaving = unsubscribes.parseToken(ctx, token)
  if (!leaving) throw refuse('not_found', 'This link does not work')
  return leaving
}
