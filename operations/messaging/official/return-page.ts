/** The page that merchants return to from the provider's setup. It confirms the setup without a click. */
import { findStoreIds, isInStores } from '#db/lookup-index/find'
import { answerHtml, escapeHtml, readEntitlement } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { ApiError, refuse, toHttpStatus } from '#runtime/errors'
import { Unavailable } from '#runtime/ports/errors'
import { sha256 } from '#runtime/values/ids'
import type { SetupQuestion } from '../provider/number-port.ts'
import { confirmSetup, SetupQuestionError } from './confirm.ts'
import { readOfficial } from './read.ts'

/** Confirms the provider's result, for the store whose setup has this state. */
export async function finishReturn(ctx: SystemContext, query: URLSearchParams): Promise<Response> {
  const state = query.get('state') ?? ''
  const setup = await ctx.root
    .selectFrom('messaging_setups')
    .select('store_id')
    .where('state_hash', '=', sha256(state))
    .where(isInStores('store_id', await findStoreIds(ctx.root, 'messaging-setup', [sha256(state)])))
    .executeTakeFirst()
  const store = setup && (await ctx.forStore(setup.store_id))
  if (!store) {
    const advice = '<p>Look whether the address is complete, or start the setup again.</p>'
    return answerHtml('There is no such setup', advice, 404)
  }
  try {
    await confirm(store, state, query)
    return await resultPage(store)
  } catch (error) {
    if (error instanceof SetupQuestionError) return questionPage(error.question, query)
    return failurePage(ctx, error)
  }
}

async function confirm(store: Context, state: string, query: URLSearchParams): Promise<void> {
  const { features, canWrite } = await readEntitlement(store)
  if (!features.has('official-api') || !canWrite) {
    throw refuse(
      'forbidden',
      'The plan or the subscription of the store does not allow an official number now',
    )
  }
  const error = query.get('error') ?? undefined
  const code = error === undefined ? (query.get('code') ?? undefined) : undefined
  const answer = (name: string): string | undefined => query.get(name)?.trim() || undefined
  await confirmSetup(store, { state, code, error, pin: answer('pin'), numberId: answer('numberId') })
}

/** Asks the merchant a question; the form returns to the same address with this request's parameters. */
function questionPage({ field, message, choices }: SetupQuestion, query: URLSearchParams): Response {
  const hiddenFields = ['state', 'code', 'pin', 'numberId'].filter(
    (name) => name !== field && query.get(name),
  )
  const hidden = hiddenFields
    .map((name) => `<input type="hidden" name="${name}" value="${escapeHtml(query.get(name)!)}">`)
    .join('')
  const inputs =
    field === 'pin'
      ? '<label>PIN <input name="pin" inputmode="numeric" pattern="[0-9]{6}" maxlength="6" autocomplete="off" required></label>'
      : choices
          .map(
            ({ value, label }) =>
              `<label class="choice"><input type="radio" name="numberId" value="${escapeHtml(value)}" required> ${escapeHtml(label)}</label>`,
          )
          .join('')
  return answerHtml(
    'One more thing',
    `<p>${escapeHtml(message)}.</p><form method="post" action="/messaging/return">${hidden}${inputs}<p><button>Go on</button></p></form>`,
    toHttpStatus('bad_request'),
  )
}

async function resultPage(store: Context): Promise<Response> {
  const { status, phone } = await readOfficial(store)
  const storeName = escapeHtml(store.store.name)
  const number = escapeHtml(phone ?? '')
  if (status === 'connected') {
    return answerHtml(
      'Connected',
      `<p>${number} is connected: messages of ${storeName} leave through it now.</p>`,
    )
  }
  if (status === 'verifying') {
    return answerHtml(
      'Under review',
      `<p>${number} is set up. The provider still reviews it; ${storeName} hears of it once it can send.</p>`,
    )
  }
  return answerHtml('Not connected', `<p>The setup was cancelled. Nothing changed for ${storeName}.</p>`)
}

function failurePage(ctx: SystemContext, error: unknown): Response {
  if (error instanceof ApiError) {
    return answerHtml('Not connected', `<p>${escapeHtml(error.message)}.</p>`, toHttpStatus(error.code))
  }
  if (!(error instanceof Unavailable)) throw error
  ctx.log.warn({ err: error }, 'setup confirmation failed')
  return answerHtml(
    'The provider does not answer',
    '<p>Nothing changed. Load this page again in a minute.</p>',
    toHttpStatus('unavailable'),
  )
}
