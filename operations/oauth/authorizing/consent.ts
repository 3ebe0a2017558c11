/** From the key that a merchant shows to the code that the client gets for it. */

import { findAccesses } from '#db/access'
import { childKeys } from '#operations/store/door'
import type { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import type { Scope } from '#runtime/roles'
import { seal } from '#runtime/secrets'
import { randomSecret, sha256 } from '#runtime/values/ids'
import { cut } from '../clients/metadata.ts'
import { placeOf } from '../clients/redirects.ts'
import { type Asked, Astray, opened, words } from './asked.ts'

/** What a key that was shown may pass on. */
export interface Shown {
  asked: Asked
  storeId: string
  keyId: string
}

export type Fault = 'unknown-key' | 'child-key' | 'no-scope'

/** Looks the key up; it goes no further than this. */
export async function showKey(ctx: SystemContext, asked: Asked, key: string): Promise<Shown | Fault> {
  const hash = sha256(key.trim())
  const access = await (await findAccesses(ctx.services.database, [hash]))[0]
  if (!access || (access.expiresAt !== null && ctx.clock.ms() >= access.expiresAt)) return 'unknown-key'
  if (access.parentKeyId !== null) return 'child-key'
  if (passedOn(asked, access.scopes).length === 0) return 'no-scope'
  return { asked, storeId: access.storeId, keyId: access.keyId }
}

const consentContext = 'oauth-consent'
const consentForMs = 10 * minuteMs

export const sealedShown = (ctx: SystemContext, shown: Shown): string =>
  seal(ctx.settings, consentContext, { ...shown, until: ctx.clock.ms() + consentForMs })

/** The form of the key, and the key as it is now. Throws `Astray` for what is none of ours or too old. */
export async function openedShown(ctx: SystemContext, sealed: string | undefined) {
  const shown = opened<Shown & { until: number }>(ctx, consentContext, sealed)
  const parent = await childKeys.findLiving(ctx.root, ctx.now(), shown.storeId, shown.keyId)
  if (!parent) throw new Astray(words.late, 'The key has ended meanwhile')
  return { shown, parent }
}

/** What the client asked for and the key has: nothing else can be granted. What needs another scope comes with it. */
export const grantable = (asked: Asked, parent: childKeys.Living): Scope[] =>
  passedOn(asked, new Set(parent.scopes))

function passedOn({ scopes }: Asked, has: ReadonlySet<string>): Scope[] {
  const both = scopes.filter((scope) => has.has(scope))
  return both.includes('platform:write') ? both : both.filter((scope) => scope.startsWith('platform:'))
}

const codeForMs = minuteMs

/** Makes a code, good once and for a minute. Only its hash is kept. */
export async function makeCode(
  ctx: SystemContext,
  { asked, storeId, keyId }: Shown,
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
      name: nameOf(asked),
      store_id: storeId,
      parent_id: keyId,
      scopes: [...scopes],
      grant_ends_at: grantEndsAt,
      expires_at: new Date(ctx.clock.ms() + codeForMs),
    })
    .execute()
  return code
}

/** What the key is listed as: what the client calls itself, and who gets what it is sent. */
function nameOf({ name, redirectUri }: Asked): string {
  const place = placeOf(redirectUri)
  return place === null || place === name ? name : `${cut(name, 40)} (${place})`
}

/** The client's own address with an answer: whose it is says `iss` (RFC 9207), and `state` comes back as it was. */
export function sentBack(
  { settings }: SystemContext,
  { redirectUri, state }: Pick<Asked, 'redirectUri' | 'state'>,
  answer: Record<string, string>,
): Response {
  const query = new URLSearchParams({
    ...answer,
    ...(state === null ? {} : { state }),
    iss: settings.publicUrl,
  })
  // As it was registered, letter by letter: an address that is taken apart and put together may be another.
  const location = `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
  const headers = { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
  return new Response(null, { status: 303, headers })
}
