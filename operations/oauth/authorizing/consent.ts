/** Checks the merchant's key, and creates the authorization code for the client. */

import { findAccesses } from '#db/access'
import { childKeys } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import type { Scope } from '#runtime/roles'
import { seal } from '#runtime/secrets'
import { randomSecret, sha256 } from '#runtime/values/ids'
import { truncateCharacters } from '../clients/metadata.ts'
import { describeRedirect } from '../clients/redirects.ts'
import { type AuthorizationRequest, PageError, unsealForm, words } from './authorization-request.ts'

/** A checked key and the authorization request; stored encrypted in the consent form. */
export interface ShownKey {
  asked: AuthorizationRequest
  storeId: string
  keyId: string
}

export type KeyRefusal = 'unknown-key' | 'child-key' | 'no-scope'

/** Looks up the key by its hash. The result has the key's id, but not the key itself. */
export async function checkKey(
  ctx: SystemContext,
  asked: AuthorizationRequest,
  key: string,
): Promise<ShownKey | KeyRefusal> {
  const hash = sha256(key.trim())
  const access = await (await findAccesses(ctx.services.database, [hash]))[0]
  if (!access || (access.expiresAt !== null && ctx.clock.ms() >= access.expiresAt)) return 'unknown-key'
  if (access.parentKeyId !== null) return 'child-key'
  if (intersectScopes(asked, access.scopes).length === 0) return 'no-scope'
  return { asked, storeId: access.storeId, keyId: access.keyId }
}

const consentContext = 'oauth-consent'
const consentLifetimeMs = 10 * minuteMs

export const sealShownKey = (ctx: SystemContext, shown: ShownKey): string =>
  seal(ctx.settings, consentContext, { ...shown, until: ctx.clock.ms() + consentLifetimeMs })

/** The subject of the merchant’s decision. */
export interface Decision {
  shown: ShownKey
  parent: childKeys.ActiveKey
  /** The scopes that the client already has, granted by the same member of the store. */
  granted: ReadonlySet<string>
}

/**
 * Decrypts the consent form and reads the current state of the key and of its grants. Throws `PageError` for an expired
 * form, or one that this server did not create.
 */
export async function unsealShownKey(ctx: SystemContext, sealed: string | undefined): Promise<Decision> {
  const shown = unsealForm<ShownKey & { until: number }>(ctx, consentContext, sealed)
  const parent = await childKeys.findActiveKey(ctx.root, ctx.now(), shown.storeId, shown.keyId)
  if (!parent) throw new PageError(words.late, 'The key has ended meanwhile')
  return { shown, parent, granted: await findGrantedScopes(ctx, shown.asked.clientId, parent) }
}

async function findGrantedScopes(
  ctx: SystemContext,
  clientId: string,
  parent: childKeys.ActiveKey,
): Promise<ReadonlySet<string>> {
  const keys = await childKeys.listActiveChildKeys(ctx.root, ctx.now(), parent)
  if (keys.length === 0) return new Set()
  const ids = keys.map(({ id }) => id)
  const grants = await ctx.root
    .selectFrom('oauth_grants')
    .select('key_id')
    .where('key_id', 'in', ids)
    .where('client_id', '=', clientId)
    .execute()
  const ofClient = new Set(grants.map(({ key_id }) => key_id))
  return new Set(keys.filter(({ id }) => ofClient.has(id)).flatMap(({ scopes }) => scopes))
}

/**
 * Lists the requested scopes that the key has: only these can be granted. Scopes that need `platform:write` are left out
 * without it.
 */
export const listGrantableScopes = (asked: AuthorizationRequest, parent: childKeys.ActiveKey): Scope[] =>
  intersectScopes(asked, new Set(parent.scopes))

function intersectScopes({ scopes }: AuthorizationRequest, has: ReadonlySet<string>): Scope[] {
  const both = scopes.filter((scope) => has.has(scope))
  return both.includes('platform:write') ? both : both.filter((scope) => scope.startsWith('platform:'))
}

const codeLifetimeMs = minuteMs

/** Creates a code that is valid once, for a minute. Only the code's hash is stored. */
export async function createCode(
  ctx: SystemContext,
  { asked, storeId, keyId }: ShownKey,
  scopes: readonly Scope[],
  grantEndsAt: Date,
): Promise<string> {
  const code = randomSecret()
  await ctx.root
    .insertInto('oauth_codes')
    .values({
      hash: sha256(code),
      client_id: asked.clientId,
      redirect_uri: asked.redirectUri,
      challenge: asked.challenge,
      name: buildKeyName(asked),
      store_id: storeId,
      parent_id: keyId,
      scopes: [...scopes],
      grant_ends_at: grantEndsAt,
      expires_at: new Date(ctx.clock.ms() + codeLifetimeMs),
    })
    .execute()
  return code
}

/** Builds the key's name for lists: the client's own name, and the host that the code is sent to. */
function buildKeyName({ name, redirectUri }: AuthorizationRequest): string {
  const place = describeRedirect(redirectUri)
  return place === null || place === name ? name : `${truncateCharacters(name, 40)} (${place})`
}

/** Redirects to the client with the result. `iss` names this server (RFC 9207); `state` is returned unchanged. */
export function redirectToClient(
  { settings }: SystemContext,
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  answer: Record<string, string>,
): Response {
  const query = new URLSearchParams({
    ...answer,
    ...(state === null ? {} : { state }),
    iss: settings.publicUrl,
  })
  // Uses the registered string as it is: parsing and serializing a URL may change it.
  const location = `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
  const headers = { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
  return new Response(null, { status: 303, headers })
}
