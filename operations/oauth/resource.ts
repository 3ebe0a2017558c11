/** The resource of granted keys (RFC 8707): `/mcp` of this server, and no other. */
import { OauthError } from './errors.ts'

export const getResourceUrl = (publicUrl: string): string => `${publicUrl}/mcp`

/** Refuses any other resource; a client may omit it, since there is only one. */
export function requireResource(given: string | null, publicUrl: string): void {
  if (given === null) return
  const ours = getResourceUrl(publicUrl)
  const named = URL.canParse(given) ? new URL(given).href.replace(/\/$/, '') : given
  if (named === new URL(ours).href) return
  throw new OauthError('invalid_target', `resource: must be ${ours}, which is all that this server grants`)
}
