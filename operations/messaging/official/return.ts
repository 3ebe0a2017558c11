/** The page that merchants come back to from the provider's setup, which confirms by itself. */
import { amongStores, storesListed } from '#db/directory/find'
import { entitlementOf, escaped, htmlAnswer } from '#operations/store/door'
import type { Context, SystemContext } from '#runtime/context'
import { Refusal, refuse, statusOf } from '#runtime/errors'
import { Unavailable } from '#runtime/ports/errors'
import { sha256 } from '#runtime/values/ids'
import type { SetupQuestion } from '../provider/number-port.ts'
import { confirmSetup, SetupWaits } from './confirm.ts'
import { readOfficial } from './read.ts'

/** Confirms what the provider handed back, for the store whose setup has this state. */
export async function finishReturn(ctx: SystemContext, query: URLSearchParams): Promise<Response> {
  const state = query.get('state') ?? ''
  const setup = await ctx.root
    .selectFrom('messaging_setups')
    .select('store_id')
    .where('state_hash', '=', sha256(state))
    .where(amongStores('store_id', await storesListed(ctx.root, 'messaging-setup', [sha256(state)])))
    .executeTakeFirst()
  const store = setup && (await ctx.forStore(setup.store_id))
  if (!store) {
    const advice = '<p>Look whether the address is complete, or start the setup again.</p>'
    return htmlAnswer('There is no such setup', advice, 404)
  }
  try {
    await confirm(store, state, query)
    return await resultPage(store)
  } catch (error) {
    if (error instanceof SetupWaits) return questionPage(error.question, query)
    return failurePage(ctx, error)
  }
}

async function confirm(store: Context, state: string, query: URLSearchParams): Promise<void> {
  const { features, canWrite } = await entitlementOf(store)
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

/** What only the merchant knows; the answer comes back to the same address, with what this request had. */
function questionPage({ field, message, choices }: SetupQuestion, query: URLSearchParams): Response {
  const kept = ['state', 'code', 'pin', 'numberId'].filter((name) => name !== field && query.get(name))
  const hidden = kept
    .map((name) => `<input type="hidden" name="${name}" value="${escaped(query.get(name)!)}">`)
    .join('')
  const asked =
    field === 'pin'
      ? '<label>PIN <input name="pin" inputmode="numeric" pattern="[0-9]{6}" maxlength="6" autocomplete="off" required></label>'
      : choices
          .map(
            ({ value, label }) =>
              `<label class="choice"><input type="radio" name="numberId" value="${escaped(value)}" required> ${escaped(label)}</label>`,
          )
          .join('')
  return htmlAnswer(
    'One more thing',
    `<p>${escaped(message)}.</p><form method="post" action="/messaging/return">${hidden}${asked}<p><button>Go on</button></p></form>`,
    statusOf('bad_request'),
  )
}

async function resultPage(store: Context): Promise<Response> {
  const { status, phone } = await readOfficial(store)
  const shop = escaped(store.store.name)
  const number = escaped(phone ?? '')
  if (status === 'connected') {
    return htmlAnswer('Connected', `<p>${number} is connected: messages of ${shop} leave through it now.</p>`)
  }
  if (status === 'verifying') {
    return htmlAnswer(
      'Under review',
      `<p>${number} is set up. The provider still reviews it; ${shop} hears of it once it can send.</p>`,
    )
  }
  return htmlAnswer('Not connected', `<p>The setup was cancelled. Nothing changed for ${shop}.</p>`)
}

function failurePage(ctx: SystemContext, error: unknown): Response {
  if (error instanceof Refusal) {
    return htmlAnswer('Not connected', `<p>${escaped(error.message)}.</p>`, statusOf(error.code))
  }
  if (!(error instanceof Unavailable)) throw error
  ctx.log.warn({ err: error }, 'the provider did not answer to a setup that came back')
  return htmlAnswer(
    'The provider does not answer',
    '<p>Nothing changed. Load this page again in a minute.</p>',
    statusOf('unavailable'),
  )
}
