/** A shop that its owner connects: the link that they follow to the platform, and the page that they come back to. */

import type { Context, SystemContext } from '#runtime/context'
import { weekMs } from '#runtime/durations'
import { Refusal, refuse, statusOf } from '#runtime/errors'
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { isSigned, sign } from '#runtime/secrets'
import { escaped, htmlAnswer } from '#runtime/values/html'
import { isId } from '#runtime/values/ids'
import type { EcommercePort, InstallFlow } from '../ecommerce/port.ts'
import { activationLink, connectEcommerce } from './connections.ts'

const purpose = 'ecommerce-install'
/** The owner may get the link by email. */
const linkLivesMs = weekMs

const textOf = (storeId: string, at: string, provider: string, shop: string): string =>
  [storeId, at, provider, shop].join('\n')

/** The link with which the shop's owner connects it. Refuses a platform without one, and what is no shop of its. */
export function installLink(ctx: Context, provider: string, shop: string): string {
  const flow = flowOf(ctx.adapters.ecommerce, provider)
  if (!flow) {
    throw refuse(
      'bad_request',
      `provider: this server has no app at ${provider} that a shop could install: connect it with credentials`,
    )
  }
  const returnUrl = `${ctx.settings.publicUrl}/ecommerce/return/${provider}`
  const at = ctx.clock.ms().toString(36)
  try {
    const { shop: known } = flow.link(shop, { state: '', returnUrl })
    const signature = sign(ctx.settings, purpose, textOf(ctx.store.id, at, provider, known))
    return flow.link(shop, { state: `${ctx.store.id}.${at}.${signature}`, returnUrl }).url
  } catch (error) {
    if (error instanceof Refused) throw refuse('bad_request', error.message)
    throw error
  }
}

/** The shop's owner is back: connects it to the store whose link they followed. Answers a page. */
export async function finishInstall(
  system: SystemContext,
  provider: string,
  query: URLSearchParams,
): Promise<Response> {
  const flow = flowOf(system.adapters.ecommerce, provider)
  if (!flow) throw refuse('not_found', 'There is nothing here')
  if (!query.has('state')) {
    const advice = '<p>Open the link that you were given to connect your shop; it leads here by itself.</p>'
    return htmlAnswer('Follow your link', advice, 404)
  }
  try {
    const { shop, code } = flow.read(query)
    const store = await storeOf(system, provider, shop, query.get('state')!)
    await connectEcommerce(store, provider, await flow.exchange(shop, code))
    return await connectedPage(store)
  } catch (error) {
    return failurePage(system, error)
  }
}

/** The store that the state names. Refuses one that we did not make for this shop, that is old, or was used. */
async function storeOf(
  system: SystemContext,
  provider: string,
  shop: string,
  state: string,
): Promise<Context> {
  const [storeId = '', at = '', signature = ''] = state.split('.')
  const issuedAt = Number.parseInt(at, 36)
  const isOurs =
    isId(storeId) && isSigned(system.settings, purpose, textOf(storeId, at, provider, shop), signature)
  const store = isOurs ? await system.forStore(storeId) : null
  if (!store) throw refuse('forbidden', 'This link was not made for this shop: ask for a new one')
  if (!(store.clock.ms() - issuedAt < linkLivesMs)) {
    throw refuse('forbidden', 'This link is too old: ask for a new one')
  }
  const used = await store.db
    .selectFrom('connections')
    .select('port')
    .where('port', '=', 'ecommerce')
    .where('connected_at', '>=', new Date(issuedAt))
    .executeTakeFirst()
  if (used) throw refuse('conflict', 'This link was used already: ask for a new one to connect again')
  return store
}

async function connectedPage(store: Context): Promise<Response> {
  const shop = escaped(store.store.name)
  const link = await activationLink(store)
  const advice = link
    ? `<p>One thing is left: <a href="${escaped(link)}">switch it on in your theme</a>, and save there.</p>`
    : ''
  return htmlAnswer('Connected', `<p>${shop} is connected to its shop.</p>${advice}`)
}

function failurePage(system: SystemContext, error: unknown): Response {
  if (error instanceof Refusal || error instanceof Refused || error instanceof AccessLost) {
    const status = error instanceof Refusal ? statusOf(error.code) : 400
    return htmlAnswer('Not connected', `<p>${escaped(error.message)}.</p>`, status)
  }
  if (!(error instanceof Unavailable) && !(error instanceof Throttled)) throw error
  system.log.warn({ err: error }, 'the platform did not answer while a shop was connected')
  return htmlAnswer(
    'Your platform does not answer',
    '<p>Nothing changed. Open your link again in a minute.</p>',
    statusOf('unavailable'),
  )
}

const flowOf = (
  adapters: Readonly<Record<string, EcommercePort>>,
  provider: string,
): InstallFlow | undefined => (Object.hasOwn(adapters, provider) ? adapters[provider]!.install : undefined)
