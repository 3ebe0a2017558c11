/** Responses to a shopper's form: a redirect, or for a refused form the page again with the entered values. */
import type { FormPage, Visit } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { jsonAnswer } from '#runtime/page'
import { FormRenderer } from '#runtime/values/form-renderer'
import { readOrder } from '../requests/read-order.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import { toFormField } from './forms.ts'
import { renderLookupPage } from './lookup-page.ts'
import { buildOffer } from './offer.ts'
import { renderOrderPage } from './order-page.ts'
import { requestsAction } from './page-words.ts'
import { readSession } from './session.ts'
import { renderStatusPage } from './status-page.ts'
import { listChoices } from './variants.ts'
import { findView } from './view.ts'
import { pageNotFound, whileEnabled } from './while-enabled.ts'

/** Redirects to the page, so that a reload does not resubmit. */
export const redirectTo = (location: string): Response =>
  new Response(null, { status: 303, headers: { location } })

/** The response to a shopper's action: a redirect to the status page for a form, else the changed request as JSON. */
export async function answerAfterAction(
  ctx: Context,
  visit: Visit,
  settings: ExchangeContent,
): Promise<Response> {
  const token = visit.params.statusToken!
  if (visit.isForm) return redirectTo(`${requestsAction(ctx)}/${encodeURIComponent(token)}`)
  return jsonAnswer(await findView(ctx, settings, token))
}

export const lookupRedraw: FormPage = {
  draw: (ctx, _visit, filled) =>
    whileEnabled(ctx, async (settings) => renderLookupPage(ctx, settings, filled)),
}

/**
 * Shows the order page with the refused request form. If the lookup's session has expired, shows the lookup page and
 * nothing of the order.
 */
export const requestRedraw: FormPage = {
  toFieldName: toFormField,
  draw: (ctx, _visit, filled) =>
    whileEnabled(ctx, async (settings) => {
      const sessionToken = filled.fields.sessionToken ?? ''
      const id = readSession(ctx, sessionToken)
      const order = id === null ? null : await readOrder(ctx, { id })
      if (!order) return renderLookupPage(ctx, settings, filled)
      const offer = await buildOffer(ctx, settings, order)
      const variants = await listChoices(ctx, order, settings, order.items)
      return renderOrderPage(ctx, settings, { offer, sessionToken, variants, filled })
    }),
}

/** Restores the request form that the shopper had filled in before looking the order up again; empty if there was none. */
export const restoreForm = (ctx: Context, fields: Readonly<Record<string, string>>): FormRenderer =>
  new FormRenderer(
    Object.keys(fields).length === 0
      ? null
      : { address: requestsAction(ctx), fields, issues: [], locale: ctx.store.locale },
  )

export const statusRedraw: FormPage = {
  draw: (ctx, { params }, filled) =>
    whileEnabled(ctx, async (settings) => {
      const view = await findView(ctx, settings, params.statusToken!)
      if (!view) throw pageNotFound()
      return renderStatusPage(ctx, view, params.statusToken!, filled)
    }),
}
