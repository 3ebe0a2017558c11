/** What the page behind an unsubscribe link says. */
import { escaped } from '#operations/store/door'
import { type PeopleWords, shopperPage } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { object, z } from '#runtime/schema'
import { renderText } from '#runtime/values/variables'
import { said } from '#runtime/values/wording'
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

const noMore = (ctx: Context): string => {
  const { name, locale } = ctx.store
  return `<p>${escaped(renderText(said(words.noMore, locale), { store: name }).text)}</p>`
}

export function leavePage(ctx: Context): Response {
  const { locale } = ctx.store
  const word = escaped(said(unsubscribes.word, locale))
  const form = `<form method="post"><button>${word}</button></form>`
  return shopperPage(locale, said(unsubscribes.word, locale), noMore(ctx) + form)
}

export const leftPage = (ctx: Context): Response =>
  shopperPage(ctx.store.locale, said(words.left, ctx.store.locale), noMore(ctx))

export const unsubscribePeople: PeopleWords = {
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

/** Whose emails the link leaves; refuses (404) a forged one. */
export function leavingOf(ctx: Context, token: string): unsubscribes.Leaving {
  const leaving = unsubscribes.read(ctx, token)
  if (!leaving) throw refuse('not_found', 'This link does not work')
  return leaving
}
