/** What the keys that are granted here open (RFC 8707): `/mcp` of this server, and nothing of another. */
import { OauthError } from './errors.ts'

export const resourceOf = (publicUrl: string): string => `${publicUrl}/mcp`

/** Refuses a resource that is not ours; a client that names none means the only one there is. */
export function requireResource(given: string | null, publicUrl: string): void {
  if (given === null) return
  const ours = resourceOf(publicUrl)
  const named = URL.canParse(given) ? new URL(given).href.replace(/\/$/, '') : given
  if (named === new URL(ours).href) return
  throw new OauthError('invalid_target', `resource: must be ${ours}, which is all that this server grants`)
}
