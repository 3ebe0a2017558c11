/** Connects a shop whose owner installs the server's app: the link to the platform, and the page it redirects back to. */

import type { Context, SystemContext } from '#runtime/context'
import { weekMs } from '#runtime/durations'
import { ApiError, refuse, toHttpStatus } from '#runtime/errors'
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { hasValidSignature, sign } from '#runtime/secrets'
import { answerHtml, escapeHtml } from '#runtime/values/html'
import { isId } from '#runtime/values/ids'
import type { EcommercePort, InstallFlow } from '../ecommerce/port.ts'
import { connectEcommerce, findActivationLink } from './connections.ts'

const purpose = 'ecommerce-install'
/** A week, because the owner may get the link by email. */
const linkTtlMs = weekMs

const signedText = (storeId: string, at: string, provider: string, shop: string): string =>
  [storeId, at, provider, shop].join('\n')

/** Builds the link with which the shop's owner connects the shop. Refuses a platform without an app, and an invalid shop. */
export function buildInstallLink(ctx: Context, provider: string, shop: string): string {
  const flow = findInstallFlow(ctx.adapters.ecommerce, provider)
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
    const signature = sign(ctx.settings, purpose, signedText(ctx.store.id, at, provider, known))
    return flow.link(shop, { state: `${ctx.store.id}.${at}.${signature}`, returnUrl }).url
  } catch (error) {
    if (error instanceof Refused) throw refuse('bad_request', error.message)
    throw error
  }
}

/** Handles the redirect from the platform: connects the shop to the store that issued the link, and returns a page. */
export async function finishInstall(
  system: SystemContext,
  provider: string,
  query: URLSearchParams,
): Promise<Response> {
  const flow = findInstallFlow(system.adapters.ecommerce, provider)
  if (!flow) throw refuse('not_found', 'There is nothing here')
  if (!query.has('state')) {
    const advice = '<p>Open the link that you were given to connect your shop; it leads here by itself.</p>'
    return answerHtml('Follow your link', advice, 404)
  }
  try {
    const { shop, code } = flow.read(query)
    const store = await requireStoreOfState(system, provider, shop, query.get('state')!)
    await connectEcommerce(store, provider, await flow.exchange(shop, code))
    return await connectedPage(store)
  } catch (error) {
    return failurePage(system, error)
  }
}

/** The store named in the signed state. Refuses a state that is for another shop, has expired or was used already. */
async function requireStoreOfState(
  system: SystemContext,
  provider: string,
  shop: string,
  state: string,
): Promise<Context> {
  const [storeId = '', at = '', signature = ''] = state.split('.')
  const issuedAt = Number.parseInt(at, 36)
  const isOurs =
    isId(storeId) &&
    hasValidSignature(system.settings, purpose, signedText(storeId, at, provider, shop), signature)
  const store = isOurs ? await system.forStore(storeId) : null
  if (!store) throw refuse('forbidden', 'This link was not made for this shop: ask for a new one')
  if (!(store.clock.ms() - issuedAt < linkTtlMs)) {
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
  const shop = escapeHtml(store.store.name)
  const link = await findActivationLink(store)
  const advice = link
    ? `<p>One thing is left: <a href="${escapeHtml(link)}">switch it on in your theme</a>, and save there.</p>`
    : ''
  return answerHtml('Connected', `<p>${shop} is connected to its shop.</p>${advice}`)
}

function failurePage(system: SystemContext, error: unknown): Response {
  if (error instanceof ApiError || error instanceof Refused || error instanceof AccessLost) {
    const status = error instanceof ApiError ? toHttpStatus(error.code) : 400
    return answerHtml('Not connected', `<p>${escapeHtml(error.message)}.</p>`, status)
  }
  if (!(error instanceof Unavailable) && !(error instanceof Throttled)) throw error
  system.log.warn({ err: error }, 'shop connection failed, platform unavailable')
  return answerHtml(
    'Your platform does not answer',
    '<p>Nothing changed. Open your link again in a minute.</p>',
    toHttpStatus('unavailable'),
  )
}

const findInstallFlow = (
  adapters: Readonly<Record<string, EcommercePort>>,
  provider: string,
): InstallFlow | undefined => (Object.hasOwn(adapters, provider) ? adapters[provider]!.install : undefined)
