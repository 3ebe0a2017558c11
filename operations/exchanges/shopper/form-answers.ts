/** What a shopper's form is answered: the way on, or its page again, as it was filled in, where something was refused. */
import type { FormAgain, Visit } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { jsonAnswer } from '#runtime/page'
import { Filled } from '#runtime/values/filled'
import type { ExchangeContent } from '../settings/schema.ts'
import { fieldInForm } from './forms.ts'
import { lookupPage } from './lookup-page.ts'
import { offerOf } from './offer.ts'
import { nothingHere, whileOpen } from './open-page.ts'
import { orderPage } from './order-page.ts'
import { requestsAction } from './page-words.ts'
import { readOrder } from './read-order.ts'
import { openOrder } from './session.ts'
import { statusPage } from './status-page.ts'
import { choices } from './variants.ts'
import { findView } from './view.ts'

/** To the page, so that loading it again sends nothing again. */
export const seeOther = (location: string): Response =>
  new Response(null, { status: 303, headers: { location } })

/** After a move: the request as it is then, or the way back to its page. */
export async function answerAfter(ctx: Context, visit: Visit, settings: ExchangeContent): Promise<Response> {
  const token = visit.params.statusToken!
  if (visit.isForm) return seeOther(`${requestsAction(ctx)}/${encodeURIComponent(token)}`)
  return jsonAnswer(await findView(ctx, settings, token))
}

export const lookupAgain: FormAgain = {
  draw: (ctx, _visit, filled) => whileOpen(ctx, async (settings) => lookupPage(ctx, settings, filled)),
}

/** Where the lookup has expired nothing of the order is shown: it is looked up again first. */
export const requestAgain: FormAgain = {
  nameOf: fieldInForm,
  draw: (ctx, _visit, filled) =>
    whileOpen(ctx, async (settings) => {
      const sessionToken = filled.fields.sessionToken ?? ''
      const id = openOrder(ctx, sessionToken)
      const order = id === null ? null : await readOrder(ctx, { id })
      if (!order) return lookupPage(ctx, settings, filled)
      const offer = await offerOf(ctx, settings, order)
      const variants = await choices(ctx, order, settings, order.items)
      return orderPage(ctx, settings, { offer, sessionToken, variants, filled })
    }),
}

/** A request's form that was filled in before its order was looked up again; new where there is none. */
export const filledBefore = (ctx: Context, fields: Readonly<Record<string, string>>): Filled =>
  new Filled(
    Object.keys(fields).length === 0
      ? null
      : { address: requestsAction(ctx), fields, faults: [], locale: ctx.store.locale },
  )

export const statusAgain: FormAgain = {
  draw: (ctx, { params }, filled) =>
    whileOpen(ctx, async (settings) => {
      const view = await findView(ctx, settings, params.statusToken!)
      if (!view) throw nothingHere()
      return statusPage(ctx, view, params.statusToken!, filled)
    }),
}
